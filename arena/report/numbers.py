"""Citations by number: ``[12]``, ``[1, 3-5]``, ``[69]-[71]``, ``(12)``, ``【12†source】``, or bare.

Exports of deep-research products leave superscripts and bare numbers behind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from arena.report.model import Bibliography, Inline, Mark

_GROUP = re.compile(
    r"[\[［【]\s*(?P<numbers>\d{1,5}(?:\s*[,;，、–—-]+\s*\d{1,5})*)"
    r"(?:\s*[,;]\s*(?:pp?|[Ss]ec|[Cc]h|[Ff]ig|[Tt]ab|[Tt]hm)\b[^\[\]]{0,40})?"
    r"\s*(?:(?:†|\+ ?L)[^\[\]【】]{0,80})?[\]］】]"
)
_ROUND = re.compile(r"(?<!\d)\(\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*(;\D[^()]{0,80})?\)")
_BETWEEN = re.compile(r"\s*[-–—]\s*")
_YEARS = range(1900, 2100)
_LONGEST = 200  # a range of more numbers is none


def marks(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield the groups in brackets.

    A number that no entry has is a mark too, except 0 (``[0, 1]`` is an interval) and, if no entry
    has it, a year. Round brackets are marks where `cites_in_round_brackets` holds and the list has
    all of their numbers. Yields nothing where the list has authors and no numbers.
    """
    if bibliography.authors and bibliography.references:
        return
    for match in _ROUND.finditer(text.bare) if bibliography.rounded else ():
        found = tuple(bibliography.cited(str(number)) for number in spread(match[1]))
        if all(entry.text for entry in found):
            yield Mark(match.start(), match.end(), found, kept=bool(match[2]))
    groups = [
        (match.start(), match.end(), spread(match["numbers"]))
        for match in _GROUP.finditer(text.bare)
    ]
    groups = [group for group in groups if _is_mark(group[2], bibliography)]
    for place, (start, end, numbers) in enumerate(groups):
        after = groups[place + 1] if place + 1 < len(groups) else None
        if after and _BETWEEN.fullmatch(text.bare, end, after[0]):  # [69]-[71]
            numbers = [*numbers, *range(numbers[-1] + 1, min(after[2][0], numbers[-1] + _LONGEST))]
            end = after[0]
        yield Mark(start, end, tuple(bibliography.cited(str(number)) for number in numbers))


def cites_in_round_brackets(texts: Iterable[Inline], listed: Collection[str]) -> bool:
    """Return whether round brackets hold at least half of the numbers of a list, and ten."""
    groups = (match for text in texts for match in _ROUND.finditer(text.bare))
    seen = {str(number) for match in groups for number in spread(match[1])}.intersection(listed)
    return 2 * len(seen) >= max(len(listed), 20)


def spread(text: str) -> list[int]:
    """Return the numbers of a list with ranges, distinct, in order.

    >>> spread("1, 3-5; 9")
    [1, 3, 4, 5, 9]
    """
    numbers: list[int] = []
    for piece in re.split(r"\s*[,;，、\s]\s*(?![-–—])", re.sub(r"\s*[-–—]+\s*", "-", text.strip())):
        ends = [int(end) for end in piece.split("-") if end]
        if ends and ends[0] < ends[-1] <= ends[0] + _LONGEST:
            numbers += range(ends[0], ends[-1] + 1)
        else:
            numbers += ends
    return list(dict.fromkeys(numbers))


def _is_mark(numbers: list[int], bibliography: Bibliography) -> bool:
    return all(
        str(number) in bibliography.names or (number and number not in _YEARS)
        for number in numbers
    )  # fmt: skip


_RAISED = re.compile(r"\^\{\s*(\d{1,4}(?:\s*[,;\s–—-]\s*\d{1,4})*)\s*\}")
_RUN = r"\d{1,3}(?:[ ,]+\d{1,3})*"
_BARE = re.compile(
    rf"(?:(?<=[^\W\d_])|(?<=[)\]\"”'’%.,;:!?}}\x00])|(?<=\b(?:19|20)\d\d))[ \n]+(?P<before>{_RUN})"
    r"(?=\s*(?:[.,;:!?)](?!\d)|[–—\ue001]|\s-\s|$))"
    r"|(?<=[^\W\d_][.!?])(?P<behind>\d{1,3}(?:,\d{1,3})*)(?=\s|$)"
    rf"|(?<=[.!?\"”)])[ ](?P<between>{_RUN})(?=\s+[A-Z])"
)
_NAMED = re.compile(
    r"(?:\b(?:[Ff]ig(?:ure)?s?|[Tt]ables?|[Ss]ec(?:tion)?s?|[Cc]hapters?|[Pp]arts?|[Ss]teps?|[Pp]hases?|[Ss]tages?"
    r"|[Ll]evels?|[Tt]ypes?|[Tt]ier|[Vv]ersions?|[Ee]q(?:uation)?s?|[Aa]lgorithms?|[Ll]ayers?|[Tt]op|[Aa]ppendix"
    r"|[Nn]o|[Ll]lama|LLaMA|LLAMA|GPT|PaLM|Gemini|Claude|Phi|Gemma|Qwen|[Vv]ol|[Pp]ages?|pp?|[Tt]o|[Oo]f|[Ii]s"
    r"|[Bb]y|[Aa]t|and|or|than|from|only|about|around|over|under|with|has|have|are|equals?|[Cc]lass|[Rr]ank"
    r"|[Jj]anuary|[Ff]ebruary|[Mm]arch|[Aa]pril|[Mm]ay|[Jj]une|[Jj]uly|[Aa]ugust|[Ss]eptember|[Oo]ctober|[Nn]ovember|[Dd]ecember)\.?|[=<>≈~×+*/§$])$"
)


def bare_marks(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield superscripts and bare numbers where nothing but these can be a report's marks.

    That is if its list is one of bare numbers; or if it has no numbers in brackets, a numbered list
    or none, and `cites_bare_numbers`. A bare number is a mark before a full stop, a comma or the
    like, or right behind a full stop, unless a word such as "Figure" or "Llama" stands before it or
    the list ends below it.
    """
    # Almost every number has an entry; one above them all is a quantity.
    unlisted = 0 if bibliography.references else 999
    highest = max((int(name) for name in bibliography.names if name.isdigit()), default=unlisted)
    for start, end, numbers in bare_numbers(text) if bibliography.bare else ():
        each = spread(numbers)
        if all(0 < number <= highest for number in each):
            yield Mark(start, end, tuple(bibliography.cited(str(number)) for number in each))


def bare_numbers(text: Inline) -> Iterator[tuple[int, int, str]]:
    """Yield the places and numbers that may be marks."""
    for match in _RAISED.finditer(text.bare):
        yield match.start(), match.end(), match[1]
    for match in _BARE.finditer(text.bare):
        kind = match.lastgroup or ""
        before = text.bare[max(0, match.start() - 12) : match.start()]
        if " " in match[kind] or not _NAMED.search(before):
            yield match.start(kind), match.end(), match[kind]


def cites_bare_numbers(texts: Iterable[Inline]) -> bool:
    """Return whether texts without numbers in brackets cite by superscripts or bare numbers.

    They do if at least three numbers occur, among them 1, and half of those up to the highest.
    """
    seen = {
        number
        for text in texts
        for _, _, numbers in bare_numbers(text)
        for number in spread(numbers)
    }
    return len(seen) >= 3 and 1 in seen and 2 * len(seen) >= max(seen)
