"""Systems that are no single run: several runs pooled, files of answers, metrics added later."""

from __future__ import annotations

import csv
import json

import pytest
from compare_helpers import forge, topics_of

import arena
import arena.cli
from arena.answers import file_name
from arena.errors import DataError
from arena.results.comparison import as_json, as_latex, as_text
from arena.results.viewing import as_page
from arena.tasks import TaskSet
from arena.trec import read_run
from corpus_builder.build import build
from corpus_builder.sources.synthetic import SyntheticSource
from corpus_builder.synthetic import SyntheticConfig

HALVES = [0.5, 0.25, 0.75, 0.5, 0.25, 0.5, 1.0, 0.0]
QUARTERS = [0.25, 0.25, 0.5, 0.5, 0.5, 0.0, 0.75, 0.0]


def run(*arguments):
    return arena.cli.main(["compare", *map(str, arguments)])


@pytest.fixture(scope="module")
def topics(title_run):
    return topics_of(title_run)


@pytest.fixture
def forged(title_run, topics, tmp_path):
    def make(name, values, **options):
        scores = {"recall@10": dict(zip(topics, values, strict=True))}
        return forge(title_run, tmp_path / name, scores, **options)

    return make


def test_whole_clusters_are_flipped(forged, topics):
    """Differences are .25, 0, .25, 0, -.25, .5, .25 and 0; the first two are one cluster.

    At least 1 of the sum of 1 is left either way if the sign of nothing, or of one of the four
    clusters of .25, is against the others: 2 * 5 of the 2 ** 5 assignments of those not 0.
    """
    seven = dict(zip(topics, "aabcdefg", strict=True))
    runs = [
        forged(name, values, clusters=seven) for name, values in (("b", QUARTERS), ("a", HALVES))
    ]
    found = arena.compare(runs)
    (metric,) = found.metrics
    (difference,) = metric.differences
    assert metric.clusters == found.clustered == 7 and difference.difference == 1 / 8
    assert difference.p == 10 / 32 and difference.wins == 4
    for text in (as_text(found), as_latex(found), as_page(found).html):
        assert "over 8 topics in 7 clusters" in text
    told = as_json(found)
    assert told["clusters"] == told["metrics"]["recall@10"]["clusters"] == 7
    six = dict(zip(topics, "aabbcdef", strict=True))
    runs = [forged(f"{n}6", v, clusters=six) for n, v in (("b", QUARTERS), ("a", HALVES))]
    for test in ("fisher", "student"):
        found = arena.compare(runs, test=test)
        (difference,) = found.metrics[0].differences
        assert difference.p is difference.corrected is None and not difference.significant
        assert difference.low < difference.difference < difference.high
        assert "no test over 8 topics in 6 clusters: it needs 7 clusters" in as_text(found)
        assert "the difference is not tested" in as_text(found)


def test_several_runs_of_one_system(forged, topics):
    """A topic's value is the mean over the runs: .375, .25, .625, .5, .375, .25, .875, 0."""
    one, two, other = forged("one", HALVES), forged("two", QUARTERS), forged("other", HALVES)
    found = arena.compare([f"A={one},{two}", f"B={other}"])
    (metric,) = found.metrics
    values = {name: dict(zip(metric.topics, v, strict=True)) for name, v in metric.values.items()}
    mean = [0.375, 0.25, 0.625, 0.5, 0.375, 0.25, 0.875, 0.0]
    assert values == {
        name: dict(zip(topics, v, strict=True)) for name, v in (("A", mean), ("B", HALVES))
    }
    assert found.efforts["A"].searches == 2 * found.efforts["B"].searches
    assert found.metrics[0].ceiling == 1.0
    text = as_text(found)
    assert "A pools 2 runs over 1 corpus: a topic's value is the mean over its runs." in text
    assert as_json(found)["runs"]["A"]["pooled"] == {"runs": 2, "corpora": 1}
    assert as_page(found).html
    with pytest.raises(DataError, match="is given twice"):
        arena.compare([f"A={one},{one}", other])


def test_runs_over_several_corpora(title_run, tmp_path):
    build(SyntheticSource(SyntheticConfig(seed=8, papers=300, surveys=4)), tmp_path / "other")
    runs = {}
    for agent in ("title", "random"):
        arena.run(tmp_path / "other", "discovery", agent, tmp_path / agent)
        runs[agent] = tmp_path / agent
    with pytest.raises(DataError, match="over different corpora: pool runs of the same"):
        arena.compare([f"A={title_run},{runs['title']}", f"B={runs['random']}"])
    other = forge(title_run, tmp_path / "again")
    found = arena.compare([f"A={title_run},{runs['title']}", f"B={other},{runs['random']}"])
    assert len(found.topics) == 8 + 4 and len({s.partition(":")[0] for s in found.topics}) == 2
    assert "A pools 2 runs over 2 corpora" in as_text(found)
    assert set(found.gold) == set(found.topics) and as_page(found).html
    with pytest.raises(DataError, match="of several corpora: leave --corpus out"):
        arena.compare([f"A={title_run},{runs['title']}"], corpus=tmp_path / "other")


