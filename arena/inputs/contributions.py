"""Title, abstract, core task and contributions (TaxoBench, section 4 and figures 12 and 13)."""

from __future__ import annotations

from arena.inputs.base import INPUTS, Input, Question, items_schema, read_items
from arena.llm import ParseError, without_thoughts

_LONGEST = 30  # words; the prompt asks for 5 to 15


def read_core_task(text: str) -> list[str]:
    """Return the line of a core task, which is the first line of the answer.

    Raises:
        ParseError: It is blank, or longer than 30 words.

    >>> read_core_task("Core task: 'retrieving passages for questions'.")
    ['Core task: retrieving passages for questions']
    """
    lines = [line.strip() for line in without_thoughts(text).splitlines() if line.strip()]
    phrase = lines[0] if lines else ""
    if phrase.lower().startswith("core task:"):
        phrase = phrase[len("core task:") :]
    words = phrase.strip(" \"'`*.").split()
    if not 0 < len(words) <= _LONGEST:
        raise ParseError(f"Its first line has {len(words)} words. Give one phrase of 5 to 15.")
    return [f"Core task: {' '.join(words)}"]


def read_contributions(text: str) -> list[str]:
    """Return the lines of up to three contributions; none if the paper claims none."""
    return read_items(text, {"contribution": 3}, "contribution")


INPUTS.register("contributions")(
    Input(
        "Title, abstract, core task and up to three contributions.",
        "Abstract, core task and contributions",
        (
            Question("core_task", read_core_task),
            Question("contributions", read_contributions, items_schema()),
        ),
    )
)
