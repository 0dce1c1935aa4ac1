"""What several rooms need and no user imports: files, directories, tables, settings."""
