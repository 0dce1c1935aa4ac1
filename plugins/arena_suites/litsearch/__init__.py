"""LitSearch: questions on 64,183 papers of Semantic Scholar (arXiv 2407.18940)."""
