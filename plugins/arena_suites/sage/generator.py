"""Made-up files in SAGE's form, for tests; nothing in them is true."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.kit.files import write_json
from arena_suites.sage.questions import DOMAINS, FOLDERS


def write_files(output: Path, titles: Sequence[str]) -> None:
    """Write a short and an open question of each domain; gold are the titles, in their order."""
    papers = [{"paperId": f"{number:040x}", "title": title} for number, title in enumerate(titles)]
    for number, domain in enumerate(DOMAINS):
        one, *others = (papers[(number + i) % len(papers)] for i in range(min(4, len(papers))))
        names = {"paper_id": one["paperId"], "paper_title": one["title"]}
        short: dict[str, Any] = {**names, "complete_query": f"Which paper is {domain} {number}?"}
        truth = {"most_relevant": [one, *others[:1]], "relevant": others[1:]}
        open_ended = {
            "question": f"What is known of {domain}?", "generation_plan": one["title"],
            "source_paper_id": one["paperId"], "source_paper_title": one["title"],
            "cited_paper_id": "", "cited_paper_title": "", "ground_truth": truth,
        }  # fmt: skip
        for folder in FOLDERS.values():
            (output / folder).mkdir(parents=True, exist_ok=True)
        write_json(output / FOLDERS["short"] / f"{domain}.json", [{**short, "ground_truth": one}])
        write_json(output / FOLDERS["open"] / f"{domain}.json", {"questions": [open_ended]})
