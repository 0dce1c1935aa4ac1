"""The real ReportBench, Bloom-Eval, TaxoBench, TaxoAlign, and the collection; skipped if absent.

The file surveys.jsonl has another person's joins of the same surveys to the same papers.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from arena.mindmap import read_mind_map
from corpus_builder.build import build
from corpus_builder.prompt_writing import check_prompt
from corpus_builder.records import level_of
from corpus_builder.sources import SOURCES
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.researcharena import survey, typology

PAPER_TEXTS = {
    "reportbench": ("reportbench", "reportbench"),
    "bloom-eval": ("bloom_eval", "bloom"),
    "taxobench": ("taxobench", "taxobench"),
    "taxoalign": ("taxonomies.jsonl", ""),
}


@pytest.fixture(scope="module")
def joined(real_data) -> dict[str, Any]:
    """Name -> (surveys by id, the yield)."""
    found = {}
    for name, (path, _) in PAPER_TEXTS.items():
        if not (real_data.directory / path).exists():
            pytest.skip(f"the real data is not here: {path!r} is missing")
        dates = real_data.surveys if name == "taxobench" else None
        source = SOURCES.get(name)(real_data.directory / path, real_data.papers, dates)
        surveys = {place.record["id"]: place.record for place in source.surveys()}
        found[name] = surveys, source.describe()["yield"]
    return found


@pytest.fixture(scope="module")
def titles(real_data) -> dict[str, str]:
    """The letters of every title, by id."""
    return {
        place.record["id"]: "".join(filter(str.isalnum, place.record["title"].lower()))
        for place in JsonLinesFile(real_data.papers, "papers")
    }


@pytest.mark.parametrize(
    ("name", "surveys", "total"),
    [
        ("reportbench", 54, (8310, 298, 1747, 6100, 165)),
        ("bloom-eval", 13, (2471, 0, 2441, 19, 11)),
        ("taxobench", 3, (138, 0, 138, 0, 0)),
    ],
)
def test_yields(joined, name, surveys, total):
    """As docs/published.md has them."""
    found = joined[name][1]
    counts = found["total"]
    assert found["surveys"] == surveys
    assert total == tuple(
        counts[key] for key in ("listed", "by_id", "by_title", "not_found", "repeated")
    )


@pytest.mark.parametrize(("name", "least"), [("reportbench", 0.99), ("bloom-eval", 0.99),
                                             ("taxobench", 1.0)])  # fmt: skip
def test_agreement_with_another_join(joined, titles, real_data, name, least):
    """The same work under another id counts as agreement, so titles are compared, and letters."""
    prefix = PAPER_TEXTS[name][1]
    theirs = {s["id"]: s["references"] for s in real_data.read().surveys}
    both = either = 0
    for survey_id, record in joined[name][0].items():
        ours = {titles[paper] for paper in record["references"]}
        other = {titles[paper] for paper in theirs[f"{prefix}:{survey_id.split(':')[1]}"]}
        both, either = both + len(ours & other), either + len(ours | other)
    assert both >= least * either > 100


def test_every_survey_of_reportbench_has_its_prompt_and_day(joined, real_data):
    others = {s["id"]: s for s in real_data.read().surveys}
    for survey_id, record in joined["reportbench"][0].items():
        assert record["prompt"] == others[survey_id]["prompt"] != ""
        assert record["date"] == others[survey_id]["date"]


def test_influential_where_numbers_are_explained(joined, real_data):
    """cs_08 is where the order of the data set and the numbers of the article part."""
    surveys = joined["bloom-eval"][0]
    numbered = {key.split(":")[1] for key, record in surveys.items() if "influential" in record}
    assert numbered == {"cs_03", "cs_04", "cs_07", "cs_08"}
    others = {s["id"]: set(s["influential"] or ()) for s in real_data.read().surveys
              if s["source"] == "bloom_eval"}  # fmt: skip
    assert set(surveys["bloom-eval:cs_07"]["influential"]) == others["bloom:cs_07"]
    # The text has "Learning without Memorizing (LwM) [49]", [49] twice more, and Grad-CAM [50]
    # once; in the data set Grad-CAM stands at 49.
    memorizing, grad_cam = "t:d59cc305c7e0", "t:9270fce33b95"
    assert memorizing in surveys["bloom-eval:cs_08"]["influential"]
    assert grad_cam not in surveys["bloom-eval:cs_08"]["influential"]
    assert {memorizing, grad_cam} & others["bloom:cs_08"] == {grad_cam}


def test_taxonomies_are_maps(joined):
    assert joined["taxoalign"][1]["surveys"] == 131
    assert len(joined["taxoalign"][1]["left_out_undated"]) == 202
    assert joined["taxoalign"][1]["unusable_mind_maps"] == []
    for record in joined["taxobench"][0].values():
        tree, told = read_mind_map(record["mind_map"])
        assert told == [] and set(tree.all_papers()) == set(record["references"])


def test_taxobench_completed_by_the_papers_that_it_lists(joined, real_data, tmp_path):
    """As docs/taxobench.md has it: 62 papers have no date, 2 are late, 3 are surveys."""
    source = SOURCES.get("taxobench")(
        real_data.directory / "taxobench", real_data.papers, real_data.surveys, listed_papers=True
    )
    counts = build(source, tmp_path / "corpus", engines=())["counts"]
    assert source.describe()["listed_papers"] == {"dated": 62, "added": 0}
    found = {key: counts[f"survey_references_{key}"] for key in ("gold", "not_before", "survey")}
    assert found == {"gold": 133, "not_before": 2, "survey": 3}
    assert counts["papers_date_guessed"] == 62


def test_the_published_surveys_of_researcharena(real_data):
    path = real_data.directory / "researcharena" / "survey.jsonl"
    if not path.is_file():
        pytest.skip(f"the real data is not here: {str(path)!r} is missing")
    patients, chains = (survey(place.record) for place in JsonLinesFile(path, "surveys"))
    assert patients["id"] == "263621678" and patients["n_references_total"] == 52
    assert len(patients["references"]) == 18 and typology(patients["mind_map"]) is None
    assert chains["n_references_total"] == 247
    assert [entry["influential"] for entry in chains["references"]] == [True] * 16 + [False] * 27
    labels = typology(chains["mind_map"]).labels()
    assert "Hybrid Protocols" in labels and not {"example", "examples"} & set(labels)
    assert json.loads(chains["mind_map"]).keys() <= set(labels)


def test_prompts_of_reportbench(joined):
    """10 of 54 contain a reference's title; all but one name a cutoff."""
    flags: dict[str, set[str]] = {}
    for id_, record in joined["reportbench"][0].items():
        prompt = record["prompt"]
        found = check_prompt("", prompt, record["title"], record["date"], record["listed_titles"])
        for flag in found:
            flags.setdefault(flag.flag, set()).add(id_)
    assert {name: len(ids) for name, ids in flags.items()} == {
        "reference_title": 10, "no_cutoff": 1, "other_cutoff": 37,
    }  # fmt: skip
    assert flags["no_cutoff"] == {"reportbench:2302.10588"}
    levels = Counter(level_of(record["prompt"]) for record in joined["reportbench"][0].values())
    assert levels == {"sentence": 23, "paragraph": 18, "detailed": 13}
