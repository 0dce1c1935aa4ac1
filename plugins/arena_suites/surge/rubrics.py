"""SurGE's two judges, in other words (arXiv 2508.15658, section 4: SQS and CQS)."""

from pathlib import Path

from arena_suites.judging import rubric

_PROMPTS = Path(__file__).parent / "prompts"


@rubric("surge-structure", dimensions=("structure",), fields=("people", "generated"), scale=(0, 5))
def structure() -> str:
    """The headings of a generated survey beside those of the people's, 0 to 5."""
    return (_PROMPTS / "structure.txt").read_text(encoding="utf-8")


@rubric("surge-logic", dimensions=("logic",), fields=("passage",), scale=(0, 5))
def logic() -> str:
    """Whether a passage of a generated survey hangs together, 0 to 5."""
    return (_PROMPTS / "logic.txt").read_text(encoding="utf-8")
