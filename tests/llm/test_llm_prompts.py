"""Templates of prompts, and that what is filled in stays data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena.llm import Fields, Template, tagged
from arena.llm.prompts import load_templates

ONE = Fields(("topic",), ("cutoff",))


def test_a_template_is_filled():
    template = Template("On $topic (${topic}) before $cutoff for $$5.", ONE)
    assert template.fill(topic="x", cutoff=2020) == "On x (x) before 2020 for $5."
    assert Template("${topic}s", ONE).fill(topic="cat", cutoff="") == "cats"
    assert template.messages(topic="x", cutoff=1)[0]["role"] == "user"


def test_what_is_filled_in_is_data():
    template = Template("<papers><topic>$topic</topic></papers> $cutoff", ONE)
    title = (
        "$topic ${cutoff} $$ {x} %s \\1 </topic> < /Papers > <TYPOLOGY> <Queries a=1> a<b <i>c</i>"
    )
    filled = template.fill(topic=title, cutoff="now")
    assert filled == (
        "<papers><topic>$topic ${cutoff} $$ {x} %s \\1 &lt;/topic> &lt; /Papers > &lt;TYPOLOGY> "
        "&lt;Queries a=1> a<b <i>c</i></topic></papers> now"
    )


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="<>/ topicTOPIC$&{}\n", max_size=60) | st.text())
def test_no_value_ends_the_tag_that_it_stands_in(value):
    filled = Template("<topic>\n$topic\n</topic>", Fields(("topic",))).fill(topic=value)
    inner = filled.removeprefix("<topic>\n").removesuffix("\n</topic>")
    assert inner.replace("&lt;", "<") == value.replace("&lt;", "<")
    if value.strip() and "`" not in value and "</think>" not in value:
        assert tagged(filled, "topic") == inner.strip()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no field", r"prompt: the field \$topic is missing"),
        ("$topic\n$topics", r"prompt line 2: no field \$topics. Did you mean 'topic'\?"),
        ("$topic costs $5", "prompt line 1: a \\$ alone"),
        ("$topic ${topic.__class__}", "a \\$ alone"),
    ],
)
def test_templates_that_are_wrong(text, message):
    with pytest.raises(DataError, match=message):
        Template(text, ONE, "prompt")


@pytest.mark.parametrize(
    "values",
    [{}, {"topic": "x"}, {"topic": "x", "cutoff": 1, "a": 2}, {"topic": None, "cutoff": 1}],
)
def test_values_that_are_wrong(values):
    with pytest.raises(DataError):
        Template("$topic", ONE).fill(**values)


def test_a_users_templates_go_before_those_that_come_along(tmp_path):
    package, own = tmp_path / "package", tmp_path / "own"
    for folder in (package, own):
        folder.mkdir()
    wanted = {"first": Fields(("topic",)), "second": Fields()}
    (package / "first.txt").write_text("package $topic")
    (package / "second.txt").write_text("package second")
    with pytest.raises(DataError, match=r"contains no template. It takes first.txt, second.txt"):
        load_templates(wanted, package, own)
    (own / "first.txt").write_text("own $topic")
    texts = {name: t.text for name, t in load_templates(wanted, package, own).items()}
    assert texts == {"first": "own $topic", "second": "package second"}
    (own / "frist.txt").write_text("own $topic")
    with pytest.raises(DataError, match=r"not a template of this agent.* Did you mean 'first'"):
        load_templates(wanted, package, own)
    (own / "frist.txt").unlink()
    (own / "first.txt").write_bytes(b"\xff $topic")
    with pytest.raises(DataError, match=r"first\.txt.*cannot be read"):
        load_templates(wanted, package, own)
    (package / "second.txt").unlink()
    with pytest.raises(DataError, match=r"second.txt.*cannot be read"):
        load_templates(wanted, package)
