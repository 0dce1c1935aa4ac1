"""Builds a searchable, dated paper corpus from raw records."""
