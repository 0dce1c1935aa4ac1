"""A survey beside the one that experts wrote, on the six tiers of Bloom's taxonomy.

"Bloom-Eval: A Hierarchical Evaluation Benchmark for Automatic Survey Generation Based on Bloom's
Taxonomy", section 3.2 and appendices A, B and I; docs/bloom-eval.md.
"""

from arena.bloom.article import Article, Heading, Work, article_of
from arena.bloom.base import (
    TIERS,
    Column,
    Finding,
    Pair,
    SurveyMetric,
    Tools,
    compare,
    survey_metric,
    survey_metrics,
)

__all__ = [
    "TIERS",
    "Article",
    "Column",
    "Finding",
    "Heading",
    "Pair",
    "SurveyMetric",
    "Tools",
    "Work",
    "article_of",
    "compare",
    "survey_metric",
    "survey_metrics",
]
