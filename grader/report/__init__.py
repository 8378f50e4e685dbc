"""A graded submission as a document: the model, and one module a form."""
