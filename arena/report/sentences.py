"""Splitting text into sentences by rules, and into statements with their citations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import arena.counted as re
from arena.report.model import BREAK, Inline, Mark, Statement

MARK = "\ue000"
"""Stands for a mark of citation in a text to split."""

_END = re.compile(
    rf"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?P<marks>(?:\s*+{MARK})*)(?=\s|$|-\s)"
    rf"|[。！？]++[”’」』）]*+(?:\s*+{MARK})*|{BREAK}"
)
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\[“\"'\-–/])(?:[A-Za-z]|e\.g|i\.e|a\.k\.a|w\.r\.t|et al|et|al|cf|vs|viz|resp|approx"
    r"|incl|[Ff]igs?|[Ee]qs?|[Ee]qns?|[Ss]ecs?|[Ss]ect|[Cc]h|[Cc]hap|[Tt]abs?|[Rr]efs?|[Aa]lgs?|[Tt]hm"
    r"|[Dd]ef|[Nn]os?|[Vv]ols?|pp?|[Ee]d|[Ee]ds|Dr|Prof|Mr|Mrs|Ms|St|Jr|Sr|Inc|Ltd|Co|Corp|Univ|Dept|Proc"
    r"|Conf|Int|J|Trans|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.$"
)
_LOWER = re.compile(rf"[\s{MARK}]*+[a-z,;:)\]%]")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, in order, without blanks around them.

    A sentence ends with a full stop, question or exclamation mark, with closing quotes and
    brackets after it, if a blank and no lower-case letter follows; or with its Chinese or Japanese
    form. It does not end after an initial or an abbreviation ("et al.", "Fig.", "e.g.", "vs.").
    Marks of citation behind the full stop belong to the sentence before them, except where a
    lower-case letter follows: "It fails. [7] shows why."

    >>> split_sentences("Smith et al. use 0.5 (see Fig. 2). It works, e.g. here! Why?")
    ['Smith et al. use 0.5 (see Fig. 2).', 'It works, e.g. here!', 'Why?']
    """
    sentences, start = [], 0
    for match in _END.finditer(text):
        end = match.end()
        stop = match.end() if match["marks"] is None else match.start("marks")
        if match["marks"] is not None:
            word = text[max(start, match.start() - 12) : match.start() + 1]
            if stop - match.start() == 1 and _ABBREVIATED.search(word):
                continue
            if _LOWER.match(text, end):
                if not match["marks"][:1].isspace():
                    continue
                end = stop
        sentences.append(text[start:end].strip())
        start = end
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


Draft = tuple[str, int, dict[str, None]]
"""A statement whose citations are still collected: its text, section and distinct keys."""


def as_statements(drafts: Iterable[Draft]) -> tuple[Statement, ...]:
    """Return the statements that drafts have become."""
    return tuple(Statement(text, section, tuple(keys)) for text, section, keys in drafts)


def add_statements(
    drafts: list[Draft], inline: Inline, marks: Sequence[Mark], section: int
) -> None:
    """Add the sentences of a paragraph; marks without words belong to the sentence before."""
    pieces, at = [], 0
    shown = inline.text.replace(MARK, " ")  # an entity may name the character
    for mark in marks:
        pieces += [shown[at : mark.end if mark.kept else mark.start], MARK]
        at = mark.end
    pieces.append(shown[at:])
    waiting = iter(marks)
    for sentence in split_sentences("".join(pieces)):
        cited = (next(waiting).references for _ in range(sentence.count(MARK)))
        keys = {reference.key: None for references in cited for reference in references}
        text = _clean(sentence)
        text = text if re.search(r"\w", text) else ""
        if text or (keys and not drafts):
            drafts.append((text or " ".join(inline.text.split()), section, keys))
        elif keys:
            drafts[-1][2].update(keys)


def _clean(sentence: str) -> str:
    """Return a sentence without marks and the blanks and brackets that they leave."""
    text = re.sub(rf" ?[(\[【] ?(?:{MARK}[ ,;]*)++[)\]】]", "", " ".join(sentence.split()))
    text = re.sub(rf"(?<!{MARK})(?<!{MARK} ) ?(?:{MARK} ?)++(?=[.,;:!?)\]])", "", text)
    text = text.replace(MARK, " ").replace(BREAK, " ")
    return " ".join(text.split())
