"""Tables whose rows are split by the domain or the prompt of the surveys."""

from __future__ import annotations

from helpers import Memory

import arena
from corpus_builder.build import build

PAPERS = [
    {"id": "a", "title": "Reefs and fish", "date": "2015", "abstract": "Coral."},
    {"id": "b", "title": "Dunes and wind", "date": "2016", "abstract": "Sand."},
]
SURVEYS = [
    {"id": f"s{n}", "title": title, "date": "2020", "references": cited, "domain": domain,
     "prompts": {level: "Write. Before 2020."}}
    for n, (title, cited, domain, level) in enumerate([
        ("Reefs and fish reviewed", ["a"], "Seas", "sentence"),
        ("Dunes and wind reviewed", ["a"], "Seas", "detailed"),
        ("Reefs reviewed", ["a"], "Land", "detailed"),
        ("Winds reviewed", [], "Land", "detailed"),
    ])
]  # fmt: skip
CONFIG = {
    "name": "parts",
    "retrievers": {"BM25": "bm25"},
    "tables": {
        "one": {
            "task": "discovery", "metrics": {"P": "precision@1"}, "columns": "metrics",
            "by": "domain", "rows": {"Title": "title"},
        },
        "two": {
            "task": "discovery", "metrics": {"P": "precision@1"}, "columns": "metrics",
            "by": "prompt", "rows": {"Title": "title"}, "more": {"Ceiling": "oracle"},
        },
    },
}  # fmt: skip


def test_parts_by_hand(tmp_path):
    build(Memory(PAPERS, SURVEYS), tmp_path / "corpus")
    content = arena.run_experiment(CONFIG, tmp_path / "corpus", tmp_path / "out")
    (one,), (two,) = (content["tables"][name]["blocks"] for name in ("one", "two"))
    assert one["header"] == ["Agent", "Domain", "Surveys", "P"]
    # The search for dunes and wind finds b first; a survey without gold is in no part.
    assert one["rows"] == [["Title", "Land", "1", "1.0000"], ["Title", "Seas", "2", "0.5000"]]
    assert two["rows"] == [
        ["Title", "detailed", "2", "0.5000"],
        ["Title", "sentence", "1", "1.0000"],
        ["Ceiling", "detailed", "2", "1.0000"],
        ["Ceiling", "sentence", "1", "1.0000"],
    ]
