"""What a mind-map can be written as: one module a format."""
