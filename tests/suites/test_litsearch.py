"""LitSearch: its files by hand and made up, both protocols, its metrics, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arena
import arena.cli
import corpus_builder.cli
from arena.corpus import Corpus
from arena.errors import DataError
from arena.metrics import METRICS
from arena.tasks import TaskSet
from arena.testing import audit
from arena_suites.litsearch.generator import write_files
from corpus_builder.build import build
from corpus_builder.question_tasks import write_question_tasks
from corpus_builder.questions import read_questions
from corpus_builder.sources import SOURCES

ARXIV = {11: "2305.12345", 12: "cs/0301001", 13: None, 14: "2406.00001", 15: "2407.00002"}
CLEAN = [
    {"corpusid": 11, "title": "Toy nets", "abstract": "We play.", "citations": [12, 99],
     "full_paper": "Toy nets play."},
    {"corpusid": 12, "title": "Toy nets", "abstract": "", "citations": [], "full_paper": ""},
    {"corpusid": 13, "title": "Deep reefs", "abstract": None, "citations": [], "full_paper": "x"},
    {"corpusid": 14, "title": "", "abstract": "Low tides.", "citations": [], "full_paper": "x"},
    {"corpusid": 15, "title": "High tides", "abstract": "T.", "citations": [], "full_paper": "x"},
]  # fmt: skip
S2ORC = [
    {"corpusid": paper, "externalids": {"arxiv": arxiv, "doi": None, "mag": "1"}}
    for paper, arxiv in ARXIV.items()
]
QUERIES = [
    {"query_set": name, "query": text, "specificity": kind, "quality": 2, "corpusids": gold}
    for name, text, kind, gold in (
        ("inline_acl", "Papers on toy nets?", 0, [11, 12]),
        ("manual_iclr", "Who dives into reefs?", 1, [13]),
        ("inline_nonacl", "Who measures tides?", 1, [14]),
        ("manual_acl", "Who writes of high tides?", 1, [15]),
    )
]
GIVEN = {"query": QUERIES, "corpus_clean": CLEAN, "corpus_s2orc": S2ORC}


def files(folder: Path, **changed: object) -> Path:
    """Write the three configurations; those in `changed` have other rows."""
    for name, rows in (GIVEN | changed).items():
        (folder / name).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), folder / name / "full-00000-of-00001.parquet")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the files, and a corpus and tasks of either protocol."""
    folder = tmp_path_factory.mktemp("litsearch")
    given = files(folder / "data")
    for name, option in ("dated", {}), ("published", {"as_published": True}):
        build(SOURCES.get("litsearch")(given, **option), folder / name, engines=["bm25"])
        write_question_tasks(folder / name, folder / f"{name}-tasks", {"litsearch": given})
    return folder


def tasks_of(folder: Path, name: str) -> TaskSet:
    return TaskSet(Corpus(folder / name, tasks=folder / f"{name}-tasks"))


def test_files_by_hand_become_a_dated_corpus(folder):
    rows = pq.read_table(folder / "dated" / "papers.parquet").to_pylist()
    assert {row["id"]: str(row["date"]) for row in rows} == {
        "11": "2023-05-31",  # the last day of the month of the id
        "12": "2003-01-31",
        "13": "None",
        "14": "2024-06-30",
        "15": "2024-07-31",
    }
    assert {row["id"]: row["title"] for row in rows}["14"] == "(no title) 14"
    view = Corpus.open(folder / "dated").at("2024-07-01")
    assert [paper for paper in ARXIV if str(paper) in view] == [11, 12, 14]
    assert view.references("11") == ["12"]  # 99 is no paper of the corpus


def test_dated_queries_have_one_cutoff_and_a_ceiling(folder, tmp_path):
    tasks, given = tasks_of(folder, "dated"), {"litsearch": folder / "data"}
    assert {topic.date for topic in tasks.topics.values()} == {"2024-07-01"}
    assert (tasks.unit, tasks.options["before"]) == ("question", "2024-07-01")
    assert {topic: [*tasks.gold(topic).gains] for topic in tasks.topics} == {
        "litsearch:0": ["12", "11"], "litsearch:1": [], "litsearch:2": ["14"], "litsearch:3": [],
    }  # fmt: skip
    found = write_question_tasks(folder / "dated", tmp_path / "t", given, before="2024")
    counts = found["counts"]
    assert (counts["playable"], counts["ceiling"]) == (1, 1.0)
    assert (counts["undated"], counts["not_before"], counts["unknown"]) == (1, 2, 0)


