"""Title, abstract and a structured summary (TaxoBench, section 4 and figure 11)."""

from __future__ import annotations

from arena.inputs.base import INPUTS, Input, Question, items_schema, read_items
from arena.llm import ParseError

_MOST = {"problem": 1, "motivation": 1, "method": 3, "conclusion": 2, "contribution": 3}


def read_summary(text: str) -> list[str]:
    """Return the lines of a summary: problem, motivation, methods, conclusions, contributions.

    Raises:
        ParseError: There is no item of these types.
    """
    lines = read_items(text, _MOST)
    if not lines:
        raise ParseError(f"No item has a type of {', '.join(_MOST)} and a description.")
    return lines


INPUTS.register("summary")(
    Input(
        "Title, abstract and a summary: problem, motivation, methods, conclusions, contributions.",
        "Abstract and summary",
        (Question("summary", read_summary, items_schema(*_MOST)),),
    )
)
