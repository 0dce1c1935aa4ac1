"""Tool schemas, the calls of models as actions, and observations as messages."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import gymnasium
import jsonschema
import pytest
from helpers import arena_topics, make_env, playing, result
from hypothesis import given, settings
from hypothesis import strategies as st

import arena
from arena.errors import DataError
from arena.tasks import environment_ids
from arena.tools import TOOLS

RESEARCH = ["search", "read", "references", "citations", "select"]
TOOLS_OF = {
    "arena/Discovery-v0": [*RESEARCH, "submit", "finish"],
    "arena/Selection-v0": [*RESEARCH, "submit", "finish"],
    "arena/Organization-v0": [*RESEARCH, "organize", "finish"],
    "arena/Question-v0": [*RESEARCH, "submit", "finish"],
    "arena/Review-v0": [*RESEARCH, "finish"],
    "arena/Screening-v0": [*RESEARCH, "submit", "finish"],
    "arena/Report-v0": [*RESEARCH, "write", "submit_report", "finish"],
    "arena/Pipeline-v0": [*RESEARCH, "submit", "organize", "finish"],
}


def fits(value, schema) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def schemas_of(env) -> dict:
    return {tool["function"]["name"]: tool["function"] for tool in arena.tool_schemas(env)}


@pytest.mark.parametrize("name", environment_ids())
def test_every_environment_describes_its_tools(synthetic, name):
    env = make_env(synthetic, name)
    described = arena.tool_schemas(env)
    assert [tool["function"]["name"] for tool in described] == TOOLS_OF[name]
    assert json.loads(json.dumps(described)) == described
    for tool in described:
        assert list(tool) == ["type", "function"]
        assert tool["type"] == "function"
        function = tool["function"]
        assert list(function) == ["name", "description", "parameters"]
        assert function["name"].isidentifier()  # OpenAI: letters, digits, _ and -, at most 64
        assert 10 < len(function["description"]) < 1024
        parameters = function["parameters"]
        assert parameters["type"] == "object"
        assert parameters["additionalProperties"] is False
        assert set(parameters["required"]) <= set(parameters["properties"])
        for parameter in parameters["properties"].values():
            assert parameter["description"].endswith(".")
            if "default" in parameter:
                assert fits(parameter["default"], parameter)
    assert arena.tool_schemas(env.unwrapped) == described
    wrapped = gymnasium.wrappers.TimeLimit(env, 5)
    assert arena.tool_schemas(wrapped) == described
    vectors = gymnasium.make_vec(name, num_envs=2, corpus=synthetic)
    assert arena.tool_schemas(vectors) == described


def test_other_environments_have_none():
    with pytest.raises(DataError, match="has no tools"):
        arena.tool_schemas(gymnasium.make("CartPole-v1"))


INTEGERS, DIGITS = {"k", "offset", "section", "page"}, re.compile("-?[0-9]+").fullmatch
texts = (
    st.text(max_size=8) | st.integers(-2, 12).map(str) | st.sampled_from(["bm25", "search", "{}"])
)
values = (
    st.none() | st.booleans() | st.integers(-2, 12) | st.floats(-2, 12) | texts
    | st.lists(texts | st.integers(), max_size=3)
    | st.dictionaries(texts, st.integers(), max_size=2)
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    tool=st.sampled_from(TOOLS_OF["arena/Pipeline-v0"]),
    arguments=st.dictionaries(
        st.sampled_from(["query", "k", "offset", "retriever", "paper_id", "section", "page",
                         "paper_ids", "mind_map", "queries", "fuse", "extra"]), values,
    ),
)  # fmt: skip
def test_what_fits_the_schema_is_a_call_and_nothing_else_is(pipeline_env, tool, arguments):
    schema = schemas_of(pipeline_env)[tool]["parameters"]
    # Beyond the schema: null is an optional argument left out, a tree may come as its text, an
    # integer as its digits. Short of it: 3.0 is an integer in a schema, but none here.
    allowed = {
        key: {}
        if key == "mind_map" and isinstance(value, str)
        else int(value)
        if key in INTEGERS and isinstance(value, str) and DIGITS(value)
        else value
        for key, value in arguments.items()
        if value is not None or key in schema["required"] or key not in schema["properties"]
    }
    expected = fits(allowed, schema) and not any(
        isinstance(value, float) and key in schema["properties"] for key, value in allowed.items()
    )
    action = {"tool": tool, "arguments": arguments}
    assert pipeline_env.action_space.contains(action) == expected
    assert pipeline_env.action_space.contains(json.dumps(action)) == expected


@pytest.fixture(scope="module")
def pipeline_env(synthetic):
    return make_env(synthetic, "arena/Pipeline-v0")


def message(*calls) -> dict:
    return {
        "role": "assistant",
        "tool_calls": [
            {"id": f"c{n}", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ],
    }


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("search", "{query: cats}", "is not an object. Call search(query, k?"),
        ("search", None, "search needs the argument 'query'"),
        ("search", "[" * 100_000, "is not an object"),
    ],
)
def test_a_malformed_call_becomes_an_observation(synthetic, name, arguments, error):
    env = playing(synthetic, sorted(arena_topics(synthetic))[0])
    ((call_id, action),) = arena.actions_from(message((name, arguments)))
    assert call_id == "c0"
    step = env.step(action)
    assert error in result(step)["error"]
    assert step[1:4] == (0.0, False, False)


@pytest.mark.parametrize(
    "said",
    [
        {"role": "assistant", "content": "I am done."},
        {"role": "assistant", "content": None, "tool_calls": None},
        {"tool_calls": []},
        SimpleNamespace(content="I am done."),
    ],
)
def test_a_message_that_calls_no_tool_has_no_actions(said):
    assert arena.actions_from(said) == []


MESSAGE = {"role": "assistant", "content": "I am done."}


@pytest.mark.parametrize("said", [None, "text", [MESSAGE], {"choices": [{"message": MESSAGE}]}])
def test_what_is_no_message_is_refused(said):
    with pytest.raises(DataError, match=r"Give response\.choices\[0\]\.message"):
        arena.actions_from(said)


@pytest.mark.parametrize("called", [None, {"id": "x"}])
def test_a_call_that_is_none_is_answered_too(synthetic, called):
    ((_, action),) = arena.actions_from({"tool_calls": [called]})
    env = playing(synthetic, sorted(arena_topics(synthetic))[0])
    assert "no tool None" in result(env.step(action))["error"]


def test_a_conversation(mini):
    """Calls of one message are carried out in order, each answered under its own id."""
    env = playing(mini, "sv:1")
    said = message(
        ("search", '{"query": "index", "k": 2}'),
        ("read", '{"paper_id": "é:tie"}'),
        ("submit", '{"paper_ids": ["p:day"]}'),
    )
    answers = []
    for call_id, action in arena.actions_from(said):
        observation, *_ = env.step(action)
        answers.append(arena.tool_message(call_id, observation))
    assert [(a["role"], a["tool_call_id"]) for a in answers] == [
        ("tool", "c0"), ("tool", "c1"), ("tool", "c2"),
    ]  # fmt: skip
    contents = [json.loads(a["content"]) for a in answers]
    assert [list(c) for c in contents] == [["budget", "stage", "result"]] * 3
    assert [h["id"] for h in contents[0]["result"]["hits"]] == ["p:old", "Z:tie"]
    assert contents[1]["result"]["title"] == "Étude des index"
    assert "Étude" in answers[1]["content"]  # as it is, not escaped: that costs tokens
    assert contents[1]["budget"]["reads"] == 99
    assert contents[2]["result"] == {"submitted": 1}
    assert contents[2]["stage"] == "discovery"


def test_every_tool_is_in_some_environment():
    assert {name for names in TOOLS_OF.values() for name in names} == set(TOOLS.names())
