"""Bloom-Eval: a survey compared with the experts', on the six tiers of Bloom's taxonomy.

"Bloom-Eval: A Hierarchical Evaluation Benchmark for Automatic Survey Generation Based on Bloom's
Taxonomy", section 3.2 and appendices A, B and I; docs/bloom-eval.md.
"""

from arena_suites.bloom_eval.article import Article, Heading, Work, article_of
from arena_suites.bloom_eval.base import (
    TIERS,
    Finding,
    SurveyComparison,
    SurveyPair,
    compare,
    survey_metric,
    survey_metrics,
)
from arena_suites.bloom_eval.evaluate import score_surveys

__all__ = [
    "TIERS",
    "Article",
    "Finding",
    "Heading",
    "SurveyComparison",
    "SurveyPair",
    "Work",
    "article_of",
    "compare",
    "score_surveys",
    "survey_metric",
    "survey_metrics",
]
