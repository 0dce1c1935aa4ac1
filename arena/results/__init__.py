"""What was achieved: runs compared with each other, and grids of runs laid out as tables.

`arena.results.comparison` compares finished runs (docs/comparing.md).
"""
