"""Search engines; importing a module registers its own."""
