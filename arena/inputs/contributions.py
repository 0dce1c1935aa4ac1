"""Title, abstract, core task and contributions (TaxoBench, section 4, figures 12 and 13)."""

from __future__ import annotations

from arena.inputs.base import INPUTS, Input, read_items
from arena.llm import ParseError, as_json

_LONGEST = 30  # words of a core task; the prompt asks for 5 to 15


def read_contributions(text: str) -> list[str]:
    """Return the lines of core task and contributions, of which a paper may claim none.

    Raises:
        ParseError: There is no core task, or it has more than 30 words.

    >>> read_contributions('{"core_task": "ranking passages", "contributions": []}')
    ['Core task: ranking passages.']
    """
    answer = as_json(text)
    words = str((isinstance(answer, dict) and answer.get("core_task")) or "").split()
    if not 0 < len(words) <= _LONGEST:
        raise ParseError(f'"core_task" has {len(words)} words. Give one phrase of 5 to 15.')
    task = " ".join(words).rstrip(".")
    return [f"Core task: {task}.", *read_items(answer, ["contribution"])]


INPUTS.register("contributions")(
    Input(
        "Title, abstract, core task and up to three contributions.",
        "Abstract, core task and contributions",
        read_contributions,
    )
)