def test_as_published_everything_is_in_reach_and_undated(folder, capsys):
    tasks = tasks_of(folder, "published")
    assert tasks.undated and tasks.unit == "undated question" and tasks.options["undated"]
    assert [len(tasks.gold(topic).gains) for topic in tasks.topics] == [2, 1, 1, 1]
    assert corpus_builder.cli.main(["info", str(folder / "published")]) == 0
    said = capsys.readouterr().out
    assert "undated: 5 papers have one day" in said
    assert "never tried on the published files" in said


def test_scores_of_a_foreign_ranking_by_hand(folder, tmp_path):
    """`LitSearch.title_abstract.bm25.jsonl`: a row of queries with what was retrieved."""
    wrong = [15, 11, 12, 14, 99]  # for the first: 11 at rank 2, 12 at rank 3
    retrieved = [wrong, [13], [11, 12, 15, 13, 99, 14], [14]]
    path = tmp_path / "LitSearch.title_abstract.bm25.jsonl"
    rows = [row | {"retrieved": ids} for row, ids in zip(QUERIES, retrieved, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = ["recall@5", "recall@20", "broad_recall@5", "specific_recall@5", "specific_recall@20",
             "inline_specific_recall@5", "author_specific_recall@20", "inline_broad_recall@20",
             "author_broad_recall@20", "broad_ndcg@10", "ndcg_by_rank@10"]  # fmt: skip
    run = folder / "oracle"
    arena.run(folder / "published", "question", "oracle", run, tasks=folder / "published-tasks",
              metrics=names)  # fmt: skip
    corpus = Corpus(folder / "published", tasks=folder / "published-tasks")
    found = arena.compare([run, f"bm25={path}"], corpus=corpus)
    means = {table.metric: table.means for table in found.metrics}
    of = {name: means[name]["bm25"].mean for name in names if means[name]}
    assert of == {
        "recall@5": 2 / 4,  # 1, 1, 0, 0
        "recall@20": 3 / 4,  # 1, 1, 1, 0
        "broad_recall@5": 1.0,
        "specific_recall@5": pytest.approx(1 / 3),
        "specific_recall@20": pytest.approx(2 / 3),
        "inline_specific_recall@5": 0.0,
        "author_specific_recall@20": 1 / 2,
        "inline_broad_recall@20": 1.0,
        # 1/log2(3) + 1/log2(4), over 1/log2(2) + 1/log2(3)
        "broad_ndcg@10": pytest.approx((0.63093 + 0.5) / 1.63093, abs=1e-5),
        # (1/2 + 1/3) / (1 + 1/2); 1; 1/6; 0
        "ndcg_by_rank@10": pytest.approx((5 / 9 + 1 + 1 / 6 + 0) / 4),
    }
    assert "author_broad_recall@20" not in of  # there is no such query
    assert found.unit == "undated question"


def test_ndcg_by_rank_differs_from_ndcg():
    gains, ranking = {"a": 1, "b": 1}, ["x", "a", "b"]
    by_rank, usual = (METRICS.get(name)(ranking, gains) for name in ("ndcg_by_rank", "ndcg"))
    assert by_rank == pytest.approx((1 / 2 + 1 / 3) / (1 + 1 / 2))
    assert usual == pytest.approx(0.693426, abs=1e-6)
    assert METRICS.get("ndcg_by_rank")(ranking, gains, k=1) == 0


def test_kinds_of_queries_never_reach_an_agent(folder):
    tasks = tasks_of(folder, "published")
    assert tasks.labels("litsearch:0") == {"family": "inline", "specificity": "broad"}
    assert tasks.labels("litsearch:1") == {"family": "author", "specificity": "specific"}
    given = {"corpus": folder / "published", "tasks": folder / "published-tasks"}
    with gymnasium.make("arena/Question-v0", **given) as env:
        observation, info = env.reset(options={"topic_id": "litsearch:0"})
    shown = json.dumps([observation, info], default=str)
    assert "toy nets" in shown
    assert not [word for word in ("inline", "broad", "specific") if f'"{word}"' in shown]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["published", "dated"])
def test_the_audit_of_both_protocols_is_clean(folder, name):
    given = {"tasks": folder / f"{name}-tasks", "environments": ["arena/Question-v0"]}
    assert audit(folder / name, actions=100, **given).findings == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"corpus_clean": [{"corpusid": 1, "title": "T", "abstract": "A"}]},
         "corpus_clean/full-00000-of-00001.parquet row 1: 'citations' is missing"),
        ({"corpus_clean": [CLEAN[0], CLEAN[1] | {"corpusid": None}]},
         "parquet row 2: 'corpusid' is None"),
        ({"corpus_clean": [CLEAN[0] | {"citations": ["12"]}]},
         "row 1: 'citations' is ['12']: expected corpusids, integers"),
        ({"corpus_s2orc": [{"corpusid": 11, "externalids": "2305.1"}]},
         "corpus_s2orc/full-00000-of-00001.parquet row 1: 'externalids' is"),
        ({"corpus_s2orc": [{"corpusid": 11, "externalids": {"arxiv": 23, "doi": None}}]},
         "row 1: 'externalids': 'arxiv' is 23"),
        ({"query": [QUERIES[0], QUERIES[1] | {"specificity": 7}]},
         "query/full-00000-of-00001.parquet row 2: 'specificity' is unknown: 7"),
        ({"query": [QUERIES[0] | {"query_set": "web"}]}, "row 1: 'query_set' is unknown: 'web'"),
    ],
)  # fmt: skip
def test_what_differs_is_named_with_column_and_row(tmp_path, changed, message):
    folder = files(tmp_path / "data", **changed)
    with pytest.raises(DataError) as error:
        list(SOURCES.get("litsearch")(folder).papers()), read_questions("litsearch", folder)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_missing_and_damaged_files_are_refused(tmp_path):
    folder = files(tmp_path / "data")
    whole = folder / "corpus_s2orc" / "full-00000-of-00001.parquet"
    whole.rename(first := whole.with_name("full-00000-of-00008.parquet"))
    with pytest.raises(DataError, match=r"has 1 of 8 files full-\*-of-\*\.parquet"):
        SOURCES.get("litsearch")(folder)
    SOURCES.get("litsearch")(folder, as_published=True)  # needs no identifiers
    first.write_bytes(b"<html>")
    first.rename(whole)
    with pytest.raises(DataError, match=r"full-00000-of-00001\.parquet after row 0: .* Get it"):
        list(SOURCES.get("litsearch")(folder).papers())


