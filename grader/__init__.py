"""Grades JAX exercises outside the student's process: `grade(submission) -> Report` is the one path."""

__version__ = "0.1.0"
