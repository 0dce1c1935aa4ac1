"""The results of runs: runs compared with each other, and pages to look at.

`arena.results.comparison` compares finished runs (docs/comparing.md).
"""
