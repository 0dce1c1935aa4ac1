"""Markdown outlines and nested lists, as models and people write them."""

from __future__ import annotations

import re

from arena.errors import DataError, clip
from arena.mindmap._blocks import Block, Document, blocks
from arena.mindmap._building import MAX_ENTRIES, Builder, shown, too_many_entries
from arena.mindmap._inline import plain
from arena.mindmap._outline import Entry, grow
from arena.mindmap.tree import MindMap

MAX_ITEM = 120
"""Longer list items are text: of 5,675 labels in 333 taxonomies of surveys, 4 are longer."""

_REPORT = 5_000
_LONGEST_READ = 2_000  # more of a list item can neither be its label nor hold the end of one
_TASK = re.compile(r"\[[ xX]\]\s+")
_LEAD = re.compile(r"(\*\*|__)((?:[^*_\\]|\\.|\*(?!\*)|_(?!_))+)\1(.*)", re.DOTALL)
_AFTER_LEAD = re.compile(r"\s*(?:$|:|\.(?=\s|$)|[–—]|-\s)")
_PARTED = re.compile(r":\s|\s[-–—]\s")
_LITERAL = re.compile(r"[ *_]*\(?\w{0,4}[&\\]")  # who escapes what begins a label means it
_YAML = re.compile(r"""["']?(?:label|name|children|subtopics)["']?\s*:""")


def read_markdown(text: str, lists: bool | None = None) -> tuple[MindMap, list[str]]:
    r"""Read the headings and lists of a Markdown text as a mind-map.

    A list item stands below the heading before it, or below the item above it if it begins at least
    two columns further right (a tab reaches to the next multiple of four). The tree, its root and
    section numbers are those of `read_outline`, with level 0 for ``#``. A text that holds nothing
    but one fenced block, with or without sentences around it, is read inside.

    The label of a list item is what it begins with in bold, if a colon, full stop, dash or nothing
    follows; otherwise the whole item if that has at most 120 characters; otherwise what stands
    before its first colon or dash if that has. Any other item is text: it makes no label, and what
    is below it moves up. The bold way keeps any label whole. A section number, or a colon at the
    end, stays where its first, or last, character is written as an entity (``&#49;``).

    Args:
        text: The text.
        lists: Whether list items count. By default they do, but not in a report: a text with two
            headings and more, and more than 5,000 characters of paragraphs.

    Returns:
        The tree, and one sentence for each kind of thing that was dropped or repaired: paragraphs
        (tables and quotations are some), code blocks, front matter, list items of a report or too
        long for a label, explanations after labels, marks of Markdown in labels, and what
        `read_outline` tells.

    Raises:
        DataError: It has neither headings nor list items, or `read_outline` refuses them.

    Example:
        >>> tree, told = read_markdown("# Search\n- **Sparse**: by words\n  1. BM25\n- Dense")
        >>> [(node.label, len(node.children)) for node in tree.nodes()]
        [('Search', 2), ('Sparse', 1), ('BM25', 0), ('Dense', 0)]
        >>> for sentence in told:
        ...     print(sentence)
        marks of Markdown in labels removed (1): '**Sparse**:'.
        explanations after labels dropped (1): 'by words' under 'Sparse'.
    """
    if not isinstance(text, str):
        raise DataError(f"a Markdown text is a string, not {shown(text)}.")
    return read_document(blocks(text.removeprefix("\ufeff")), Builder(), lists)


def read_document(
    document: Document, tree: Builder, lists: bool | None = None
) -> tuple[MindMap, list[str]]:
    """Read what `blocks` found; what is dropped is told with the builder's other notes."""
    if not document.blocks and len(document.fences) == 1:
        tell_dropped(Document(paragraphs=document.paragraphs), tree)
        document = blocks("\n".join(document.fences[0][1]))
    if not document.blocks:
        raise DataError(
            "the text has neither Markdown headings (# ...) nor list items (- ...): give at least "
            "one."
        )
    if len(document.blocks) > MAX_ENTRIES:
        raise too_many_entries()
    tell_dropped(document, tree)
    if lists is None:
        lists = document.headings < 2 or _characters(document) <= _REPORT
    entries = []
    for block in document.blocks:
        if not block.is_item:
            entries.append(_heading(block, tree))
        elif lists:
            entries.append(_item(block, tree))
        else:
            tree.notes.add("list items dropped, the text is a report", block.text[:100])
    return grow(entries, tree)


def tell_dropped(document: Document, tree: Builder) -> None:
    """Note what makes no node."""
    for lines in document.paragraphs:
        tree.notes.add("paragraphs dropped", " ".join(" ".join(lines)[:200].split()))
    for language, lines in document.fences:
        tree.notes.add("code blocks dropped", language or "".join(lines[:1]))
    if document.front_matter:
        tree.notes.add("front matter dropped", "---")


def _characters(document: Document) -> int:
    return sum(len(line) for lines in document.paragraphs for line in lines)


def _heading(block: Block, tree: Builder) -> Entry:
    raw = block.text
    return _entry(block, raw, raw, tree)


def _item(block: Block, tree: Builder) -> Entry:
    whole = block.text
    raw = _TASK.sub("", whole[:_LONGEST_READ], count=1)
    if _YAML.match(raw):
        raise DataError(
            f"the list item {clip(raw, 60)} looks like YAML: give a mind-map as JSON, as an object "
            'such as {"label": "...", "children": []}, or as plain headings and lists.'
        )
    label, rest = _parted(raw)
    if len(plain(label)) > MAX_ITEM and _lead(raw) is None:
        tree.notes.add("list items too long for a label dropped", whole[:100])
        return Entry(block.level, None)
    entry = _entry(block, label, raw[: len(raw) - len(rest)].rstrip(), tree)
    if rest:
        tree.notes.add("explanations after labels dropped", rest[:100], entry.heading)
    return entry


def _lead(raw: str) -> tuple[str, str] | None:
    """Return the bold beginning of an item and what follows it, if that is a label."""
    found = _LEAD.match(raw)
    if found is None or not (_AFTER_LEAD.match(found[3]) or found[2].rstrip().endswith(":")):
        return None
    return found[2], found[3]


def _parted(raw: str) -> tuple[str, str]:
    """Return the part of an item that is its label, with marks, and the explanation after it."""
    if lead := _lead(raw):
        return lead[0].strip().removesuffix(":"), lead[1].lstrip(" :.–—-")
    if len(plain(raw)) > MAX_ITEM and (mark := _PARTED.search(raw)):
        return raw[: mark.start()], raw[mark.end() :].strip()
    return raw.rstrip().removesuffix(":"), ""


def _entry(block: Block, label: str, raw: str, tree: Builder) -> Entry:
    heading = " ".join(plain(label).split())
    if heading != raw:
        tree.notes.add("marks of Markdown in labels removed", raw)
    return Entry(block.level, heading, _LITERAL.match(label) is not None, block.is_item)
