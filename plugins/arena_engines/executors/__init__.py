"""Executors; importing a module registers its own."""
