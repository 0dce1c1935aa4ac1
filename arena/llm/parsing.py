"""Tags, JSON and lists in a model's text, in good answers and in most bad ones.

Every function takes any text and raises only `ParseError`, whose message the model may read. The
time is linear in the length of the text; JSON is repaired only if it is short (see `REPAIRED`),
and only until the repair has looked at `_LOOKS` characters, in all parts of a text together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from arena.llm.answers import ParseError, clean

REPAIRED = 20_000  # characters of the longest JSON that is repaired
_LOOKS = 200_000  # usual mistakes take 2 to 7 a character, some texts a number that is square
_DEEPEST = 100
_RESTARTS = 8
# A string need not end: one that must would be looked for again from each quote within it.
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_FENCED = re.compile(r"```[^\n`]{0,40}\n(.*?)(?:```|\Z)", re.DOTALL)
_BULLET = re.compile(
    r"\s{0,200}(?:[-*•+–—‣◦]|\(?\d{1,3}[.):]|\(\d{1,3}\)|\[\d{1,3}\]|[a-zA-Z][.)])\s+(?=\S)"
)
_THINK = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)[>\]▷]"
# The marks of most models, of Kimi, gpt-oss, Gemma, Command and OpenThinker.
_THOUGHT = re.compile(
    rf"""(?P<final><\|channel\|>final<\|message\|>|assistantfinal)
    |(?P<open>(?<![`"'“])[<\[◁]{_THINK}|<\|channel\|?>\s?(?:analysis|commentary|thought)\b
        |<\|(?:START_THINKING|begin_of_thought)\|>|\Aanalysis(?=[a-z]))
    |(?P<close>(?<![`"'“])(?:</|\[/|◁/){_THINK}(?P<alone>[ \t]{{0,20}}$)?
        |<\|(?:end|call|END_THINKING|end_of_thought)\|>|<channel\|>)
    |(?P<quote>")|\n""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_WITHIN = re.compile(r"<[a-z]", re.IGNORECASE)
# Where no JSON continues: at a fence, and at a bracket that begins a line behind a text.
_BREAK = re.compile(
    r"^[ \t]*```|(?:[^\s,:\[{]\s*?\n[ \t]*\n|[^\s,:\[\]{}]\s*\n)(?=[\[{])", re.MULTILINE
)
_BRACKET = re.compile(r"[\[{]")
_ALONE = re.compile(r"(?<![^\n])(?:\{\s*\}|\[\s*\])\s*(?:```\s*)?\Z")
_CUT_OFF = re.compile(r"\{\s*(?:[\"']|\w+\s*:)|\[\s*[\[{\"']")
_CLOSING = re.compile(r"</[\w-]{1,40}>?\s{0,200}\Z")
_MARKS = (("**", "**"), ("__", "__"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("*", "*"))


def without_thoughts(text: str) -> str:
    """Return a text without the thoughts that models write before an answer or between its parts.

    They stand in ``<think>``, ``[THINK]``, ``<reasoning>`` and the like or in another channel than
    the final one, or end in a line that ends with ``</think>``. What a thought that does not end
    says is no answer: the text may be empty. The same mark within an answer, such as in a title
    that it quotes or lists, cuts nothing off.
    """
    parts: list[str] = []
    start = line = 0
    inside = quoted = closed = False
    for mark in _THOUGHT.finditer(text):
        if mark["final"] or (mark["alone"] is not None and not inside and not closed):
            parts = []
        elif mark["open"] and not (inside or quoted or _is_item(text, line, mark.start())):
            parts.append(text[start : mark.start()])
            inside = True
            continue
        elif not (inside and mark["close"]):
            line = mark.end() if mark[0] == "\n" else line
            quoted = mark[0] != "\n" and quoted != bool(mark["quote"])
            continue
        start = line = mark.end()
        inside, quoted, closed = False, False, True
    return "".join(parts if inside else [*parts, text[start:]])


def _is_item(text: str, start: int, end: int) -> bool:
    """Return whether a line's beginning is that of a list item or of a tag's content."""
    return bool(_BULLET.match(text, start, end + 1) or _WITHIN.search(text, start, end))


def tagged(text: str, tag: str) -> str:
    r"""Return what the tag ``<tag>...</tag>`` contains, without a code fence around it.

    Case and attributes do not matter. Of several the first complete one that is not empty counts;
    if none is complete, what follows the last opening tag or stands before the first closing one.

    >>> tagged("Sure! <queries>\n- graph models\n</Queries>", "Queries")
    '- graph models'
    """
    text = without_thoughts(text)
    mark = re.compile(rf"<\s{{0,5}}(/?)\s{{0,5}}{re.escape(tag)}(?![\w-])[^<>]{{0,100}}>", re.I)
    marks = list(mark.finditer(text))
    if not marks:
        raise ParseError(f"There is no <{tag}>...</{tag}> in it.")
    for opening, closing in pairwise(marks):
        if not opening[1] and closing[1]:
            content = unfenced(text[opening.end() : closing.start()])
            if content:
                return content
    openings = [match.end() for match in marks if not match[1]]
    if openings:
        closing_at = next((m.start() for m in marks if m.start() >= openings[-1]), len(text))
        content = _CLOSING.sub("", unfenced(text[openings[-1] : closing_at])).strip()
    else:
        content = unfenced(text[: marks[0].start()])
    if not content:
        raise ParseError(f"The tag <{tag}> is empty.")
    return content


def unfenced(text: str) -> str:
    r"""Return the content of the first code fence, or the text if it has none; stripped.

    >>> unfenced("```json\n[1]\n```")
    '[1]'
    """
    match = _FENCED.search(text)
    return (match[1] if match else text).strip().strip("`").strip()


def as_json(text: str) -> Any:
    """Return the JSON object or list in a text, also if it is not quite JSON.

    Prose and code fences around it, trailing commas, single quotes, names without quotes, Python's
    ``None`` and ``True``, comments, and an end that was cut off are repaired. NaN and infinities
    become None. Of several the last object, or list with one in it, counts, so that no draft and
    no quotation before the answer does; without any, the last list of texts, else the longest. An
    empty one counts before them if it ends the text in a line of its own.

    Raises:
        ParseError: if there is none, or it is nested more than 100 levels deep, or the last is
            not quite JSON and longer than `REPAIRED` or too laborious to repair.

    >>> as_json("Here: {'a': [1, 2,], b: None} Bye.")
    {'a': [1, 2], 'b': None}
    """
    text = without_thoughts(text)
    looks = iter(range(_LOOKS))
    lists: list[tuple[int, Any]] = []
    for start, end in reversed(list(_regions(text))):
        part = text[start:end]
        try:
            value = json.loads(part)
            strict = True
        except ValueError:  # not too deep: see `_regions`
            strict = False
            try:
                value = _repair(part, looks) if len(part) <= REPAIRED else None
            except Exception:  # it also has assertions that fail
                value = None
            if not value and _CUT_OFF.match(part) and ":" in part:
                break  # an earlier one is not the answer
        within = value if isinstance(value, list) else [value]
        alone = strict and not value and _ALONE.match(text, start)
        if alone or any(isinstance(each, dict | list) and each for each in within):
            return clean(value)
        if isinstance(value, dict | list) and (strict or value):
            texts = strict and any(isinstance(each, str) for each in within)
            lists.append((len(text) + 1 if texts else len(part), value))
    else:
        if lists:
            return clean(max(lists, key=lambda each: each[0])[1])
    raise ParseError("There is no JSON object or list in it that can be read.")


def _regions(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the outermost stretches that may be JSON, without too deep ones.

    A bracket that is never closed may be prose; then the search begins again behind it, a few
    times, so that the time stays linear.
    """
    for at, stop in pairwise([0, *(match.end() for match in _BREAK.finditer(text)), len(text)]):
        restarts = 0
        while opening := _BRACKET.search(text, at, stop):
            start = opening.start()
            depth = deepest = end = 0
            for match in _STRUCTURE.finditer(text, start, stop):
                if match[0] in "[]{}":
                    depth += 1 if match[0] in "[{" else -1
                    deepest = max(deepest, depth)
                    if not depth:
                        end = match.end()
                        break
            if deepest <= _DEEPEST:
                yield start, end or stop
            restarts += not end
            cut_off = not end and (deepest > _DEEPEST or _CUT_OFF.match(text, start))
            if restarts == _RESTARTS or cut_off:
                break
            at = end or start + 1


def _repair(text: str, looks: Iterator[int]) -> Any:
    """Return what json_repair makes of a text; ValueError if no look is left.

    Its time is square or worse in the length of some texts. Therefore each look of its parser at
    the text takes one of `looks`: a measure of work that, unlike a clock, gives the same result on
    every machine.
    """
    from json_repair.json_parser import JSONParser

    class CountingParser(JSONParser):
        _text: Any

        @property
        def json_str(self) -> Any:
            if next(looks, None) is None:
                raise ValueError("the repair takes too long.")
            return self._text

        @json_str.setter
        def json_str(self, text: Any) -> None:
            self._text = text

    return CountingParser(text, None, False).parse()


def as_list(text: str) -> list[str]:
    r"""Return the items of a list: bullets, numbers, JSON, or lines.

    Where some lines have bullets or numbers, the others are prose. An object in a JSON list gives
    its first text. Quotes and marks of emphasis around an item go.

    >>> as_list("Queries:\n1. graph models\n2) 'molecules'")
    ['graph models', 'molecules']
    >>> as_list('["graph models", "molecules"]')
    ['graph models', 'molecules']
    """
    plain = unfenced(without_thoughts(text))
    lines = plain.splitlines()
    items = [line[m.end() :] for line in lines if (m := _BULLET.match(line))]
    if not items and ("[" in plain or "{" in plain):
        try:
            items = _texts(as_json(plain))
        except ParseError:
            items = []
    if not items:
        items = [line for line in lines if not (len(lines) > 1 and line.rstrip().endswith(":"))]
    bare = [item for item in map(_bare, items) if item]
    if not bare:
        raise ParseError("There is no list in it.")
    return bare


def _texts(value: Any) -> list[str]:
    """Return the texts of a JSON list, or of the first list in an object."""
    if isinstance(value, dict):
        value = next((i for i in value.values() if isinstance(i, list)), list(value.values()))
    texts = [
        next((part for part in item.values() if isinstance(part, str)), None)
        if isinstance(item, dict)
        else item
        for item in value
    ]
    return [str(t) for t in texts if isinstance(t, str | int | float) and not isinstance(t, bool)]


def _bare(item: str) -> str:
    """Return an item without what a list, a quotation or Markdown puts around it."""
    item = " ".join(item.split()).rstrip(",;").strip()
    for left, right in _MARKS:
        if len(item) > 2 * len(left) and item.startswith(left) and item.endswith(right):
            item = item[len(left) : -len(left)].strip()
    return item.strip() if re.search(r"\w", item) else ""
