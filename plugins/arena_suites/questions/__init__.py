"""Formats of published questions; importing a module registers its own."""
