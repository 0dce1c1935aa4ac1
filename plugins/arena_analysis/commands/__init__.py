"""The commands ``arena credit``, ``plan`` and ``profile``; importing a module registers its own."""
