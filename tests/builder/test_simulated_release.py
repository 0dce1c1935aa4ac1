"""Synthetic corpora as files of a release: in the format of real samples, nothing lost."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers import Memory, contents
from simulated_release import corpus_id, simulate

from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.manifest import verify
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

CONFIG = SyntheticConfig(papers=700, surveys=8, seed=5)
# All titles of a synthetic corpus' surveys, and no other.
TITLES = "survey|review|overview|^recent advances in|progress and open problems$|^trends in"


def rows(release: Path, dataset: str) -> list[dict[str, Any]]:
    found = []
    for path in sorted((release / dataset).iterdir()):
        with gzip.open(path) as lines:
            found += [json.loads(line) for line in lines]
    return found


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("simulate") / "release"
    simulate(CONFIG, directory, shards=3)
    return directory


# --- nothing is lost -----------------------------------------------------------------------------


def as_the_format_has_it(release: Path) -> tuple[Memory, dict[str, Any]]:
    """Return the synthetic corpus' records, less what a release cannot tell; and its papers by id.

    No day is known of a date on the first of a month, since real releases write that for a month.
    """
    listed = {str(row["corpusid"]): row for row in rows(release, "papers")}
    papers, surveys = [], []
    for paper in SyntheticCorpus(CONFIG).papers():
        date = paper["date"]
        if date is not None and date.endswith("-01") and len(date) == len("2024-02-06"):
            date = date[:7]
        references = [{**r, "id": str(corpus_id(r["id"]))} for r in paper["references"]]
        told = {**paper, "id": str(corpus_id(paper["id"])), "date": date, "references": references}
        papers.append({**told, "sections": []})
        if paper["is_survey"]:
            keys = ("id", "title", "date", "references")
            row = listed[told["id"]]
            counts = {"n_references_total": row["referencecount"]}
            counts |= {"survey_citations": row["citationcount"]}
            surveys.append({**{key: told[key] for key in keys}, **counts})
    sections = {
        str(corpus_id(paper["id"])): paper["sections"] for paper in SyntheticCorpus(CONFIG).papers()
    }
    return Memory(papers, surveys), sections


def build_release(release: Path, output: Path, *more: str, workers: int = 1) -> None:
    changes = ["full_text_only=false", 'index.fields=["title","abstract"]', "surveys.judge=all"]
    changes += [f"surveys.title={TITLES}", *more]
    options = [part for change in changes for part in ("--set", change)]
    command = ["build", "s2orc", "--input", release, "--output", output, "--workers", workers]
    assert main([*map(str, command), "--memory", "2GB", *options]) == 0
    assert verify(output)["problems"] == {}


SAME = ("papers.parquet", "references.parquet", "tasks/gold.parquet", "tasks/topics.parquet",
        "lookup/cited.npy", "lookup/citing.npy", "lookup/days.npy", "index/bm25/terms.bin",
        "index/bm25/docs.npy", "index/bm25/pair_tfs.npy")  # fmt: skip


def same_texts(corpus: Path, release: Path, sections: dict[str, Any], dataset: str) -> None:
    """Check the sections of `corpus`, but for the marks of citations and for paragraphs."""
    ids = pq.read_table(corpus / "papers.parquet").to_pylist()
    texts = {str(row["corpusid"]) for row in rows(release, dataset) if row["corpusid"] < 1 << 41}
    expected = {
        paper["id"]: [(s["heading"], s["text"]) for s in sections[paper["id"]]]
        for paper in ids
        if paper["id"] in texts and not paper["is_survey"] and paper["id"] in sections
    }
    found: dict[str, list[tuple[str, str]]] = {}
    for row in pq.read_table(corpus / "sections.parquet").to_pylist():
        text = " ".join(re.sub(r" \[[\d?]+\]", "", row["text"]).split())
        found.setdefault(ids[row["document"]]["id"], []).append((row["heading"], text))
    assert found == expected and len(found) > 50


def test_a_synthetic_through_a_release_is_that_synthetic_corpus(
    tmp_path: Path, release: Path
) -> None:
    source, sections = as_the_format_has_it(release)
    assert {p["id"] for p in source._papers if re.search(TITLES, p["title"], re.I)} == {
        survey["id"] for survey in source._surveys
    }
    build(source, tmp_path / "direct", fields=("title", "abstract"))
    build_release(release, tmp_path / "staged")
    direct, staged = contents(tmp_path / "direct"), contents(tmp_path / "staged")
    for name in SAME:
        assert staged[name] == direct[name], name
    same_texts(tmp_path / "staged", release, sections, "s2orc")
