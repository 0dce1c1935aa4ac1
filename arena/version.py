"""The version of this project."""

__version__ = "1.0.0rc1"
