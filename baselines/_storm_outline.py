"""Reading an outline in what a model wrote, as Markdown that is taken as a mind-map for sure."""

from __future__ import annotations

import re

from arena.llm import ParseError, tagged, unfenced, without_thoughts

MAX_HEADINGS = 500
"""Most headings that a mind-map may have."""

_LONGEST = 200  # characters of a heading
_LONGEST_ITEM = 120  # a longer list item is text
_DEEPEST = 6  # of headings, and again of list items below one
_ITEM = re.compile(r"(?:[-*+•]|\d{1,2}[.)])\s+(\S.*)")
_LEAD = re.compile(r"\*\*([^*]+)\*\*")
_TYPOLOGY = re.compile(r"<(?=/?typology>)", re.IGNORECASE)  # means something in a mind-map's text


def outline(text: str, topic: str) -> str:
    r"""Return the headings of an outline as lines ``## heading`` below a line ``# topic``.

    Headings are taken with their levels, and list items as headings below the last one, as STORM
    does; all other text is left out. The first heading is the title, and left out, if it is the
    only one of level 1 and others follow, or says what the topic says. Of a list item that
    explains itself the words in bold, or those before the colon, are the heading.

    Args:
        text: Markdown, in ``<outline>`` or not.
        topic: the title of the outline.

    Raises:
        ParseError: if there is no heading.

    >>> print(outline("# My Title\n## 1 Kinds\nMany.\n- Fast: one pass\n## 2 Uses", "sorting"))
    # sorting
    ## 1 Kinds
    ### Fast
    ## 2 Uses
    """
    try:
        text = tagged(text, "outline")
    except ParseError:
        text = unfenced(without_thoughts(text))
    found = _headings(text)
    uppermost = [heading for level, heading in found if level == 1]
    if found and (
        _words(found[0][1]) == _words(topic)
        or (found[0][0] == len(uppermost) == 1 and len(found) > 1)
    ):
        del found[0]
    if not found:
        raise ParseError("there is no heading below the title.")
    least = min(level for level, _ in found)
    lines = [f"# {_line(topic)}"]
    lines += [f"{'#' * (level - least + 2)} {heading}" for level, heading in found[:MAX_HEADINGS]]
    return "\n".join(lines)


def _headings(text: str) -> list[tuple[int, str]]:
    found = []
    above = 0
    for line in text.expandtabs(4).splitlines():
        bare = line.strip()
        if bare.startswith("#"):
            heading = bare.lstrip("#")
            level = above = min(len(bare) - len(heading), _DEEPEST)
        elif item := _ITEM.match(bare):
            heading = _of_item(item[1])
            indent = len(line) - len(line.lstrip())
            level = above + 1 + min(indent // 2, _DEEPEST - 1)
        else:
            continue
        heading = _line(heading)
        if re.search(r"\w", heading):
            found.append((level, heading))
    return found


def _of_item(text: str) -> str:
    if lead := _LEAD.match(text):
        return lead[1].rstrip(": ")
    label = text.partition(": ")[0]
    return label if len(label) <= _LONGEST_ITEM else ""


def _line(text: str) -> str:
    return _TYPOLOGY.sub("&lt;", " ".join(text.split())[:_LONGEST])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
