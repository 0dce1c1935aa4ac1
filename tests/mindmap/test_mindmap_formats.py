"""Mind-maps as text, JSON, Markdown and Mermaid."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena.mindmap import MindMap, cut, read_mind_map
from arena_suites.maps import read_markdown
from arena_suites.maps.formats import render

TREE = MindMap(
    "Neural *ranking*",
    (
        MindMap("Dense: 50% off", (MindMap("1. Training", papers=("p4",)),)),
        MindMap('The "best" [sic]', papers=("p2", "p3")),
    ),
)
MARKS = st.sampled_from(
    [
        "#", "*", "_", "**", "__", "1.", "2", "A.", "iv)", "(a)", "name", "label", ":", ": ", "-",
        "+ ", "- ", "[x]", "](u)", "`", "```", "$a$", "&amp;", "&#49;", "<b>", "~~", "\\", "|",
        "---", "===", "• ", "word", "W", " ", "é", "漢", "!", "=", "x" * 130, "<!--", "%%", "%%{",
        "-->", "{#a}", "}}", "#1;", '"', "))", ":::x", "::icon(", "ﬂ°°34¶ß", "http://x.y",
        "www.x", "\n", "\x1b[1m", "\ud800", "1.1 ", "3- ", "4– ", "5—", "{", "◦ ", "▪ ",
        "<typology>", "</typology>",
    ]
)  # fmt: skip
ANY = st.lists(MARKS, max_size=6).map("".join) | st.text(max_size=12)


def clean(text: str) -> str:
    """Return a text as a reader would: white space collapsed; and without what is never written."""
    kept = "".join(
        c if c.isprintable() or c in "\u200c\u200d" else "" for c in " ".join(text.split())
    )
    return " ".join(kept.split())


LABELS = ANY.map(clean).filter(
    lambda label: 0 < len(label) <= 500 and html.unescape(label) == label
)


def trees(labels: st.SearchStrategy[str]) -> st.SearchStrategy[MindMap]:
    """Maps as a reader makes them: siblings have different labels."""
    return st.recursive(
        labels.map(MindMap),
        lambda below: st.builds(
            lambda label, children: MindMap(label, tuple({c.label: c for c in children}.values())),
            labels,
            st.lists(below, max_size=3),
        ),
        max_leaves=8,
    )


def test_text():
    assert render(TREE) == render(TREE, "text") == (
        "Neural *ranking*\n"
        "├── Dense: 50% off\n"
        "│   └── 1. Training (1 paper)\n"
        '└── The "best" [sic] (2 papers)\n'
    )  # fmt: skip
    assert render(MindMap("", (MindMap("a\x1b[31m\nb"), MindMap("")))) == "·\n├── a[31m b\n└── ·\n"


@settings(max_examples=100, deadline=None)
@given(trees(LABELS), st.booleans())
def test_markdown_is_read_back(tree, nameless):
    if nameless and tree.children:
        tree = MindMap("", tree.children)
    text = str(render(tree, "markdown"))
    assert read_markdown(text)[0] == read_mind_map(text)[0] == tree


IDS = st.sampled_from(["p1", "x", "12", "NLP", "arxiv:1706.03762", "a_b", "Deep  nets [2]: why?"])
FILED = st.recursive(
    st.builds(MindMap, LABELS, st.just(()), st.lists(IDS, unique=True, max_size=3).map(tuple)),
    lambda below: st.builds(
        lambda label, children, papers: MindMap(
            label, tuple({c.label: c for c in children}.values()), tuple(papers)
        ),
        LABELS,
        st.lists(below, max_size=3),
        st.lists(IDS, unique=True, max_size=2),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(FILED, st.booleans())
def test_papers_in_markdown_are_read_back(tree, nameless):
    if nameless and tree.children:
        tree = MindMap("", tree.children, tree.papers)
    text = str(render(tree, "markdown"))
    assert read_mind_map(text)[0] == read_markdown(text)[0] == tree


def test_papers_have_titles_and_labels_may_stand_in_brackets():
    text = "# Bees\n- Sleep\n  - [W12] Night: a study\n  - [2] Day\n  - [ ] Noon\n- [RNN] Dance\n"
    tree = MindMap(
        "Bees",
        (
            MindMap("Sleep", (MindMap("[2] Day"), MindMap("Noon")), ("W12",)),
            MindMap("[RNN] Dance"),
        ),
    )
    assert read_mind_map(text)[0] == tree


def test_real_maps_are_read_back(real_data):
    path = real_data.directory / "taxonomies.jsonl"
    if not path.is_file():
        pytest.skip(f"the real data is not here: {str(path)!r} is missing")
    for line in path.read_text(encoding="utf-8").splitlines():
        tree, _ = read_mind_map(json.loads(line)["tree"])
        assert read_mind_map(render(tree, "json")) == (tree, [])
        assert read_markdown(str(render(tree, "markdown")))[0] == tree


@settings(max_examples=60, deadline=None)
@given(trees(ANY))
def test_mermaid_holds_every_label_as_plain_characters(tree):
    """A line is an id, a shape and a label of letters, digits, harmless marks and codes."""
    lines = str(render(tree, "mermaid")).split("\n")
    assert (lines[0], lines[-1]) == ("mindmap", "")
    labels, levels = [], []
    for number, line in enumerate(lines[1:-1]):
        plain = r"""((?:[^\W_]|[\u200c\u200d ,.()/'?-]|#\d+;)*)"""
        found = re.fullmatch(rf'( +)n{number}(\(\(|\(|\[)"{plain}"(\)\)|\)|\])', line)
        assert found, line
        assert found[2] + found[4] in ("(())", "()", "[]")
        levels.append(len(found[1]) // 2 - 1)
        labels.append(html.unescape(found[3].replace("#", "&#")))
    nodes = list(tree.nodes())
    assert labels == [clean(node.label) or "\u00a0" for node in nodes]
    assert levels == [level for _, level in leveled(tree)]


@settings(max_examples=60, deadline=None)
@given(trees(LABELS), st.booleans())
def test_mermaid_is_read_back(tree, nameless):
    if nameless and tree.children:
        tree = MindMap("", tree.children)
    text = str(render(tree, "mermaid"))
    assert read_mind_map(text) == read_mind_map(f"```mermaid\n{text}```\n") == (tree, [])


def test_mermaid_of_people_is_read():
    text = (
        "Here it is:\n```mermaid\n%% bees\nmindmap\n  root((Bees))\n    ::icon(fa fa-bug)\n"
        '    Sleep by day\n      a)Night(\n      b{{Noon}}:::hot\n    c["`Waggle<br/>dance`"]\n'
        "```\nEnjoy!\n"
    )
    tree, notes = read_mind_map(text)
    sleep = MindMap("Sleep by day", (MindMap("Night"), MindMap("Noon")))
    assert tree == MindMap("Bees", (sleep, MindMap("Waggle dance")))
    assert notes == ["text around the diagram dropped (1): 'Here it is: Enjoy!'."]


def leveled(tree: MindMap, level: int = 0) -> list[tuple[MindMap, int]]:
    return [(tree, level), *(pair for c in tree.children for pair in leveled(c, level + 1))]


def test_cut():
    assert cut(TREE, 9) == TREE
    assert cut(TREE, 1) == MindMap(
        TREE.label,
        (
            MindMap("Dense: 50% off", papers=("p4",)),
            MindMap('The "best" [sic]', papers=("p2", "p3")),
        ),
    )
    assert cut(TREE, 0) == MindMap(TREE.label, papers=("p4", "p2", "p3"))
    with pytest.raises(DataError, match="depth -1"):
        cut(TREE, -1)
