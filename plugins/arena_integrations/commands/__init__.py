"""The commands ``arena export``, ``train`` and ``report-card``; one file each."""
