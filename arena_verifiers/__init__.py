"""What ``vf-eval arena-verifiers`` imports: it takes the name of a top-level package alone."""

from arena_integrations.verifiers import SurveyTaskset

__all__ = ["SurveyTaskset"]
