"""The rubrics, one module each with its prompt beside it."""
