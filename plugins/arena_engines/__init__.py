"""Engines with requirements of their own: Lucene, inverted lists, Ray, FlagEmbedding."""
