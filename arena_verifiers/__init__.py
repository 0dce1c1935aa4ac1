"""``vf-eval arena-verifiers`` imports this: it takes the name of a top-level package alone."""

from arena_integrations.verifiers import ResearchTaskset

__all__ = ["ResearchTaskset"]
