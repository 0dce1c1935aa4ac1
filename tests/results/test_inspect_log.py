"""A run as a log of inspect_ai."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest
from llm_server import LLMServer, tool_call

import arena
from arena.cli import main
from arena.errors import DataError
from arena_integrations._inspect_log import write_inspect_log


@pytest.fixture
def run(title_on_tiny):
    return title_on_tiny


def log_of(run, corpus, tmp_path, **options):
    write_inspect_log(run, corpus, tmp_path / "log.json", **options)
    return json.loads((tmp_path / "log.json").read_text())


def test_a_sample_by_hand(tiny, run, tmp_path):
    log = log_of(run, tiny, tmp_path)
    assert log["eval"]["task"] == "arena/discovery" and log["eval"]["solver"] == "title"
    assert log["eval"]["metadata"]["sha256"]["corpus"].startswith("5b44fbae")  # docs/runs.md
    assert log["results"]["scores"][0]["name"] == "recall@100"  # the headline
    assert log["results"]["scores"][0]["scored_samples"] == 1
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == 2 / 3
    empty, sample = log["samples"]
    assert (empty["id"], empty["scores"]) == ("s2", {})  # nothing is in its reach
    assert sample["id"] == "s1" and sample["target"] == ""
    assert sample["scores"]["precision@10"] == {"value": 0.2}
    assert sample["metadata"]["submitted"] == {"discovery": 2}
    assert sample["metadata"]["budget"]["steps"] == 100
    topic, day, instruction = sample["input"].split("\n\n")
    assert topic == "neural ranking: a survey" and day.startswith("Cutoff: ")
    assert instruction.startswith("Find the papers")
    roles = [message["role"] for message in sample["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]
    question, search, hits, submit, _ = sample["messages"]
    assert question["content"] == sample["input"]
    (asked,) = search["tool_calls"]
    assert asked["function"] == "search" and asked["arguments"] == {"query": topic, "k": 100}
    assert hits["tool_call_id"] == asked["id"]
    found = json.loads(hits["content"])
    assert [hit["id"] for hit in found["result"]["hits"]] == ["p3", "p2"]
    assert found["budget"]["searches"] == 49
    assert submit["tool_calls"][0]["arguments"] == {"paper_ids": ["p3", "p2"]}
    kinds = [event["event"] for event in sample["events"]]
    assert kinds == ["sample_init", "tool", "score", "tool", "score", "score"]
    first, last, final = [event for event in sample["events"] if event["event"] == "score"]
    assert first["intermediate"] and first["score"]["value"] == 0
    assert last["score"] == {"value": 2 / 3, "explanation": "final 0.6667"}
    assert final["score"]["value"] == {name: s["value"] for name, s in sample["scores"].items()}


def test_no_label_that_the_episode_did_not_show(synthetic, title_run, tmp_path):
    from arena.tasks import TaskSet

    log, tasks, unseen = log_of(title_run, synthetic, tmp_path), TaskSet(synthetic), 0
    for sample in log["samples"]:
        shown = json.dumps([m["content"] for m in sample["messages"]])
        rest = json.dumps({name: part for name, part in sample.items() if name != "messages"})
        for paper in tasks.gold(sample["id"]).gains:
            unseen += paper not in shown
            assert paper in shown or paper not in rest
    assert unseen > 50


def test_same_bytes_and_both_formats_hold_the_same(tiny, run, tmp_path):
    log = log_of(run, tiny, tmp_path)
    for name in ("a.eval", "b.eval"):
        write_inspect_log(run, tiny, tmp_path / name)
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.eval") as archive:
        samples = [json.loads(archive.read(f"samples/{s}_epoch_1.json")) for s in ("s2", "s1")]
        assert json.loads(archive.read("header.json")) | {"samples": samples} == log


def words(body):
    """Say something, search, then submit nothing; answer a reminder."""
    said = sum(message["role"] == "assistant" for message in body["messages"])
    if said == 0:
        return "I think first."
    name, arguments = ("search", {"query": "ranking"}) if said == 1 else ("submit", "no JSON")
    return tool_call(name, arguments) | {"content": f"Now {name}."}


def test_what_the_language_model_wrote(tiny, tmp_path):
    store = tmp_path / "answers.db"
    with LLMServer(words) as server:
        options = {"model": "scripted", "base_url": server.url, "store": str(store)}
        arena.run(
            tiny, "discovery", "react", tmp_path / "run", agent_options=options, topics=["s1"]
        )
    log = log_of(tmp_path / "run", tiny, tmp_path, answers=store)
    assert log["eval"]["model"] == "scripted"
    (sample,) = log["samples"]
    said = [m["content"] for m in sample["messages"] if m["role"] == "assistant"]
    assert said[:2] == ["I think first.\n\nNow search.", "Now submit."]
    refused = sample["messages"][4]
    assert refused["error"]["message"] == json.loads(refused["content"])["result"]["error"]
    kinds = [event["event"] for event in sample["events"]]
    assert kinds[1:4] == ["model", "model", "tool"]
    calls = sample["metadata"]["notes"]["llm"]["calls"]
    assert sample["events"][1]["metadata"]["request_sha256"] == calls[0]["request"]
    assert sample["model_usage"]["scripted"]["output_tokens"] >= 5
    plain = log_of(tmp_path / "run", tiny, tmp_path)["samples"][0]  # without the answers
    assert plain["messages"][1] == sample["messages"][1] | {"content": ""}
    (tmp_path / "other.db").touch()
    with pytest.raises(DataError, match=r"other.db' has no answer to the request '\w{12}' "):
        log_of(tmp_path / "run", tiny, tmp_path, answers=tmp_path / "other.db")


def test_refusals_are_one_line_and_write_nothing(tiny, synthetic, run, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "unfinished")
    path = tmp_path / "unfinished/manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({key: manifest[key] for key in manifest if key != "files"}))
    output = tmp_path / "log.eval"
    for words, why in (
        ([run, "--corpus", tiny, "--output", tmp_path / "log.txt"], "neither .eval nor .json"),
        ([run, "--corpus", synthetic, "--output", output], "was run with another corpus"),
        ([run, "--corpus", tiny, "--output", output, "--answers", "none.db"], "is not a file"),
        ([tmp_path / "unfinished", "--corpus", tiny, "--output", output], "is not finished"),
    ):
        assert main(["export", "inspect", *map(str, words)]) == 2
        error = capsys.readouterr().err
        assert why in error and len(error.splitlines()) == 1
    assert not output.exists()


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_inspect_reads_it(tiny, run, tmp_path, ending):
    logs = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    write_inspect_log(run, tiny, tmp_path / f"log.{ending}")
    log = logs.read_eval_log(str(tmp_path / f"log.{ending}"))
    assert log.status == "success" and log.results.scores[0].name == "recall@100"
    (sample,) = [sample for sample in log.samples if sample.id == "s1"]
    assert sample.scores["recall@100"].value == 2 / 3
    assert [m.role for m in sample.messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert sample.messages[1].tool_calls[0].arguments["k"] == 100
    assert sample.events[2].intermediate and sample.events[1].function == "search"
    summaries = logs.read_eval_log_sample_summaries(str(tmp_path / f"log.{ending}"))
    assert sorted(each.id for each in summaries) == ["s1", "s2"]
