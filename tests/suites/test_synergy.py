"""SYNERGY's files, made up, to a corpus; metrics of screening by hand; rankings in pieces."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import arena
from arena.errors import DataError
from arena.metrics import METRICS
from arena.runs import score
from arena.tasks import TaskSet
from arena_suites.synergy.generator import write_review
from corpus_builder.cli import main
from corpus_builder.sources import SOURCES


@pytest.fixture(scope="module")
def review(tmp_path_factory: Any) -> Path:
    folder: Path = tmp_path_factory.mktemp("synergy") / "Toy_2021"
    write_review(folder, papers=120)
    return folder


@pytest.fixture(scope="module")
def corpus(review: Path) -> Path:
    built = review.parent / "corpus"
    assert main(["build", "synergy", "--input", str(review), "--output", str(built)]) == 0
    return built


def scored(name: str, ranking: list[str], gold: str, papers: int) -> float | None:
    tasks = SimpleNamespace(in_reach=lambda topic: papers)
    found: float | None = METRICS.get(name)(ranking, dict.fromkeys(gold, 1), tasks=tasks)
    return found


def test_work_saved_is_counted_to_the_last_of_95_percent() -> None:
    first = [*"abcdefghijklmnopqrs"]  # 19 of 20 are 95 %
    gold = "abcdefghijklmnopqrst"
    assert scored("wss95", first, gold, 100) == pytest.approx((100 - 19) / 100 - 0.05)
    assert scored("wss95", ["x", *first], gold, 100) == pytest.approx((100 - 20) / 100 - 0.05)
    assert scored("wss95", ["a", "x", "b"], "ab", 10) == pytest.approx((10 - 3) / 10 - 0.05)


def test_a_ranking_that_never_has_95_percent_saves_nothing() -> None:
    assert scored("wss95", [*"abcdefghijklmnopqr"], "abcdefghijklmnopqrst", 100) == -0.05
    assert scored("wss95", [], "ab", 10) == -0.05


def test_recall_in_a_tenth_of_the_papers_in_reach() -> None:
    ranking = ["x", "a", "y", "b"]
    assert scored("recall_tenth", ranking, "abc", 29) == pytest.approx(1 / 3)  # the first two
    assert scored("recall_tenth", ranking, "abc", 40) == pytest.approx(2 / 3)
    assert scored("recall_tenth", ["a"], "ab", 5) == 0.5  # at least one is read


def test_papers_left_out_are_discovered_last() -> None:
    assert scored("atd", ["x", "a", "b"], "ab", 10) == pytest.approx((2 + 3) / 2 / 10)
    assert scored("atd", ["x", "a"], "abc", 10) == pytest.approx((2 + 9 + 10) / 3 / 10)
    assert scored("atd", [], "ab", 10) == pytest.approx((9 + 10) / 2 / 10)


def test_metrics_of_screening_refuse_a_cutoff_and_need_a_corpus() -> None:
    with pytest.raises(DataError, match="atd takes no cutoff"):
        METRICS.get("atd@5")(["a"], {"a": 1})
    with pytest.raises(DataError, match="counts the papers in reach"):
        METRICS.get("wss95")(["a"], {"a": 1})


def test_a_review_becomes_a_topic_with_its_criteria(review: Path, corpus: Path) -> None:
    tasks = TaskSet(corpus)
    (topic,) = tasks.topics.values()
    about = json.loads((review / "metadata.json").read_text())["publication"]
    published = json.loads((review / "metadata_publication.json").read_text())
    assert topic.text == f"{published['title']}. {about['eligibility_criteria']}"
    assert topic.date == published["publication_date"]
    assert tasks.in_reach(topic.id) == len(arena.Corpus.open(corpus).at(topic.date))
    labels = [row.split(",") for row in (review / "labels.csv").read_text().split()[1:]]
    included = {row[0].rpartition("/")[2] for row in labels if row[3] == "1"}
    assert set(tasks.gold(topic.id).gains) == included
    assert json.loads((corpus / "manifest.json").read_text())["source"]["note"].endswith(
        "never tried on the published files, only on made-up ones"
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("labels.csv", "openalex_id,label_included\nW1,yes\n", "labels.csv line 2"),
        ("labels.csv", "openalex_id,label_included\nA1,1\n", "labels.csv line 2"),
        ("metadata.json", '{"key": "x"}', "metadata.json: 'publication' is missing"),
        ("metadata.json", '{"key": "x", "publication": {"eligibility_criteria": [1]}}', "is [1]"),
        ("works_2.json", '{"id": "W1"}', "works_2.json work 1: 'id' is not a JSON object"),
        ("works_2.json", "5", "works_2.json work 1: None is not a JSON object"),
        ("works_2.json", '[{"id": "W1", "title": 5}]', "works_2.json work 1: 'title' is 5"),
        ("works_2.json", '[{"id": "W1", "authorships": 5}]', "'authorships' is 5"),
    ],
)
def test_what_differs_from_the_form_is_named(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    write_review(tmp_path, papers=40)
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as error:
        source: Any = SOURCES.get("synergy")
        made = source(tmp_path)
        list(made.papers()), list(made.surveys())
    assert message in str(error.value)


def test_damaged_files_are_named_and_those_that_are_read_are_hashed(tmp_path: Path) -> None:
    write_review(tmp_path, papers=40)
    archive, labels = tmp_path / "works_1.zip", tmp_path / "labels.csv"
    archive.rename(tmp_path / "moved")
    source: Any = SOURCES.get("synergy")
    with pytest.raises(DataError, match=r"has no works_\*\.zip"):
        source(tmp_path)
    (tmp_path / "works.d").mkdir()
    data = (tmp_path / "moved").rename(tmp_path / "works.d" / "works_1.zip").read_bytes()
    names = {"labels.csv", "metadata.json", "metadata_publication.json", "works.d/works_1.zip"}
    assert source(tmp_path).describe()["files"].keys() == names
    archive.write_bytes(data[:60] + bytes(30) + data[90:])
    with pytest.raises(DataError, match=r"works_1\.zip is damaged: .*Get it again"):
        list(source(tmp_path).papers())
    labels.write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"labels\.csv cannot be read: 'utf-8'"):
        list(source(tmp_path).surveys())
    labels.unlink()
    with pytest.raises(DataError, match=r"labels\.csv cannot be read: .*No such file"):
        list(source(tmp_path).surveys())


def test_a_ranking_is_submitted_in_pieces(corpus: Path, tmp_path: Path) -> None:
    import gymnasium

    env = gymnasium.make("arena/Screening-v0", corpus=str(corpus))
    _, info = env.reset()
    papers = [*TaskSet(corpus).gold(info["topic_id"]).gains]
    for tool, ids in (("select", papers[:2]), ("select", papers[1:3]), ("submit", papers[3:4])):
        *_, info = env.step({"tool": tool, "arguments": {"paper_ids": ids}})
    assert info["answers"] == {"screening": papers[:4]}
    assert info["metrics"]["wss95"] == -0.05


def test_a_file_is_scored_to_its_end(corpus: Path, tmp_path: Path) -> None:
    """The gold stands behind a thousand others, which other tasks do not read."""
    tasks = TaskSet(corpus)
    (topic,) = tasks.topics
    ranking = [f"none{number}" for number in range(1000)] + [*tasks.gold(topic).gains]
    lines = [f"{topic} Q0 {paper} {n} {-n} t\n" for n, paper in enumerate(ranking, 1)]
    (tmp_path / "file.trec").write_text("".join(lines))
    run = str(tmp_path / "file.trec")
    assert score(corpus, "screening", run, metrics=["recall"])["mean"] == {"recall": 1.0}
    assert score(corpus, "discovery", run, metrics=["recall"])["mean"] == {"recall": 0.0}
