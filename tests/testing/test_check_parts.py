"""What the checks of `arena check` are made of: walking, labels, schemas, differences."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers import contents
from hypothesis import given
from hypothesis import strategies as st

import arena
from arena.tasks import TaskSet
from arena.testing import Subject
from arena.testing.checks.leaks import relabelled
from arena.testing.checks.spaces import schema_error, violation
from arena.testing.contract import difference, random_play, record, replay
from arena.testing.walk import first_difference, plain, walk


def test_relabelled_copies_differ_in_their_labels_alone(world, tmp_path):
    before, own = contents(world), TaskSet(world)
    for keep in (False, True):
        copies = [tmp_path / f"{keep}-{number}" for number in range(2)]
        for number, copy in enumerate(copies):
            relabelled(world, copy, number, keep_references=keep)
            after = {name: (copy / name).read_bytes() for name in before}
            changed = {name for name in after if before[name] != after[name]}
            labels = {f"tasks/{name}.parquet" for name in ("gold", "mind_maps", "articles")}
            assert changed == {"manifest.json", *labels}
            assert arena.Corpus.open(copy).at("2015").search("membrane", 3)
        one, two = map(TaskSet, copies)  # which compare the hashes of the files
        for survey in own.surveys:
            gains, old, new = (tasks.gold(survey).gains for tasks in (own, one, two))
            if keep:
                assert list(old) == list(new) == list(gains)
                assert all(new[paper] != old[paper] for paper in new)
            else:
                assert set(old) | set(new) == set(gains)
                assert not set(old) & set(new)
                assert 0 < len(old) < len(new)
            assert one.article(survey) != two.article(survey) != own.article(survey)
            assert one.mind_map(survey) != two.mind_map(survey) != own.mind_map(survey)


def test_what_can_be_reached():
    class Thing:
        kind = "class"

        def __init__(self):
            self.public, self._private = {"a": [1, ("x", {"y"})]}, "secret"
            self.itself = self

        @property
        def made(self):
            return "made"

        @property
        def broken(self):
            raise RuntimeError

        def method(self):
            return "unreached"

    found = {path: value for path, value in walk(Thing(), "t") if isinstance(value, str | int)}
    assert found == {
        "t.kind": "class",
        "t.made": "made",
        "t.public['a'] (key)": "a",
        "t.public['a'][0]": 1,
        "t.public['a'][1][0]": "x",
        "t.public['a'][1][1]{...}": "y",
    }


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "strng"}, "$.type is invalid: 'strng' is not"),
        ({"type": "object", "properties": {"a": {}}}, "parameters.a.type is None"),
        ({"type": "object", "required": ["b"]}, "names 'b', which is no property"),
        ({"type": "array", "items": {"type": "string", "max": 3}}, "has the keyword 'max'"),
        ({"type": "integer", "maximum": "9"}, "$.maximum is invalid: '9' is not of type 'number'"),
        ({"type": "integer", "maximum": 9, "default": 10}, "default: $: 10 is greater than"),
        ({"type": "string", "enum": []}, "enum is empty"),
        ([], "is invalid"),
    ],
)
def test_malformed_schemas(schema, why):
    assert why in schema_error(schema)


def test_values_against_a_schema():
    schema = {
        "type": "object",
        "properties": {
            "k": {"type": "integer", "minimum": 1, "maximum": 9},
            "names": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "engine": {"type": "string", "enum": ["a", "b"]},
        },
        "required": ["k"],
        "additionalProperties": False,
    }
    assert schema_error(schema) is None
    for good in ({"k": 1}, {"k": 9, "names": ["x", "y"]}, {"k": 5, "names": [], "engine": "b"}):
        assert violation(good, schema) is None
    for bad, why in (
        ({}, "'k' is a required property"),
        ({"k": 0}, "$.k: 0 is less than the minimum of 1"),
        ({"k": 10}, "$.k: 10 is greater than the maximum of 9"),
        ({"k": True}, "$.k: True is not of type 'integer'"),
        ({"k": 1.5}, "$.k: 1.5 is not of type 'integer'"),
        ({"k": 1, "names": ["x", 2]}, "$.names[1]: 2 is not of type 'string'"),
        ({"k": 1, "names": ["x"] * 3}, "is too long"),
        ({"k": 1, "engine": "c"}, "is not one of"),
        ({"k": 1, "other": 1}, "'other' was unexpected"),
        ([], "is not of type 'object'"),
    ):
        assert why in violation(bad, schema)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-1, 1) | st.text("ab", max_size=2),
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(st.text("k", max_size=2), inside),
    max_leaves=5,
)


@given(JSON, JSON)
def test_values_differ_exactly_if_their_json_does(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    zeros = "-0.0" in json.dumps([one, other])  # equal to 0.0, and to be taken as equal
    assert (first_difference(plain(one), plain(other)) is None) == same or zeros
    assert plain(one) == one


def test_the_first_difference():
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "a[1].b is 2 and then 3"
    assert first_difference([1], [1.0]) == "[0] is 1 and then 1.0"
    assert first_difference({"a": 1}, {}) == "a is there only the first time"
    assert first_difference({"x": [1, 2]}, {"x": [1]}) == "x[1] is there only the first time"
    assert first_difference("abc", "abd").startswith("value differs at character 2: 'abc' and")
    assert first_difference({"a": [None, "x"]}, {"a": [None, "x"]}) is None
    assert plain((np.int64(1), {2: np.array([1.5])}, float("nan"))) == [1, {"2": [1.5]}, "nan"]


def test_recorded_episodes_do_something(world):
    """Random play that never found a paper would prove nothing."""
    subject = Subject("arena/Survey-v0", world, {})
    tools = [action["tool"] for trace in subject.traces for action in trace.actions]
    assert set(tools) == set(subject.tools)
    errors = sum("error" in json.loads(s[0]["result"]) for t in subject.traces for s in t.steps)
    assert errors < len(tools) / 2
    assert any(step[1] > 0 for trace in subject.traces for step in trace.steps)
    env = subject.make()
    one, two = (record(env, 3, random_play(env, 3, 9), 9) for _ in range(2))
    assert difference(one, two) is None
    two.steps[-1][1] += 0.25
    assert f"step {len(two.steps)}, " in difference(one, two)
    assert difference(one, replay(env, one, form=lambda action: None)) is not None
