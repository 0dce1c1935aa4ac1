"""A real model behind a real server.

Its answers are poor. What is tested is that everything around them holds.
"""

from __future__ import annotations

import gymnasium
import pytest
from local_model_server import LocalModel, missing

import arena
from arena.agents import actions_from, tool_message
from arena.llm import Client, RequestRefusedError
from arena.testing.contract import violation

pytestmark = [
    pytest.mark.usefixtures("alone"),
    pytest.mark.slow,  # a local model
    pytest.mark.skipif(
        bool(missing()), reason=f"not installed: {', '.join(missing())} (docs/llm.md)"
    ),
]

QUESTION = [{"role": "user", "content": "Which papers founded the theory of graphs?"}]


@pytest.fixture(scope="session")
def local_model():
    with LocalModel() as model:
        yield model


def ask(model, messages=QUESTION, tokens=24, **options):
    client = Client(model.name, base_url=model.url, mode="live", max_tokens=tokens, **options)
    return client.complete(messages)


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_tool_call(local_model, synthetic, choice):
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    tools = [t for t in arena.tool_schemas(env) if t["function"]["name"] in ("search", "read")]
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    client = Client(local_model.name, base_url=local_model.url, max_tokens=300)
    observation, _ = env.reset(seed=1)
    messages = [{"role": "user", "content": f"Find papers on {observation['topic']!r}."}]
    for _ in range(2):
        answer = client.complete(messages, tools=tools, tool_choice=choice)
        assert answer.finish_reason == "tool_calls"
        ((call_id, action),) = actions_from(answer.message)
        assert violation(action["arguments"], schemas[action["tool"]]) is None
        observation, _, ended, _, _ = env.step(action)
        assert not ended
        result = tool_message(call_id, observation)
        messages += [answer.message, {**result, "content": result["content"][:400]}]
    env.close()


def test_a_request_that_is_too_long_is_refused_not_asked_again(local_model):
    with pytest.raises(RequestRefusedError, match="context size"):
        ask(local_model, [{"role": "user", "content": "word " * 9000}])
