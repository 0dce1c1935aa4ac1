"""The version of this project."""

__version__ = "0.9.0"
