"""SurGE: surveys of arXiv over a million papers (arXiv 2508.15658)."""
