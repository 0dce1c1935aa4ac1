"""Agents with a model in whole runs: replay, resuming, failed steps, limits, what is recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import contents
from llm_server import LLMServer, Trouble, last_text

import arena
import arena.llm
from arena.agents import AGENTS
from arena.cli import main
from arena.errors import ArenaError, DataError
from arena.llm.agent import shared_client

pytestmark = pytest.mark.usefixtures("alone")

AGENT = '''
from arena.llm import Fields, LLMAgent, as_list, tagged

class Asker(LLMAgent):
    """Queries from a model, else the topic."""

    folder = "asker"
    templates = {"queries": Fields(required=("topic",), optional=("cutoff",))}

    def __init__(self, seed=0, most=3, **options):
        super().__init__(seed, **options)
        self.most, self.queries, self.found = most, None, []

    def decide(self, observation):
        import json
        if self.queries is None:
            self.queries = self.ask(
                "queries", lambda text: as_list(tagged(text, "Queries")),
                topic=observation["topic"], cutoff=observation["cutoff"],
            ) or [observation["topic"]]
            self.queries = self.queries[:self.most]
        else:
            hits = json.loads(observation["result"])["hits"]
            self.found += [hit["id"] for hit in hits if hit["id"] not in self.found]
        if self.queries:
            return {"tool": "search", "arguments": {"query": self.queries.pop(0), "k": 20}}
        return {"tool": "submit", "arguments": {"paper_ids": self.found}}
'''
PROMPT = "Queries before $cutoff for <topic>$topic</topic>, in <Queries>."


@pytest.fixture
def file(tmp_path):
    (tmp_path / "asker.py").write_text(AGENT)
    folder = tmp_path / "prompts" / "asker"
    folder.mkdir(parents=True)
    (folder / "queries.txt").write_text(PROMPT)
    return tmp_path / "asker.py"


@pytest.fixture
def asker(file):
    return AGENTS.find(f"{file}:Asker")


def text_of(body):
    return body["messages"][0]["content"].split("<topic>")[1].split("</topic>")[0]


def helpful(body):
    words = text_of(body).split()
    return "<Queries>\n- " + "\n- ".join([" ".join(words), *words[-2:]]) + "\n</Queries>"


def play(synthetic, agent, output, server=None, **options):
    given = {"model": "scripted"} | ({"base_url": server.url} if server else {}) | options
    options = {"agent_options": given, "topics": 4, "parallel": 1}  # in the order of the script
    return arena.run(synthetic, "discovery", agent, output, **options)


def episodes(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "trajectories.jsonl").read_text().splitlines()]


def test_a_replay_gives_the_same_bytes_without_the_server(synthetic, asker, tmp_path, monkeypatch):
    with LLMServer(helpful) as server:
        summary = play(synthetic, asker, tmp_path / "a", server)
        play(synthetic, asker, tmp_path / "b", server, timeout=5.0)
        assert len(server.requests) == 4
    assert summary["mean"]["recall@100"] > 0
    play(synthetic, asker, tmp_path / "c", mode="replay")
    monkeypatch.setenv("ARENA_LLM_MODE", "replay")
    (tmp_path / "llm-answers.db").rename(tmp_path / "shipped.db")
    play(synthetic, asker, tmp_path / "d", store="shipped.db", base_url="http://127.0.0.1:9/v1")
    runs = [contents(tmp_path / name) for name in "abcd"]
    assert runs[0] == runs[1] == runs[2] == runs[3]
    manifest = json.loads(runs[0]["manifest.json"])
    assert manifest["agent_options"] == {"model": "scripted"}
    for text in (str(tmp_path).encode(), b"127.0.0.1", b"seconds"):
        assert not any(text in data for data in runs[0].values())
    notes = episodes(tmp_path / "a")[0]["notes"]["llm"]
    assert notes["model"] == "scripted"
    assert notes["stopped"] is None
    assert [len(call["request"]) for call in notes["calls"]] == [64]
    assert notes["total"] == {
        "calls": 1, "prompt_tokens": notes["calls"][0]["prompt_tokens"],
        "completion_tokens": notes["calls"][0]["completion_tokens"], "cached_tokens": 0,
        "dollars": None,
    }  # fmt: skip


def test_templates_are_part_of_a_run(synthetic, asker, tmp_path):
    with LLMServer(helpful) as server:
        play(synthetic, asker, tmp_path / "run", server)
        own = tmp_path / "own"
        own.mkdir()
        (own / "queries.txt").write_text("Mine: <topic>$topic</topic>")
        with pytest.raises(ArenaError, match="sha256"):
            play(synthetic, asker, tmp_path / "run", server, prompts=str(own))
        play(synthetic, asker, tmp_path / "other", server, prompts=str(own))
        assert last_text(server.requests[-1]).startswith("Mine: ")
        (own / "queries.txt").write_text("Mine without a field")
        with pytest.raises(DataError, match=r"the field \$topic is missing"):
            play(synthetic, asker, tmp_path / "third", server, prompts=str(own))
    hashes = [
        json.loads(contents(tmp_path / name)["manifest.json"])["sha256"]["prompts"]
        for name in ("run", "other")
    ]
    assert None not in hashes
    assert hashes[0] != hashes[1]


def test_a_run_whose_server_went_away_continues(synthetic, asker, tmp_path):
    def until_third(body):
        return helpful(body) if len(server.requests) <= 2 else Trouble(401)

    with (
        LLMServer(until_third) as server,
        pytest.raises(ArenaError, match=r"401: .*OPENAI_API_KEY"),
    ):
        play(synthetic, asker, tmp_path / "run", server)
    assert len(episodes(tmp_path / "run")) == 2
    with LLMServer(helpful) as server:
        play(synthetic, asker, tmp_path / "run", server)
        assert len(server.requests) == 2  # the others are kept
        play(synthetic, asker, tmp_path / "whole", server)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


BAD = {
    "no tag": "I would rather not.",
    "too long": Trouble(400, error={"message": "maximum context length exceeded"}),
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_a_topic_with_a_failed_step_is_still_scored(answer, synthetic, asker, tmp_path):
    with LLMServer(lambda body: answer) as server:
        summary = play(synthetic, asker, tmp_path / "run", server)
        again = 1 if isinstance(answer, Trouble) else 2
        assert len(server.requests) == 4 * again
        play(synthetic, asker, tmp_path / "replay", mode="replay")
    assert summary["counts"]["scored"] == summary["counts"]["topics"] == 4
    assert summary["mean"]["recall@100"] > 0  # by the topic alone
    for episode in episodes(tmp_path / "run"):
        assert len(episode["notes"]["llm"]["failed"]) == 1
        assert episode["notes"]["llm"]["total"]["calls"] == again
    assert contents(tmp_path / "run") == contents(tmp_path / "replay")


def test_a_limit_of_the_run_ends_it_and_the_same_command_continues(synthetic, asker, tmp_path):
    """One episode after the other: requests that are already under way may cross a limit."""
    limits = {"run_limits": {"max_calls": 2}}
    with LLMServer(helpful) as server:
        for start in range(2):
            shared_client.cache_clear()  # as a new process
            assert len(server.requests) == start * 2
            if start == 0:
                with pytest.raises(ArenaError, match=r"max_calls=2 .* is reached"):
                    play(synthetic, asker, tmp_path / "run", server, **limits)
            else:
                play(synthetic, asker, tmp_path / "run", server, **limits)
    assert len(episodes(tmp_path / "run")) == 4


def test_the_command_line(synthetic, file, tmp_path, capsys):
    with LLMServer(helpful) as server:
        command = [
            "run", "--corpus", str(synthetic), "--task", "discovery", "--agent", f"{file}:Asker",
            "--topics", "2", "--agent-option", "model=scripted",
        ]  # fmt: skip
        url = ["--agent-option", f"base_url={server.url}"]
        assert main([*command, *url, "--output", "recorded"]) == 0
    assert main([*command, "--agent-option", "mode=replay", "--output", "replayed"]) == 0
    assert contents(tmp_path / "recorded") == contents(tmp_path / "replayed")
    for option, message in (
        ("mode=reply", "Did you mean 'replay'"),
        ("stroe=x", "has no option 'stroe'. Did you mean 'store'"),
        ('limits={"max_call": 1}', "Did you mean 'max_calls'"),
        ("prompts=nowhere", "contains no template"),
        ("store=asker.py", "is not a file of answers"),
    ):
        assert main([*command, "--agent-option", option, "--output", "bad"]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


def test_a_model_is_needed(synthetic, asker, tmp_path):
    with pytest.raises(DataError, match="Give the option model"):
        arena.run(synthetic, "discovery", asker, tmp_path / "run")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "is not set, and OpenAI needs"),
        ({"base_url": "127.0.0.1:9/v1"}, "is not an address"),
    ],
)
def test_what_is_missing_is_told_before_the_first_episode(
    synthetic, asker, tmp_path, options, told
):
    with pytest.raises(ArenaError) as error:
        play(synthetic, asker, tmp_path / "run", **options)
    assert told in str(error.value)
    assert "topic" not in str(error.value)
    assert not (tmp_path / "run").exists()
