"""The commands ``arena export``, ``train`` and ``report-card``; importing a module registers its own."""
