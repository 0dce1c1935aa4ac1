"""A run as chat messages for supervised training."""

from __future__ import annotations

import json

import gymnasium
import pytest
from llm_server import tool_call

import arena
from arena.agents import Agent
from arena.cli import main
from arena.session import opening_text
from arena_integrations._messages import write_messages


@pytest.fixture
def run(title_on_tiny):
    return title_on_tiny


def rows_of(run, corpus, output, **options):
    write_messages(run, corpus, output, **options)
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_a_row_by_hand(tiny, run, tmp_path, capsys):
    output = tmp_path / "new/sft.jsonl"
    words = ["export", "messages", str(run), "--corpus", str(tiny), "--output", str(output)]
    assert main([*words, "--reward"]) == 0
    assert capsys.readouterr().out == f"{output}: 2 episodes\n"
    paid = [json.loads(line) for line in output.read_text().splitlines()]
    _, row = plain = rows_of(run, tiny, output)
    assert paid == [r | {"reward": x} for r, x in zip(plain, (0.0, 2 / 3), strict=True)]
    env = gymnasium.make("arena/Discovery-v0", corpus=tiny)
    assert row["topic_id"] == "s1" and row["tools"] == arena.tool_schemas(env)
    opening, search, hits, submit = row["messages"]
    first, _ = env.reset(options={"topic_id": "s1"})
    assert opening == {"role": "user", "content": opening_text(first)}
    function = {"name": "search", "arguments": {"query": "neural ranking: a survey", "k": 100}}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    assert search == {"role": "assistant", "content": "", "tool_calls": calls}
    assert (hits["role"], hits["tool_call_id"]) == ("tool", "call_1")
    assert [hit["id"] for hit in json.loads(hits["content"])["result"]["hits"]] == ["p3", "p2"]
    assert submit["tool_calls"][0]["function"]["arguments"] == {"paper_ids": ["p3", "p2"]}
    _, texts = rows_of(run, tiny, output, text_arguments=True)
    (call,) = texts["messages"][1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == function["arguments"]


def words(body):
    said = sum(message["role"] == "assistant" for message in body["messages"])
    return [tool_call("search", {"query": "ranking"}) | {"content": "Now \ud800."}, "Done."][said]


def test_what_the_model_wrote(tiny, tmp_path, play):
    run, store = play(words)
    (row,) = rows_of(run, tiny, tmp_path / "a.jsonl", answers=store)
    said = [message["content"] for message in row["messages"] if message["role"] == "assistant"]
    assert said == ["Now \ufffd.", "Done."]  # the second one submits, after the model stopped


class Babbler(Agent):
    """Write what is no call, then finish."""

    def act(self, observation):
        left = observation["budget"]["steps"]
        bad = {100: "search for graphs", 99: {"tool": "search", "arguments": 3}}
        return bad.get(left, {"tool": "finish", "arguments": {}})


def test_an_action_that_is_no_call_is_text(tiny, tmp_path):
    arena.run(tiny, "discovery", Babbler, tmp_path / "run", topics=["s1"])
    (row,) = rows_of(tmp_path / "run", tiny, tmp_path / "a.jsonl")
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user", "assistant"]
    _, text, refused, call, _, finish = row["messages"]
    assert text == {"role": "assistant", "content": "search for graphs"}
    assert "is not JSON" in json.loads(refused["content"])["result"]["error"]
    assert json.loads(call["content"]) == {"tool": "search", "arguments": 3}
    assert finish["tool_calls"][0]["function"]["name"] == "finish"


def test_no_label_that_the_episode_did_not_show(synthetic, title_run, tmp_path):
    from arena.tasks import TaskSet

    unseen = 0
    for row in rows_of(title_run, synthetic, tmp_path / "a.jsonl"):
        shown = json.dumps([m["content"] for m in row["messages"]])
        for paper in TaskSet(synthetic).gold(row["topic_id"]).gains:
            unseen += paper not in shown
            assert paper in shown or paper not in json.dumps(row)
    assert unseen > 50


def test_datasets_and_chat_templates_read_both_formats(tiny, run, tmp_path):
    datasets = pytest.importorskip("datasets")
    data_utils = pytest.importorskip("trl.data_utils")
    templates = pytest.importorskip("trl.chat_template_utils")
    from transformers.utils.chat_template_utils import render_jinja_template

    written = rows_of(run, tiny, tmp_path / "a.jsonl")
    write_messages(run, tiny, tmp_path / "a.parquet")
    for kind, name in (("json", "a.jsonl"), ("parquet", "a.parquet")):
        files, cache = str(tmp_path / name), str(tmp_path / "cache")
        read = datasets.load_dataset(kind, data_files=files, split="train", cache_dir=cache)
        assert read.to_list() == written and data_utils.is_conversational(read[0])
        (text,), _ = render_jinja_template(
            [read[1]["messages"]], read[1]["tools"], chat_template=templates.qwen2_5_chat_template
        )
        call = '{"name": "submit", "arguments": {"paper_ids": ["p3", "p2"]}}'
        assert text.endswith(f"<tool_call>\n{call}\n</tool_call><|im_end|>\n")
