"""Maps, actions, answers of judges and reports of the readers' own words: nothing raises."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena.llm import ParseError
from arena.llm.parsing import as_json, as_list, tagged
from arena.mindmap import read_mind_map, reading
from arena.report import cited_ids, read_report
from arena.tools import TOOLS as REGISTRY
from arena.tools import parse_action
from arena_suites.judging.judge import Rubric
from arena_suites.maps import _shapes as shapes
from arena_suites.verification import evidence

WORDS = [
    *shapes._LABEL, *shapes._BELOW, *shapes._PAPERS, *shapes._PARENT, *reading._NO_HEADINGS,
    *(end for ends in shapes._ENDS for end in ends), "example", "e.g.", "", "0",
    "tool", "name", "arguments", "search", "organize", "mind_map", "query", "queries", "k", "fuse",
    "score", "reason", "rating", "support", "statement", "marks", "citations", "verdict",
]  # fmt: skip
LEAVES = st.sampled_from(
    [None, True, False, 0, 1, -1, 2.5, 1e308, float("inf"), float("nan"), 10**400, "",
     "A", "p1", "\ud800", "4/5", "1e999", [], {}, *WORDS]
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS), below, max_size=4)
        | st.builds(
            lambda nodes, edges, more: {**more, "nodes": nodes, "edges": edges},
            st.lists(st.fixed_dictionaries({"id": below, "title": LEAVES}), max_size=3),
            below,
            st.dictionaries(st.sampled_from(WORDS), below, max_size=2),
        )
    ),
    max_leaves=14,
)
RUBRIC = Rubric("r", "Title.", ("support", "score"), ("statement",), "$statement", (0, 5))
TOOLS = {name: REGISTRY.get(name) for name in ("organize", "search")}


def texts(value):
    """Return a value as JSON text, and in the surroundings that models give it."""
    with suppress(ValueError):
        text = json.dumps(value)
        yield from (text, f"```json\n{text}\n```", text.replace('"', "'"), text[:-2], f"- {text}")


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_values_of_the_readers_own_words_are_read_or_refused(value):
    for written in (value, *texts(value)):
        with suppress(DataError):
            read_mind_map(written)
        found = parse_action(written, TOOLS)
        assert isinstance(found, str) or found.tool.name in TOOLS
        action = {"tool": "organize", "arguments": {"mind_map": written}}
        assert parse_action(action, TOOLS)
    for text in texts(value):
        for read in (RUBRIC.read, as_json, as_list, lambda text: tagged(text, "score")):
            with suppress(ParseError):
                read(text)
        with suppress(ParseError):
            evidence._read_rows(["statement", "marks"], text)
        with suppress(ParseError):
            evidence._read_evidence(text)
        with suppress(ParseError):
            evidence._read("verdict", {"yes": True, "no": False}, text)
        read_report(text)
        cited_ids(text)


@pytest.mark.parametrize("depth", [80, 2_000, 20_000])
@pytest.mark.parametrize(
    "form",
    [("[", "]"), ('{"children": [', "]}"), ('{"a":', "}"), ("> ", ""), ("- ", ""), ("<b>", "")],
)
def test_deep_texts_are_read_or_refused(form, depth):
    text = form[0] * depth + '"A"' + form[1] * depth
    for written in (text, f"# A\n{text}"):
        with suppress(DataError):
            read_mind_map(written)
        assert parse_action(written, TOOLS)
        with suppress(ParseError):
            as_json(written)
        with suppress(DataError):
            read_report(written)
