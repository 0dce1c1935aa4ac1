"""Reading what models write: examples by hand, and any text whatever."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.llm import ParseError, as_json, as_list, tagged, unfenced, without_thoughts

TAGGED = [
    ("<Queries>a</Queries>", "a"),
    ("Sure!\n<queries>\n - a\n - b\n</QUERIES> Good luck!", "- a\n - b"),
    ("Put them in the <Queries> tag. <Queries>a</Queries>", "a"),
    ("<Queries></Queries> <Queries>a</Queries><Queries>b</Queries>", "a"),
    ("<Queries>- a\n- b", "- a\n- b"),
    ("- a\n- b\n</Queries> and so on", "- a\n- b"),
    ("<think>In <Queries>x</Queries>?</think><Queries>a</Queries>", "a"),
    ("<Queries>a < b and <i>c</i></Queries>", "a < b and <i>c</i>"),
]


@pytest.mark.parametrize(("text", "content"), TAGGED)
def test_tags(text, content):
    assert tagged(text, "Queries") == content


@pytest.mark.parametrize(
    "text",
    ["", "none", "<Queriesx>a</Queriesx>", "<Queries></Queries>", "<Queries>",
     "<think><Queries>a draft</Queries>"],
)  # fmt: skip
def test_tags_that_are_not_there(text):
    with pytest.raises(ParseError, match="<Queries>"):
        tagged(text, "Queries")


JSON = [
    ('{"a": [1, 2.5, null, true]}', {"a": [1, 2.5, None, True]}),
    ('Here it is:\n```json\n{"a": 1}\n```\nBye {you}.', {"a": 1}),
    ("{'a': 'it''s', \"b\": [1, 2,],}", {"a": "it", "b": [1, 2]}),
    ("{a: None, b: True, c: two words, 'd': -3}",
     {"a": None, "b": True, "c": "two words", "d": -3}),
    ('{"a": {"b": null}, "c": {"d": [1, {"e": "cut o',
     {"a": {"b": None}, "c": {"d": [1, {"e": "cut o"}]}}),
    ('{"a": 1, // a note\n "b": 2,}', {"a": 1, "b": 2}),
    ("<think>{\"x\": 12345}</think>[1]", [1]),
    ("{'n': NaN, 'e': 1e999, }", {"n": "NaN", "e": None}),
    ('{Methods: {"Search", "Ranking"}}', {"Methods": ["Search", "Ranking"]}),
    ('{"a": "he said "hi" to me", "b": 2}', {"a": 'he said "hi" to me', "b": 2}),
    ('{"big": ' + "9" * 5000 + "}", {"big": "9" * 5000}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), JSON)
def test_json(text, value):
    assert as_json(text) == value


DRAFT = json.dumps({name: {"score": 5, "reason": "as the map says"} for name in ("a", "b")})
VERDICT = json.dumps({name: {"score": 1} for name in ("a", "b")})
LAST = [
    "It contains {draft}.\n\n{verdict}",
    "```json\n{draft}\n```\nMine:\n```json\n{verdict}\n```",
    "It says {draft}.\n{verdict,}",  # repaired
    'The set [0, 1) and "{"a": {"score": 5}, "x": "\n\n{verdict}',  # nothing is closed
    "Well. <reasoning>\n{draft}\n</reasoning>\n{verdict} <thought>Or {draft}?</thought>",
    "{draft}\n</think>\n\n{verdict}",
    "<|channel|>analysis<|message|>{draft}<|end|><|start|>assistant<|channel|>final<|message|>{verdict}",
]  # fmt: skip


@pytest.mark.parametrize("text", LAST)
def test_the_last_object_counts_outside_thoughts(text):
    for verdict in (VERDICT, f"[{VERDICT}]"):
        each = text.replace("{verdict,}", f"{verdict[:-1]},{verdict[-1]}")
        each = each.replace("{draft}", DRAFT).replace("{verdict}", verdict)
        assert as_json(each) == json.loads(verdict)


@pytest.mark.parametrize(
    "text",
    ["<think>Or {draft}", "Sure. <think>Or {draft}?", "[THINK]{draft}[/THINK]", "{draft}</think>",
     "<|channel|>analysis<|message|>{draft}", "It says {draft}.\n{verdict}, [1,, "],
)  # fmt: skip
def test_a_draft_or_a_quotation_alone_is_no_answer(text):
    verdict = VERDICT[:-1] + ", 'x': {" + "1, " * 9_000
    with pytest.raises(ParseError):
        as_json(text.replace("{draft}", DRAFT).replace("{verdict}", verdict))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["Kinds", "Uses"]\n{"Kinds": null, "Uses": null}', {"Kinds": None, "Uses": None}),
        ('{"Kinds": ["p1"]}\nNot filed: ["p2", "p3", "p4"]', {"Kinds": ["p1"]}),
        ('It contains [{"statement": "x"}].\n\n[]', []),
        ('{"title": "Beyond <think>: {more}"}', {"title": "Beyond <think>: {more}"}),
        ('{"a": {"b": 1},\n\n"c": [{"d": 2}\n{"e": "cut o',
         {"a": {"b": 1}, "c": [{"d": 2}, {"e": "cut o"}]}),
    ],
)  # fmt: skip
def test_which_of_several_counts(text, value):
    assert as_json(text) == value


def test_marks_of_thoughts_that_an_answer_lists_or_quotes():
    for text in ("- Beyond <think>: x\n- b", 'Say "<think>" {more}\n- b', "Use `</think>`\nnow"):
        assert without_thoughts(text) == text


LISTS = [
    ("- a\n* b\n• c\n– d", ["a", "b", "c", "d"]),
    (
        "Here are some:\n1. a\n2) b\n(3) c\n[4] d\n10: e\nHope that helps!",
        ["a", "b", "c", "d", "e"],
    ),
    ('["a b", "c"]', ["a b", "c"]),
    ('{"queries": ["a", 5, null, true]}', ["a", "5"]),
    ('[{"query": "a", "why": "x"}, {"query": "b"}]', ["a", "b"]),
    ("- \"a\",\n- **b**\n- `c`\n- “d”\n- 'e'", ["a", "b", "c", "d", "e"]),
    ("Queries:\na one\n\nb two\n", ["a one", "b two"]),
    ("1. a [topic]\n2. b", ["a [topic]", "b"]),
]


@pytest.mark.parametrize(("text", "items"), LISTS)
def test_lists(text, items):
    assert as_list(text) == items


PARSERS = [as_json, as_list, lambda text: tagged(text, "topic"), unfenced]
HOSTILE = st.text(alphabet="[]{}\"'`,:\\/<>topic \n-1.eEnulNa*\ud800é", max_size=200)


@settings(max_examples=60, deadline=None)
@given(text=HOSTILE | st.text(max_size=100))
@example(text='{"a\\')
@example(text="{{{a b\n- [}1. ```json\n")
@example(text="{'a': \\")
@example(text="[" * 3000)
@example(text='{"a":' * 3000)
def test_any_text_gives_a_value_or_a_parse_error(text):
    for parse in PARSERS:
        try:
            value = parse(text)
        except ParseError:
            continue
        json.dumps(value, allow_nan=False)
        if parse is as_list:
            assert value and all(isinstance(item, str) and item for item in value)


@settings(max_examples=60, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=12,
    ),
    before=st.text(alphabet="abc .:'\n", max_size=20),
)
def test_json_is_read_as_json_whatever_stands_before_it(value, before):
    value = {"value": value}
    text = before + json.dumps(value) + "\n" + before
    assert as_json(text) == value or "\\ud" in text
    assert (
        as_json(f"```json\n{json.dumps(value, indent=1)}\n```")["value"] == as_json(text)["value"]
    )


@pytest.mark.parametrize(
    "part",
    ["[", "{", '"', "'", "`", "```\n", "<topic>", "</topic>", "<", "<topic ", '{"', '\\"', "[[]",
     "- ", " ", "\n", "<think>", "</think>", "1.", "- <think>", '"<think>', "\n{", "}\n\n{",
     '{"a":', "['", "[a ", "[//\n", "a:", "{a:",
     "a "],
)  # fmt: skip
def test_a_long_text_of_one_thing_is_read_in_linear_time(part):
    """With a quadratic step this would take hours."""
    for text in (part * (100_000 // len(part)), '{"' + part * (100_000 // len(part))):
        for parse in PARSERS:
            with contextlib.suppress(ParseError):
                parse(text)


TREE = {f"Topic {n}": {"papers": [f"p{n}", f"q{n}"], "note": f'It\'s "{n}"'} for n in range(200)}
LONG = json.dumps(TREE, indent=1)


@pytest.mark.parametrize(
    "text",
    [
        LONG[:-2] + ",\n}",
        repr(TREE),
        LONG.replace("},\n", "}, // a note\n"),
        LONG[:-2],
        LONG[:-1] + ",}",
    ],
    ids=["comma", "python", "comments", "cut-off", "comma-at-the-end"],
)
def test_long_json_with_the_usual_mistakes_is_repaired(text):
    assert 12_000 < len(text) < 20_000
    assert as_json(f"Here is the map:\n```json\n{text}\n```\n") == TREE
