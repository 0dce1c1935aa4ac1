"""A gym for research agents over a dated paper corpus."""
