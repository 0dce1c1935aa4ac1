"""Sources of published data sets; importing a module registers its own."""