def test_a_trec_run_of_another_system(title_run, synthetic, topics, tmp_path, capsys):
    """The run's own file is the same system; other topics are counted and left out."""
    text = (title_run / "run.trec").read_text()
    lines = [line for line in text.splitlines() if not line.startswith(topics[0])]
    (tmp_path / "rival.trec").write_text(
        "\n".join([*lines, "nowhere Q0 p 1 1.0 x", f"{topics[1]} Q0 of-nobody 9 0.5 x", ""])
    )
    files = [f"title={title_run}", f"rival={tmp_path / 'rival.trec'}"]
    found = arena.compare(files, corpus=synthetic)
    for metric in found.metrics:
        mine, theirs = (dict(zip(metric.topics, v, strict=True)) for v in metric.values.values())
        assert theirs == mine | {topics[0]: 0.0}
    said = as_text(found)
    assert "rival: 1 topic that no run played, left out." in said
    assert "rival: 1 ranked paper is not visible at the topic's cutoff." in said
    assert said.count("rival submitted nothing") == said.count("submitted nothing") == 1
    page = tmp_path / "page.html"
    assert run(*files, "--corpus", synthetic, "--html", page, "--format", "latex") == 0
    assert "rival" in capsys.readouterr().out and "rival" in page.read_text()
    assert run(*files, "--corpus", synthetic, "--json") == 0
    assert list(json.loads(capsys.readouterr().out)["runs"]) == ["title", "rival"]
    assert run(*files) == 2
    assert "name the --corpus" in capsys.readouterr().err
    (tmp_path / "nobody.trec").write_text("nowhere Q0 p 1 1.0 x\n")
    assert run(title_run, tmp_path / "nobody.trec", "--corpus", synthetic) == 2
    assert "answers none of the 8 topics of the runs; it has nowhere" in capsys.readouterr().err
    assert run(tmp_path / "nobody.trec", "--corpus", synthetic) == 2
    assert "name a run, too" in capsys.readouterr().err


def test_rankings_of_topics_in_json_lines(title_run, synthetic, topics, tmp_path, capsys):
    """The form of LitSearch's results: what is asked, and the retrieved ids."""
    ranked, asked = read_run(title_run / "run.trec"), TaskSet(synthetic).topics
    rows = [
        {"query": asked[topic].text, "retrieved": [paper for paper, _ in ranked[topic]] * 2}
        for topic in topics[1:]
    ]
    (tmp_path / "rival.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = [f"title={title_run}", f"rival={tmp_path / 'rival.jsonl'}"]
    for metric in arena.compare(files, corpus=synthetic).metrics:
        mine, theirs = (dict(zip(metric.topics, v, strict=True)) for v in metric.values.values())
        assert theirs == mine | {topics[0]: 0.0}
    (tmp_path / "rival.jsonl").write_text('{"query": "a", "retrieved": []}\n{"query": "b"}\n')
    assert run(*files, "--corpus", synthetic) == 2
    assert "rival.jsonl line 2: give JSON with `query`" in capsys.readouterr().err


def test_maps_and_reports_of_another_system(synthetic, tmp_path, capsys):
    arena.run(synthetic, "organization", "clustering", tmp_path / "maps")
    rows = [json.loads(x) for x in (tmp_path / "maps" / "mind_maps.jsonl").read_text().splitlines()]
    lines = [{"topic_id": row["topic_id"], "mind_map": row["mind_map"]} for row in rows]
    lines[1]["mind_map"] = 5
    (tmp_path / "maps.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = arena.compare([tmp_path / "maps", f"r={tmp_path / 'maps.jsonl'}"], corpus=synthetic)
    for metric in found.metrics:
        mine, theirs = metric.values.values()
        differing = {s for s, a, b in zip(metric.topics, mine, theirs, strict=True) if a != b}
        assert differing <= {lines[1]["topic_id"]}
    assert "r: 1 topic that cannot be read, scored as nothing submitted." in as_text(found)
    assert as_page(found, synthetic).html
    with (tmp_path / "maps.jsonl").open("a") as file:
        file.write(json.dumps(lines[2]) + "\n")
    assert run(tmp_path / "maps", tmp_path / "maps.jsonl", "--corpus", synthetic) == 2
    told = f"line {len(lines) + 1}: a second answer of '{lines[2]['topic_id']}'."
    assert told in capsys.readouterr().err

    arena.run(synthetic, "report", "digest", tmp_path / "reports")
    folder = tmp_path / "texts"
    folder.mkdir()
    for row in (tmp_path / "reports" / "reports.jsonl").read_text().splitlines():
        told = json.loads(row)
        (folder / f"{file_name(told['topic_id'])}.md").write_text(told["report"])
    found = arena.compare([f"digest={tmp_path / 'reports'}", f"mine={folder}"], corpus=synthetic)
    for metric in found.metrics:
        if metric.metric != "unseen_rate":  # no file says what its system saw
            assert metric.values["digest"] == metric.values["mine"]
    (folder / "odd.jsonl").write_text('{"topic": 1}\n')
    assert run(tmp_path / "reports", folder / "odd.jsonl", "--corpus", synthetic) == 2
    assert "line 1: '{\"topic\": 1}' is not a JSON object" in capsys.readouterr().err


def test_metrics_that_no_run_reported(title_run, synthetic, tmp_path, capsys):
    arena.run(synthetic, "discovery", "random", tmp_path / "random")
    runs = [title_run, tmp_path / "random"]
    assert run(*runs, "--metric", "ndcg@7") == 2
    assert "With the --corpus they are scored by others" in capsys.readouterr().err
    assert run(*runs, "--metric", "ndcg@7", "--corpus", synthetic, "--format", "csv") == 0
    header, *lines = csv.reader(capsys.readouterr().out.splitlines())
    scored = arena.rescore(title_run, synthetic, ["ndcg@7"])
    assert header[-1] == "ndcg@7"
    assert {line[2]: float(line[3]) for line in lines if line[1].startswith("title")} == {
        "mean": scored["mean"]["ndcg@7"],
        **{topic: row["ndcg@7"] for topic, row in scored["per_topic"].items()},
    }
    found = arena.compare(runs, metrics=["ndcg@7"], corpus=synthetic)
    assert found.metrics[0].ceiling == 1.0 and found.metrics[0].differences[0].low is not None
