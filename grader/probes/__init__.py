"""Functions that a worker provides to tests by name: a module an exercise, and `common`.

A probe that a test runs (`student.run("dropout.name", ...)`) gets the student's module first; one
that makes a value (`make("name", ...)`) gets its arguments alone. Probes live in the student's
process: they hold nothing secret, and what they report is checked by the test.
"""
