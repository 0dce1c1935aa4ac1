"""Corpora as data sets: what others load of one, what they cannot, and the way back."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from test_corpus_cli import fails

from arena.corpus import layout
from arena.errors import DataError
from corpus_builder.build import build
from corpus_builder.dataset.export import export_dataset
from corpus_builder.sources.dataset import DataSet

LABELS = ["labels/mindmaps.parquet", "labels/qrels.parquet"]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is fetched; and `datasets` leaves torch, which it would only ask about itself."""
    config = pytest.importorskip("datasets").config
    for name, value in {"HF_HUB_OFFLINE": True, "TORCH_AVAILABLE": False}.items():
        monkeypatch.setattr(config, name, value)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cards have no pictures, which take long to draw."""
    monkeypatch.setattr("corpus_builder.card.page.find_spec", lambda _: None)


@pytest.fixture(scope="module")
def exported(mini: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`mini` with its full texts."""
    output = tmp_path_factory.mktemp("exported") / "mini"
    export_dataset(mini, output, full_text="CC BY 4.0")
    return output


def load(path: Path, *config: str) -> Any:
    import datasets

    return datasets.load_dataset(str(path), *config)["full"]


def manifest(corpus: Path) -> dict[str, Any]:
    return layout.read_manifest(corpus)


def test_datasets_loads_every_configuration_and_papers_by_default(exported: Path) -> None:
    papers = load(exported, "papers")
    assert load(exported).column_names == papers.column_names
    assert not {"canary", "relevance", "mind_map", "topic_id"} & set(papers.column_names)
    assert papers.num_rows == 17
    assert [papers[0][key] for key in ("id", "title")] == ["p:old", "Early Indexing"]
    assert str(papers[7]["date"]), papers[7]["date_precision"] == ("2020-12-31", "year")
    cited = load(exported, "citations")
    assert [tuple(row.values()) for row in cited] == [
        ("p:day", "p:old", False),
        ("p:day", "p:leap", True),
        ("12345", "p:day", False),
        ("p:same", "12345", False),
        ("p:later", "p:same", False),
    ]
    texts = load(exported, "full_texts")
    assert [texts[1][key] for key in ("paper_id", "position", "heading")] == [
        "p:day", 1, "2 Method",
    ]  # fmt: skip
    assert load(exported, "topics")["id"][:] == ["sv:1", "sv:2", "sv:3"]


def test_qrels_have_what_is_in_reach_and_what_is_not(exported: Path) -> None:
    rows = load(exported, "qrels")
    of = {row["paper_id"]: row for row in rows if row["topic_id"] == "sv:1"}
    assert {name: row["relevance"] for name, row in of.items() if row["relevance"]} == {
        "p:leap": 2, "p:day": 1, "12345": 1, "p:last": 1,
    }  # fmt: skip
    assert of["p:same"]["status"] == "not_before" and of["nowhere:3"]["status"] == "unknown"
    (map_,) = (row for row in load(exported, "mindmaps") if row["topic_id"] == "sv:1")
    assert json.loads(map_["mind_map"])["name"] == "Dense" and map_["n_references_total"] == 40


def test_label_files_alone_have_the_canary(exported: Path, mini: Path) -> None:
    canary = str(uuid.uuid5(uuid.NAMESPACE_URL, f"sha256:{manifest(mini)['content_sha256']}"))
    for path in exported.rglob("*.parquet"):
        name, schema = path.relative_to(exported).as_posix(), pq.read_schema(path)
        labels = name in LABELS
        assert labels == (canary.encode() in path.read_bytes()) == ("canary" in schema.names), name
        if labels:
            assert set(pq.read_table(path)["canary"].to_pylist()) == {canary}
    assert canary in (exported / "README.md").read_text()


