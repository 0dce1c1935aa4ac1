"""A corpus as a data set for others: Parquet, a card, Croissant; and named sets of its tasks."""
