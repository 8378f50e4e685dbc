"""Grades JAX exercises outside the student's process; `grading.grade` is the one path."""

__version__ = "0.1.0"
