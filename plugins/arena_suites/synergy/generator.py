"""A made-up review in SYNERGY's form, for tests; nothing in it is true."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus


def write_review(output: Path, papers: int = 600, seed: int = 7) -> None:
    """Write a release folder: the papers of a synthetic corpus, and one survey as the review."""
    corpus = SyntheticCorpus(
        SyntheticConfig(seed=seed, papers=papers, surveys=1, undated=0, year_only=0)
    )
    works, (review,) = list(corpus.papers()), list(corpus.surveys())
    included = {each["id"] for each in review["references"]}
    ids = {work["id"]: f"https://openalex.org/W{n}" for n, work in enumerate(works, 1)}
    output.mkdir(parents=True, exist_ok=True)
    rows = [f"{ids[each]},,,{int(each in included)}\n" for each in sorted(ids)]
    (output / "labels.csv").write_text("openalex_id,doi,pmid,label_included\n" + "".join(rows))
    with zipfile.ZipFile(output / "works_1.zip", "w") as archive:
        for start in range(0, papers, 25):
            listed = [_work(each, ids) for each in works[start : start + 25]]
            name = zipfile.ZipInfo(f"works_{start}_{start + len(listed)}.json")
            archive.writestr(name, json.dumps(listed))
    criteria = {"eligibility_criteria": f"Papers on {review['cluster']}."}
    date = {"publication_date": (review["date"] + "-28")[:10]}
    about = {"key": output.name, "publication": criteria}
    (output / "metadata.json").write_text(json.dumps(about))
    (output / "metadata_publication.json").write_text(json.dumps({"title": review["title"]} | date))


def _work(paper: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(paper["abstract"].split()):
        index.setdefault(word, []).append(place)
    cited = [ids[each["id"]] for each in paper["references"]]
    work = {"id": ids[paper["id"]], "title": paper["title"], "abstract_inverted_index": index}
    return work | {"publication_date": (paper["date"] + "-28")[:10], "referenced_works": cited}