def test_the_same_corpus_gives_the_same_bytes(exported: Path, mini: Path, tmp_path: Path) -> None:
    export_dataset(mini, tmp_path / "again", full_text="cc-by-4.0")
    for path in [path for path in exported.rglob("*") if path.is_file()]:
        again = tmp_path / "again" / path.relative_to(exported)
        assert path.read_bytes() == again.read_bytes(), path.name


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("corpus", ["mini", "synthetic"])
def test_a_corpus_that_comes_back_is_the_same(
    corpus: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    original = request.getfixturevalue(corpus)
    export_dataset(original, tmp_path / "out", full_text="cc0-1.0")
    build(DataSet(str(tmp_path / "out")), tmp_path / "back")
    before, after = manifest(original), manifest(tmp_path / "back")
    assert after["content_sha256"] == before["content_sha256"]
    assert after["tasks_sha256"] == before["tasks_sha256"]
    # References to unknown papers and why a survey was recognised are not in a corpus.
    lost = {"dangling_references", "survey_papers_unflagged", "placeholder_dates"}
    assert {k: v for k, v in after["counts"].items() if k not in lost} == {
        k: v for k, v in before["counts"].items() if k not in lost
    }


@pytest.mark.usefixtures("undrawn")
def test_without_full_texts_everything_else_comes_back(mini: Path, tmp_path: Path) -> None:
    about = export_dataset(mini, tmp_path / "out")
    assert "full_texts.parquet" not in about["files"]
    build(DataSet(str(tmp_path / "out")), tmp_path / "back")
    before, after = manifest(mini), manifest(tmp_path / "back")
    assert before["content_sha256"] != after["content_sha256"]
    assert after["counts"]["sections"] == 0
    for name in (layout.PAPERS, layout.REFERENCES, layout.TOPICS, layout.GOLD, layout.MIND_MAPS):
        assert before["files"][name] == after["files"][name], name
    assert [file["name"] for file in after["source"]["files"]][1:3] == LABELS


def test_croissant_is_valid_and_reads_the_records(exported: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    described = mlcroissant.Dataset(jsonld=exported / "croissant.json")
    assert not described.metadata.ctx.issues.errors
    first = next(iter(described.records("citations")))
    assert first == {
        "citations/citing": b"p:day", "citations/cited": b"p:old", "citations/influential": False,
    }  # fmt: skip


def test_the_card_and_the_environment(exported: Path) -> None:
    metadata = yaml.safe_load((exported / "README.md").read_text().split("---\n")[1])
    assert [c["config_name"] for c in metadata["configs"] if c.get("default")] == ["papers"]
    assert metadata["license"] == "unknown" and "rl-environment" in metadata["tags"]
    described = yaml.safe_load((exported / "environment.yaml").read_text())
    assert described["spec_version"] == "hf-env-0.1"
    assert [each["id"] for each in described["environments"]] == ["discovery", "organization"]
    assert all(each["config_name"] == "topics" for each in described["environments"])
    page = (exported / "README.md").read_text()
    assert "## What was lost, and why" in page and "Full texts are under cc-by-4.0" in page


SURGE = {"Title": "Toy nets", "Authors": ["A. One"], "Year": "2023", "Category": "cs.LG",
         "Date": "2023-05-04T09:00:00Z", "Abstract": "We...", "doc_id": 7}  # fmt: skip


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """Data sets of others: JSON lines, CSV with two splits, and Parquet."""
    for name in ("json", "csv", "parquet"):
        (tmp_path / name).mkdir()
    (tmp_path / "json/papers.jsonl").write_text(json.dumps(SURGE) + "\n")
    for split in ("train", "test"):
        (tmp_path / f"csv/{split}.csv").write_text(f"id,title,date\n1,Of {split},2020\n2,Of,\n")
    rows = {"id": [1, 2], "title": ["A", "B"], "date": [2020, 2021], "cites": [[], [1, 9]],
            "full": ["Text.", None]}  # fmt: skip
    pq.write_table(pa.table(rows), tmp_path / "parquet/a.parquet")
    return tmp_path


def papers(data: Path, **options: Any) -> list[dict[str, Any]]:
    return [place.record for place in DataSet(str(data), **options).papers()]


def test_columns_of_others_are_mapped(others: Path) -> None:
    columns = ("id=doc_id", "title=Title", "abstract=Abstract", "date=Date", "fields=Category")
    (paper,) = papers(others / "json", map=columns)
    assert paper.pop("date_guessed") is None
    assert paper == {
        "id": 7, "title": "Toy nets", "abstract": "We...", "date": "2023-05-04",
        "fields": ["cs.LG"], "Authors": ["A. One"], "Year": "2023",
    }  # fmt: skip
    _, paper = papers(others / "parquet", map=("references=cites", "sections=full"))
    assert (paper["references"], paper["sections"], paper["date"]) == ([1, 9], None, 2021)
    assert [each["title"] for each in papers(others / "csv", split="test")] == ["Of test", "Of"]


@pytest.mark.usefixtures("undrawn")
def test_tables_without_rows_are_left_out(others: Path) -> None:
    build(DataSet(str(others / "csv"), split="test"), others / "corpus")
    about = export_dataset(others / "corpus", others / "out")
    assert {*about["files"]} == {"README.md", "croissant.json", "papers.parquet"}
    assert load(others / "out")["title"][:] == ["Of test", "Of"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("json", "no column 'id'. It has 'Title, Authors"),
        ("json --map id=doc_id,title=Titel", "no column 'Titel'"),
        ("json --map id=doc_id,titles=Title", "Did you mean 'title'"),
        ("json --map id=doc_id,title=Authors", "papers line 1: title=['A. One']"),
        ("json --map id=doc_id,title=Title,date=Category", "'cs.LG' is not a date"),
        ("json --map id=doc_id,title=Title,authors=Category", "expected a list"),
        ("json --config other", "'other' not found. Available: ['default']"),
        ("csv", "name a --split: train, test."),
        ("broken", "Parquet magic bytes not found"),
        ("broken/a.parquet", "'broken/a.parquet' is a file. Name the folder that has it"),
        ("nobody/nothing", "cannot be read as a data set"),
    ],
)
def test_bad_data_sets_get_one_line_and_nothing_is_written(
    words: str, told: str, others: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(others)
    (others / "broken").mkdir()
    (others / "broken/a.parquet").write_text("PAR1, it says.")
    assert told in fails(capsys, "build", "dataset", *words.split(), "--output", "corpus")
    assert not [path for path in others.iterdir() if "corpus" in path.name]


def test_rows_out_of_order_and_a_corpus_are_refused(
    exported: Path, mini: Path, tmp_path: Path, capsys: Any
) -> None:
    copy = Path(shutil.copytree(exported, tmp_path / "copy"))
    table = pq.read_table(copy / "citations.parquet")
    pq.write_table(table.take([4, 0, 1, 2, 3]), copy / "citations.parquet")
    assert "citing is 'p:day'" in fails(
        capsys, "build", "dataset", copy, "--output", tmp_path / "c"
    )
    assert "is a built corpus" in fails(
        capsys, "build", "dataset", mini, "--output", tmp_path / "c"
    )


def test_rows_are_streamed(others: Path) -> None:
    """A file is read behind the papers before it; docs/building.md has the memory that takes."""
    (others / "parquet/b.parquet").write_text("PAR1, it says.")
    records = DataSet(str(others / "parquet")).papers()
    assert [next(records).record["title"] for _ in "AB"] == ["A", "B"]
    with pytest.raises(DataError, match="Parquet magic bytes not found"):
        next(records)


def test_only_texts_that_may_be_shared_are_exported(
    mini: Path, tmp_path: Path, capsys: Any
) -> None:
    words = ("export", "dataset", mini, "--output", tmp_path / "out")
    assert "lets others share them" in fails(capsys, *words, "--full-text", "cc-by-nd-4.0")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("kept")
    assert "contains other files" in fails(capsys, *words)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
