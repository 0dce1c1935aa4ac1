"""Benchmarks: ``python -m benchmarks --help``, from a clone; not part of the installed package."""
