"""Commands that this package adds to ``arena``; importing a module registers its own."""
