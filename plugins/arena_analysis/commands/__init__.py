"""The commands of this package; importing a module registers its own."""
