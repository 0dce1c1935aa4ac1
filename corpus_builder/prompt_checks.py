"""Prompts of surveys: their level, the cutoff that they name, and what is wrong with them."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterable
from typing import NamedTuple

from arena.report.sentences import split_sentences

_LONGEST_PARAGRAPH = 900  # characters

_MONTHS = "|".join(name[:3] + f"(?:{name[3:]})?" for name in calendar.month_name[1:])
_CUTOFF = re.compile(
    r"\b(?:before|prior to|until|up to|no later than|not later than|earlier than)\W+"
    r"(?:the\W+)?(?:end of\W+)?(?:"
    r"(?P<iso>\d{4}-\d\d(?:-\d\d)?)"
    rf"|(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\s+)?(?P<month>{_MONTHS})\.?"
    r"(?:\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,)?,?\s+(?P<year>\d{4})"
    r"|(?P<alone>(?:19|20)\d\d))\b",
    re.IGNORECASE,
)


class PromptFlag(NamedTuple):
    """A fault of a prompt.

    Attributes:
        level: Level of the prompt.
        flag: ``title`` or ``reference_title`` if it holds the title of the survey or of a
            reference, ``no_cutoff`` if it names none, ``other_cutoff`` if it names another day,
            month or year than the survey's.
        detail: The title, or the cutoff.
    """

    level: str
    flag: str
    detail: str


FLAGS = ("title", "reference_title", "no_cutoff", "other_cutoff")
"""Values of `PromptFlag.flag`."""


def level_of(prompt: str) -> str:
    r"""Return the level of a prompt whose source names none.

    One sentence is ``sentence``; several in one line of at most 900 characters are ``paragraph``;
    more, or several lines, are ``detailed``. So do the three examples of ReportBench (A.3).

    >>> level_of("Survey reefs."), level_of("Survey reefs. Cite all."), level_of("Survey:\n1. X")
    ('sentence', 'paragraph', 'detailed')
    """
    text = prompt.strip()
    if "\n" in text or len(text) > _LONGEST_PARAGRAPH:
        return "detailed"
    return "paragraph" if len(split_sentences(text)) > 1 else "sentence"


def cutoff_in(prompt: str) -> str | None:
    """Return the first cutoff that a prompt names, ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``.

    >>> cutoff_in("published before April 2025"), cutoff_in("no later than 3 May 2019")
    ('2025-04', '2019-05-03')
    """
    match = _CUTOFF.search(prompt.replace("*", ""))
    if match is None:
        return None
    if match["month"] is None:
        return match["iso"] or match["alone"]
    month = [name[:3] for name in calendar.month_name].index(match["month"][:3].title())
    day = match["day"] or match["first"]
    return f"{match['year']}-{month:02}" + (f"-{int(day):02}" if day else "")


def cutoff_words(date: str) -> str:
    """Return a day, ``YYYY-MM-DD``, in words.

    >>> cutoff_words("2019-05-03")
    '3 May 2019'
    """
    day = dt.date.fromisoformat(date)
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


def check_prompt(
    level: str, prompt: str, title: str, date: str, references: Iterable[str]
) -> list[PromptFlag]:
    """Return the faults of a prompt.

    A title is held if its words, without case and punctuation, stand in the prompt in a row;
    titles of one word count.

    Args:
        level: Level of the prompt.
        prompt: Text of the prompt.
        title: Title of the survey.
        date: Date of the survey, ``YYYY-MM-DD``.
        references: Titles of its references.
    """
    words = _words(prompt)
    flags = [PromptFlag(level, "title", title)] if _words(title) in words else []
    held: dict[str, str] = {}
    for text in references:
        if (wanted := _words(text)) in words:
            held.setdefault(wanted, text)
    flags += [PromptFlag(level, "reference_title", text) for text in held.values()]
    cutoff = cutoff_in(prompt)
    if cutoff is None:
        flags.append(PromptFlag(level, "no_cutoff", ""))
    elif not date.startswith(cutoff):
        flags.append(PromptFlag(level, "other_cutoff", cutoff))
    return flags


def _words(text: str) -> str:
    """Return the words of a text, each with a blank on both sides; empty if there are none."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} " if words else "\n"
