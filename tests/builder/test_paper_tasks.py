"""Tasks of ordinary papers: which, their labels, the split and the hashes, by hand; no leaks."""

from __future__ import annotations

import datetime as dt
import json
import math

import gymnasium
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import Memory, contents

import arena
import arena.cli
import corpus_builder.cli
from arena.corpus import Corpus
from arena.errors import CorpusError
from arena.tasks import TaskSet
from arena.testing import audit
from arena.testing.stored import StoredCorpus
from corpus_builder.build import build
from corpus_builder.paper_tasks import write_paper_tasks
from corpus_builder.sources.example import Example

OPTIONS = {"least": 1, "test": ["s1"]}  # s1 is of 2016-05-02, the other survey of 1950


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    directory = tmp_path_factory.mktemp("paper-tasks") / "corpus"
    build(Example(), directory)
    return directory


@pytest.fixture
def tasks(tiny, tmp_path):
    write_paper_tasks(tiny, tmp_path / "tasks", **OPTIONS)
    return tmp_path / "tasks"


@pytest.fixture(scope="module")
def synthetic_tasks(synthetic, tmp_path_factory):
    directory = tmp_path_factory.mktemp("synthetic-tasks") / "tasks"
    write_paper_tasks(synthetic, directory, least=3)
    return directory


def test_the_tasks_of_the_example_by_hand(tiny, tasks):
    # p8 is later than s1; p6 and p7 are surveys; p1 cites nothing; p5 has no date.
    task_set = TaskSet(Corpus(tiny, tasks=tasks))
    assert {key: (task.text, task.date) for key, task in task_set.topics.items()} == {
        "9": ("Caching Posting Lists", "2012-12-12"),
        "p2": ("Ranking by Probability of Relevance", "2010-03-31"),
        "p3": ("Neural Ranking of Passages", "2015-06-01"),
        "p4": ("Dense Retrieval with Two Encoders", "2016-01-20"),
    }
    gains = {key: task_set.gold(key).gains for key in task_set.topics}
    assert gains == {"9": {"p1": 1}, "p2": {"p1": 1}, "p3": {"p1": 1, "p2": 2}, "p4": {"p3": 1}}
    assert task_set.gold("p3")[1:] == (2, 2)  # "lost:17" is no paper of the corpus
    manifest = json.loads((tasks / "manifest.json").read_bytes())
    assert manifest["corpus"] == Corpus(tiny).sha256
    assert manifest["options"] == OPTIONS | {"max_tasks": None, "seed": 0, "before": "2016-05-02"}
    assert manifest["counts"] == {
        "candidates": 4, "same_title": 0, "tasks": 4, "labels": 5, "influential": 1,
    }  # fmt: skip
    assert not list(StoredCorpus(tiny, tasks).broken_rules())


def test_options_and_hashes(tiny, tmp_path):
    def made(name, **options):
        manifest = write_paper_tasks(tiny, tmp_path / name, **OPTIONS | options)
        return manifest, list(TaskSet(Corpus(tiny, tasks=tmp_path / name)).topics)

    before = contents(tiny)
    assert made("two", least=2)[1] == ["p3"]
    assert made("day", before="2015-06-01")[1] == ["9", "p2"]  # p3 is of that day
    (every, ids), (four, same) = made("every"), made("four", max_tasks=4)
    assert ids == same
    assert every["tasks_sha256"] == four["tasks_sha256"] != made("again")[0]["manifest_sha256"]
    assert every["manifest_sha256"] != four["manifest_sha256"]
    assert contents(tmp_path / "again") == contents(tmp_path / "every")
    drawn = [set(made(f"most{n}", max_tasks=n)[1]) for n in (1, 2, 3)]
    assert [len(some) for some in drawn] == [1, 2, 3]
    assert drawn[0] < drawn[1] < drawn[2]
    assert len({made(f"seed{n}", max_tasks=1, seed=n)[1][0] for n in range(9)}) > 1
    assert made("again", least=2, overwrite=True)[0]["tasks_sha256"] != every["tasks_sha256"]
    assert contents(tmp_path / "again") == contents(tmp_path / "two")
    assert contents(tiny) == before


def test_twins_and_later_references(tmp_path):
    papers = [
        {"id": "a", "title": "Alpha", "date": "2010"},
        {"id": "b", "title": "Beta", "date": "2011", "references": ["a", "c"]},
        {"id": "c", "title": "Gamma", "date": "2012", "references": ["a"]},
        {"id": "d", "title": "Gamma!", "date": "2013", "references": ["a"]},
    ]
    build(Memory(papers, []), tmp_path / "corpus")
    write_paper_tasks(tmp_path / "corpus", tmp_path / "tasks", least=1)
    task_set = TaskSet(Corpus(tmp_path / "corpus", tasks=tmp_path / "tasks"))
    assert {key: task_set.gold(key) for key in task_set.topics} == {"b": ({"a": 1}, 2, 2)}


