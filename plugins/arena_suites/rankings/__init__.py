"""Metrics of rankings that benchmarks define; one file each."""
