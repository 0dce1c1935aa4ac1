"""TaxoBench's own surveys: trees by the expert, by clustering, at random, and broken ones."""

from __future__ import annotations

import json

import pytest

import arena
from arena.mindmap import random_map
from arena.suites import SUITES
from corpus_builder.build import build
from corpus_builder.sources.jsonl import JsonLines


@pytest.fixture(scope="module")
def records(real_data):
    path = real_data.directory / "taxobench" / "data.jsonl"
    if not path.is_file():
        pytest.skip(f"the real data is not here: {str(path)!r} is missing")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def clustered(records, tmp_path_factory):
    """Survey -> the tree that the agent clustering makes of the expert's papers."""
    folder = tmp_path_factory.mktemp("taxobench")
    papers, surveys = [], []
    for record in records:
        ids = {f"{record['id']}-{n}": paper for n, paper in enumerate(record["pdfs"])}
        papers += [
            {"id": name, "title": p["title"], "abstract": p["abs"] or "", "date": "2020-01-01"}
            for name, p in ids.items()
        ]
        surveys.append(
            {
                "id": f"s{record['id']}",
                "title": record["survey"],
                "abstract": "",
                "date": "2030-01-01",
                "references": list(ids),
                "mind_map": {"name": "x", "subtopics": [{"name": "y"}]},
            }
        )
    for name, lines in (("papers", papers), ("surveys", surveys)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
    build(JsonLines(folder / "papers.jsonl", folder / "surveys.jsonl"), folder / "corpus")
    arena.run(folder / "corpus", "organization", "clustering", folder / "run")
    titles = {paper["id"]: paper["title"] for paper in papers}
    trees = {}
    for line in (folder / "run" / "mind_maps.jsonl").read_text().splitlines():
        made = json.loads(line)
        trees[made["survey"].removeprefix("s")] = in_titles(made["mind_map"], titles)
    return trees


def in_titles(node, titles):
    return {
        "name": node["label"],
        "papers": [titles.get(paper, paper) for paper in node["papers"]],
        "subtopics": [in_titles(child, titles) for child in node["children"]],
    }


@pytest.fixture
def score(real_data, tmp_path):
    def run(trees, **options):
        made = tmp_path / "predictions.jsonl"
        lines = [json.dumps({"id": key, "hierarchy_tree": tree}) for key, tree in trees.items()]
        made.write_text("\n".join(lines))
        data = str(real_data.directory / "taxobench" / "data.jsonl")
        evaluate = SUITES.get("taxobench")
        return evaluate(data=data, predictions=str(made), **options)

    return run


@pytest.mark.parametrize("official", [False, True])
def test_clustering_is_between_the_expert_and_chance(records, clustered, score, official):
    expert = {record["id"]: record["gt"] for record in records}
    chance = {}
    for record in records:
        titles = [paper["title"] for paper in record["pdfs"]]
        chance[record["id"]] = in_titles(random_map(12, titles).to_json(), {})
    means = [score(trees, official=official).mean for trees in (expert, clustered, chance)]
    assert means[0]["ari"] == pytest.approx(1)
    assert means[0]["ari"] > means[1]["ari"] > means[2]["ari"]
    assert means[0]["sem_path"] == pytest.approx(1)
    assert abs(means[2]["ari"]) < 0.1
