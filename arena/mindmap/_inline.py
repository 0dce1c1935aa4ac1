"""Markdown within a line to plain text, in time linear in its length."""

from __future__ import annotations

import html
import re
from collections import deque

_LITERAL = re.compile(r"\\([!-/:-@\[-`{-~])|(`+)|(\$[^$]+\$)")
_TICKS = re.compile("`+")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_TAG = re.compile(r"</?(?:a|b|br|code|em|i|mark|small|span|strong|sub|sup|u)\b[^<>]*>", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_RUN = re.compile(r"\*+|_+|~~")
_KEPT = re.compile("\0(\\d+)\0")


def plain(text: str) -> str:
    r"""Return `text` without emphasis, links, code marks, escapes, entities and a few HTML tags.

    Close to CommonMark; a star between two letters or digits is left alone, and so is what stands
    between two dollar signs.

    >>> plain(r"**Dense** [retrieval](http://x.y), `f_1` \*, $a_i b_j$ and 2*3*4 &amp; A*")
    'Dense retrieval, f_1 *, $a_i b_j$ and 2*3*4 & A*'
    """
    kept: list[str] = []
    text = _set_aside(text.replace("\0", "\ufffd"), kept)
    for _ in range(2):  # an image may stand in a link
        text = _IMAGE_OR_LINK.sub(r"\1", text)
    text = _TAG.sub(lambda tag: " " if tag[0][:3].lower() == "<br" else "", text)
    text = _without_emphasis(text)
    text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return _KEPT.sub(lambda place: kept[int(place[1])], text)


def _set_aside(text: str, kept: list[str]) -> str:
    """Put what holds no marks (escapes, code, mathematics) into `kept`, its number in its place."""
    ends: dict[int, deque[int]] = {}
    for ticks in _TICKS.finditer(text):
        ends.setdefault(len(ticks[0]), deque()).append(ticks.start())
    parts, at = [], 0
    while found := _LITERAL.search(text, at):
        parts.append(text[at : found.start()])
        at = found.end()
        if found[2]:
            starts = ends.get(len(found[2]), deque())
            while starts and starts[0] < at:
                starts.popleft()
            if starts:
                kept.append(text[at : starts[0]].strip())
                at = starts[0] + len(found[2])
            else:
                kept.append(found[2])
        else:
            kept.append(found[1] or found[3])
        parts.append(f"\0{len(kept) - 1}\0")
    return "".join([*parts, text[at:]])


def _without_emphasis(text: str) -> str:
    opened: dict[str, list[tuple[int, int]]] = {"*": [], "_": [], "~": []}
    cuts: list[tuple[int, int]] = []
    for run in _RUN.finditer(text):
        start, length = run.start(), len(run[0])
        before = text[start - 1] if start else " "
        after = text[run.end()] if run.end() < len(text) else " "
        opens, closes = _flanks(run[0], before, after)
        waiting = opened[run[0][0]]
        while closes and length and waiting:
            other, its_length = waiting.pop()
            cut = min(length, its_length)
            cuts += [(other + its_length - cut, cut), (start, cut)]
            if its_length > cut:
                waiting.append((other, its_length - cut))
            start, length = start + cut, length - cut
        if opens and length:
            waiting.append((start, length))
    parts, at = [], 0
    for start, length in sorted(cuts):
        parts.append(text[at:start])
        at = start + length
    return "".join([*parts, text[at:]])


def _flanks(run: str, before: str, after: str) -> tuple[bool, bool]:
    """Return whether a run of marks can open and close emphasis, as CommonMark says."""
    if run == "*" and before.isalnum() and after.isalnum():
        return False, False
    space_before, space_after = before.isspace(), after.isspace()
    sign_before = not space_before and not before.isalnum()
    sign_after = not space_after and not after.isalnum()
    left = not space_after and (not sign_after or space_before or sign_before)
    right = not space_before and (not sign_before or space_after or sign_after)
    if run[0] == "_":
        return left and (not right or sign_before), right and (not left or sign_after)
    return left, right