def test_made_up_files_are_repeatable_and_go_through_every_row(tmp_path, capsys):
    for name in ("a", "b"):
        write_files(tmp_path / name, papers=150, queries=8)
    made = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.parquet"))
    assert len(made) == 1 + 2 + 3
    assert all((tmp_path / "a" / p).read_bytes() == (tmp_path / "b" / p).read_bytes() for p in made)

    def call(program: object, *words: object) -> str:
        assert program([str(word) for word in words]) == 0
        return capsys.readouterr().out

    corpus, tasks = tmp_path / "corpus", tmp_path / "tasks"
    make, play = corpus_builder.cli.main, arena.cli.main
    call(make, "build", "litsearch", "--as-published", "--input", tmp_path / "a", "--output",
         corpus, "--engines", "bm25,dense")  # fmt: skip
    given = ["--questions", f"litsearch={tmp_path / 'a'}", "--output", tasks]
    assert "undated: it hides no paper" in call(make, "tasks", corpus, *given)
    text = call(play, "experiment", "litsearch", "--corpus", corpus, "--tasks", tasks, "--output",
                tmp_path / "rows", "--topics", 4)  # fmt: skip
    for title in ("Table 3 (undated)", "Table sets (undated)", "Table ndcg (undated)"):
        assert title in text
    for row in ("Title, BM25", "Title, Dense", "Title, Hybrid", "Scout", "Ranker", "Ceiling"):
        assert row in text
    assert "GritLM-7B" in (tmp_path / "rows" / "tables.md").read_text()
    run = tmp_path / "rows" / "runs" / "question" / "ranker" / "hybrid"
    assert "undated questions" in call(play, "compare", run)
    assert "never tried on its published files" in call(play, "list", "sources")
