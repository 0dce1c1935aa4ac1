"""TaxoBench: can an agent find a survey's papers and organize them as its author did?

"Can Deep Research Agents Find and Organize? Evaluating the Synthesis Gap with Expert Taxonomies";
sections 2 and 3. docs/taxobench.md names every difference from the released scorer.
"""

from arena_suites.taxobench.evaluate import score_predictions

__all__ = ["score_predictions"]
