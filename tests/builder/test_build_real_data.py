"""Building from the real data, read a second time without any code of the project."""

from __future__ import annotations

import calendar
import datetime as dt
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from helpers import table

from arena.corpus import layout
from corpus_builder.manifest import verify


def last_day(date: str | None) -> dt.date | None:
    if date is None:
        return None
    year, month, day = (*map(int, date.split("-")), 0, 0)[:3]
    month = month or 12
    return dt.date(year, month, day or calendar.monthrange(year, month)[1])


def letters(title: str) -> str:
    import unicodedata

    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", title).casefold())


def test_real_corpus(real_data: Any, real_corpus: Path) -> None:
    papers, surveys = real_data.read()
    counts = json.loads((real_corpus / layout.MANIFEST).read_text())["counts"]
    assert (counts["papers"], counts["undated"], counts["surveys"]) == (29_168, 210, 76)

    days = {paper["id"]: last_day(paper["date"]) for paper in papers}
    titles, ids = {letters(s["title"]) for s in surveys}, {s["id"] for s in surveys}
    are_surveys = {
        paper["id"]
        for paper in papers
        if paper["is_survey_title"] or paper["id"] in ids or letters(paper["title"]) in titles
    }
    order = sorted(days, key=lambda id_: (days[id_] or dt.date.max, id_.encode()))
    rows = pq.read_table(real_corpus / layout.PAPERS, columns=["id", "date", "searchable"])
    assert list(zip(*rows.to_pydict().values(), strict=True)) == [
        (id_, days[id_], days[id_] is not None and id_ not in are_surveys) for id_ in order
    ]

    numbers = {id_: number for number, id_ in enumerate(order)}
    gold = set()
    for survey in surveys:
        day = last_day(survey["date"])
        for id_ in survey["references"]:
            if id_ not in days:
                status = "unknown"
            elif days[id_] is None:
                status = "undated"
            elif id_ in are_surveys:
                status = "survey"
            else:
                status = "gold" if days[id_] < day else "not_before"
            influential = id_ in (survey.get("influential") or [])
            gold.add((survey["id"], id_, influential, numbers.get(id_), status))
    stored = table(real_corpus / layout.GOLD)
    assert len(stored) == len(set(stored))
    assert set(stored) == gold
    by_status = Counter(row[4] for row in gold)
    for status in ("gold", "unknown", "undated", "survey", "not_before"):
        assert counts[f"survey_references_{status}"] == by_status[status]
    assert counts["surveys_with_gold"] == len({row[0] for row in gold if row[4] == "gold"})
    assert counts["survey_papers"] == len(are_surveys)
    assert verify(real_corpus)["problems"] == {}
