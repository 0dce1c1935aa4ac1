"""SAGE: short and open questions on four fields of science (arXiv 2602.05975)."""
