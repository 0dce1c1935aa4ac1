"""Readers of the formats in which people have papers."""
