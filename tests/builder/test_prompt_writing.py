"""Prompts and domains by a scripted model: checked, asked for again, replayed, built in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from llm_server import LLMServer
from toy_release import ToyRelease

from arena.errors import DataError
from arena.llm import ParseError, ReplayMissError
from arena.tasks import TaskSet
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.prompt_writing import (
    DOMAINS,
    PromptedSource,
    read_domain,
    read_prompt,
    write_prompts,
)
from corpus_builder.sources.jsonl import JsonLines
from corpus_builder.stages import plan, read_config, run_stages

SURVEYS = [
    {"id": "s", "title": "Reefs: A Survey", "date": "2020-01-02", "references": ["a"],
     "abstract": "We survey reefs.", "sections": [{"heading": "1 Fish", "text": "Fish swim."}],
     "article": "Corals grow [@a].", "listed_titles": ["Coral reefs", "Lost paper"]},
    {"id": "t", "title": "Dunes", "date": "2021", "references": [], "domain": "Sands"},
]  # fmt: skip
PAPERS = [{"id": "a", "title": "Coral reefs", "date": "2019"}]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, records in (("papers", PAPERS), ("surveys", SURVEYS)):
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def script(body: dict[str, Any]) -> str:
    """Answer by the wish in the request; the paragraph on reefs is right the second time only."""
    asked, again = body["messages"][0]["content"], len(body["messages"]) > 1
    if "The domains are" in asked:
        return "Fish" if again else "I do not know."
    day = "2 January 2020" if "Reefs" in asked else "31 December 2021"
    if "Write one sentence" in asked:
        return f'```\n"Write on this, before {day}."\n```'
    if "short paragraph" in asked:
        topic = "sea" if again else "coral reefs, as in the lost paper"
        return f"Write on the {topic}. Cite only papers published before {day}."
    return "Write.\n\n1. All" if "Reefs" in asked else f"Write.\n\n1. All before {day}"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


WRITTEN = [
    {"id": "s", "domain": "Unknown",
     "prompts": {"sentence": "Write on this, before 2 January 2020.",
                 "paragraph": "Write on the sea. Cite only papers published before 2 January "
                              "2020."},
     "failed": {"detailed": "It does not say that only papers published before a day are cited."}},
    {"id": "t", "domain": "Sands", "failed": {},
     "prompts": {"sentence": "Write on this, before 31 December 2021.",
                 "paragraph": "Write on the coral reefs, as in the lost paper. Cite only papers "
                              "published before 31 December 2021.",
                 "detailed": "Write.\n\n1. All before 31 December 2021"}},
]  # fmt: skip


def test_prompts_of_a_file(files):
    out = files / "out.jsonl"
    with LLMServer(script) as server:
        options = {"model": "m", "base_url": server.url, "store": str(files / "store.db")}
        report = write_prompts(files / "surveys", out, options)
        # four of the first survey, of which three twice; three of the second, whose domain is known
        assert len(server.requests) == 4 + 3 + 3
    assert lines(out) == WRITTEN
    assert report["counts"] == {
        "surveys": 2, "sentence": 2, "paragraph": 2, "detailed": 1, "failed": 1, "unknown": 1,
    }  # fmt: skip
    first = next(r["messages"][0]["content"] for r in server.requests)
    assert "We survey reefs.\n\n1 Fish\nFish swim.\n\nCorals grow.\n</text>" in first
    reminders = [r["messages"][-1]["content"] for r in server.requests if len(r["messages"]) > 1]
    assert any("title of a paper, 'Coral reefs'. It holds the title" in r for r in reminders)
    again = files / "again.jsonl"
    replayed = {"model": "m", "store": str(files / "store.db"), "mode": "replay"}
    assert write_prompts(files / "surveys", again, replayed) == report
    assert again.read_bytes() == out.read_bytes()
    with pytest.raises(ReplayMissError):
        write_prompts(files / "surveys", again, replayed, characters=30)
    assert again.read_bytes() == out.read_bytes()


def test_prompts_of_a_corpus_and_built_in(files, capsys):
    """From corpus to file to corpus, on the command line."""
    sources = ["--papers", str(files / "papers"), "--surveys", str(files / "surveys")]
    assert main(["build", "jsonl", *sources, "--output", str(files / "c")]) == 0
    out = files / "out.jsonl"
    with LLMServer(script) as server:
        options = [f"model=m base_url={server.url} store={files / 'store.db'}".split()]
        given = [word for option in options[0] for word in ("--llm-option", option)]
        assert main(["prompts", str(files / "c"), "--output", str(out), *given]) == 0
    assert [line["id"] for line in lines(out)] == ["s", "t"]
    shown = capsys.readouterr().out
    assert "2 surveys by m: 2 sentence, 2 paragraph, 1 detailed" in shown
    assert "1 prompt failed; the key `failed` of" in shown
    built = ["build", "jsonl", *sources, "--prompts", str(out), "--output", str(files / "d")]
    assert main(built) == 0
    tasks = TaskSet(files / "d")
    for line in lines(out):
        survey = tasks.topic(line["id"])
        assert (dict(survey.prompts), survey.domain) == (line["prompts"], line["domain"])
    assert "flag" not in capsys.readouterr().out


def test_a_file_of_prompts_for_other_surveys(files):
    (files / "p").write_text('{"id": "z", "prompts": {}}\n')
    source = PromptedSource(JsonLines(files / "papers", files / "surveys"), files / "p")
    with pytest.raises(DataError, match="p: the source has no survey 'z'"):
        build(source, files / "d")


@pytest.mark.parametrize("line", ["[]", "{}", '{"id": 5}', '{"survey": "s"}'])
def test_a_file_of_prompts_without_ids(files, line):
    (files / "p").write_text(line)
    source = PromptedSource(JsonLines(files / "papers", files / "surveys"), files / "p")
    with pytest.raises(DataError, match="p line 1: expected an object with the id"):
        build(source, files / "d")


def test_prompts_in_a_release(tmp_path):
    """Another file of prompts runs the last stages again, and no other."""
    folder = tmp_path / "release"
    folder.mkdir()
    papers = [
        {"id": "p", "title": "Fish", "date": "2018", "abstract": "Fish."},
        {"id": "s", "title": "A Survey of Reefs", "date": "2020-05-01", "is_survey": True,
         "references": ["p"]},
    ]  # fmt: skip
    with gzip.open(folder / "papers.gz", "wt") as file:
        file.writelines(json.dumps(paper) + "\n" for paper in papers)
    out = tmp_path / "c"

    def run(**settings: Any) -> list[str]:
        config = read_config(
            {"full_text_only": False, "surveys": {"title": "survey", "judge": "all"}, **settings}
        )
        done: list[str] = []
        build = plan("toy", ToyRelease(folder), out, config, workers=1)
        run_stages(build, None, lambda stage, report, now: done.append(stage) if now else None)
        return done

    assert len(run()) == 6
    assert dict(TaskSet(out).topic("s").prompts) == {}
    prompts = tmp_path / "prompts.jsonl"
    line = {"id": "s", "prompts": {"sentence": "Write before May 2020."}, "domain": "Seas"}
    prompts.write_text(json.dumps(line) + "\n")
    assert run(prompts=str(prompts)) == ["index", "card"]
    survey = TaskSet(out).topic("s")
    assert (dict(survey.prompts), survey.domain) == (line["prompts"], "Seas")
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["counts"]["prompts"] == 1 and str(tmp_path) not in json.dumps(manifest)
    with pytest.raises(DataError, match=r"is not a file\. Write it with `arena-corpus prompts`"):
        run(prompts=str(tmp_path / "none"))


def test_domains():
    assert read_domain("<think>Finance?</think>Unknown") == "Unknown"
    assert len(DOMAINS) == 10
    assert all(read_domain(f"- {name.upper()}.") == name for name in DOMAINS)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        ("On fish, before May 2020.", "another day than the one that was asked for: 2020-05"),
        ("On fish, before 4 May 2020.", "another day than the one that was asked for: 2020-05-04"),
        ("On the reefs of fish, before 3 May 2020.", "title of the survey"),
    ],
)
def test_a_prompt_that_is_refused(answer, reason):
    with pytest.raises(ParseError, match=reason):
        read_prompt(answer, "Reefs", "2020-05-03", [])
