"""Title, abstract and a structured summary (TaxoBench, section 4 and figure 11)."""

from __future__ import annotations

from arena.inputs.base import INPUTS, Input, read_items
from arena.llm import ParseError, as_json

TYPES = ("problem", "motivation", "method", "conclusion", "contribution")


def read_summary(text: str) -> list[str]:
    """Return the lines of a summary; raise `ParseError` if there is none."""
    lines = read_items(as_json(text), TYPES)
    if not lines:
        raise ParseError(f"No item has a type of {', '.join(TYPES)} and a description.")
    return lines


INPUTS.register("summary")(
    Input(
        "Title, abstract and a summary: problem, motivation, methods, conclusions, contributions.",
        "Abstract and summary",
        read_summary,
    )
)