def test_an_episode_hides_its_paper_and_scores_what_it_cites(tiny, tasks):
    with gymnasium.make("arena/Selection-v0", corpus=tiny, tasks=tasks) as env:

        def call(tool, **arguments):
            return json.loads(env.step({"tool": tool, "arguments": arguments})[0]["result"])

        observation, info = env.reset(options={"topic_id": "p3"})
        assert observation["topic"] == "neural ranking of passages"
        assert (observation["cutoff"], info) == ("2015-06-01", {"topic_id": "p3"})
        hits = call("search", query="neural ranking of passages")["hits"]
        assert [hit["id"] for hit in hits] == ["p2"]
        refused = [call("read", paper_id=name)["error"] for name in ("p3", "xx")]
        assert refused[0].replace("p3", "xx") == refused[1]
        submit = {"tool": "submit", "arguments": {"paper_ids": ["p1", "p2"]}}
        *_, info = env.step(submit)
        expected = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))  # p2, of gain 2, is second
        assert info["metrics"]["ndcg@10"] == pytest.approx(expected)
        env.reset(options={"topic_id": "p4"})  # of a later day
        assert call("read", paper_id="p3")["title"] == "Neural Ranking of Passages"


def test_a_run_records_and_replays_them(synthetic, synthetic_tasks, tmp_path):
    for name, jobs in (("one", 1), ("two", 2)):
        played = tmp_path / name
        arena.run(
            synthetic, "discovery", "title", played, tasks=synthetic_tasks, topics=3, jobs=jobs
        )
    assert contents(tmp_path / "one") == contents(played)
    recorded = json.loads((played / "manifest.json").read_bytes())
    manifest = json.loads((synthetic_tasks / "manifest.json").read_bytes())
    assert recorded["sha256"]["tasks"] == manifest["tasks_sha256"]
    assert recorded["tasks"] == manifest["options"]
    assert arena.runs.verify(played, synthetic, tasks=synthetic_tasks).difference is None
    scored = arena.runs.rescore(played, synthetic, ["recall@100"], tasks=synthetic_tasks)
    summary = json.loads((played / "metrics.json").read_bytes())
    assert scored["mean"]["recall@100"] == summary["mean"]["recall@100"]
    with pytest.raises(CorpusError, match="another task set"):
        arena.runs.verify(played, synthetic)
    rest = ["--corpus", str(synthetic), "--tasks", str(synthetic_tasks)]
    run, made = str(played), tmp_path / "made"
    made.mkdir()
    for command in (
        ["score", "--task", "selection", f"{run}/run.trec"],
        ["compare", run, "--html", str(made / "page.html")],
        ["export", "inspect", run, "--output", str(made / "log.json")],
        ["experiment", "researcharena", "--output", str(made / "out"), "--agents", "title",
         "--tables", "1", "--set", "retrievers.Dense=bm25", "--topics", "2"],
    ):  # fmt: skip
        assert arena.cli.main([*command, *rest]) == 0
    assert arena.cli.main(["compare", run, "--html", str(made / "page.html"), *rest[:2]]) == 2
    experiment = json.loads((made / "out" / "experiment.json").read_bytes())
    assert experiment["sha256"]["tasks"] == manifest["tasks_sha256"]


def test_an_audit_of_them_is_clean(synthetic, synthetic_tasks, monkeypatch):
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    environments = ["arena/Discovery-v0", "arena/Selection-v0"]
    report = audit(synthetic, actions=1_200, environments=environments, tasks=synthetic_tasks)
    assert report.findings == []
    assert report.counts["topics"] > 20


def test_an_audit_finds_the_paper_itself(synthetic, synthetic_tasks, monkeypatch):
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    at = Corpus.at

    def a_day_late(self, day, exclude=(), **more):
        return at(self, dt.date.fromisoformat(day) + dt.timedelta(1), **more)

    monkeypatch.setattr(Corpus, "at", a_day_late)
    environments = ["arena/Discovery-v0"]
    report = audit(synthetic, actions=400, environments=environments, tasks=synthetic_tasks)
    shown = [finding for finding in report.findings if finding.check == "leak.paper"]
    assert any(f"topic {finding.what.split()[0]} " in finding.where for finding in shown)


@pytest.mark.parametrize(
    ("name", "change"),
    [("gold", lambda rows: rows.pop()), ("topics", lambda rows: rows[0].update(title="Another"))],
)
def test_an_audit_finds_tasks_that_are_not_what_the_papers_say(tiny, tasks, name, change):
    file = tasks / "tasks" / f"{name}.parquet"
    table = pq.read_table(file)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)
    assert {check for check, *_ in StoredCorpus(tiny, tasks).broken_rules()} == {"files.gold"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "no paper before 1950-12-31 cites 10"),
        ("--test s1 --least 3", "no paper before 2016-05-02 cites 3"),
        ("--test s1 --before 2017", "after the first test survey, 's1' of 2016-05-02"),
        ("--test s9", "no topic 's9'"),
        ("--least 0", "least=0"),
        ("--test s1 --output {tiny}/train", "inside the corpus"),
        ("--test s1 --output {tiny}/..", "exists"),
    ],
)
def test_the_command_refuses_in_one_line(tiny, tmp_path, capsys, options, message):
    given = ["--output", str(tmp_path / "tasks"), *options.format(tiny=tiny).split()]
    assert corpus_builder.cli.main(["tasks", str(tiny), *given]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "tasks").exists()
