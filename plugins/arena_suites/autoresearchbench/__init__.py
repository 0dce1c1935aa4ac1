"""AutoResearchBench: deep and wide questions, some without an answer (arXiv 2604.25256)."""
