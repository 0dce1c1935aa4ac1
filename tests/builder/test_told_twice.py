"""A paper told twice: no record of it brings it in reach where another says that it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from release_helpers import citation, paper, write_shard

from corpus_builder.sources.s2orc import S2orc
from corpus_builder.stages import plan, read_config, run_stages


def built(root: Path, told: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    survey = paper(9, title="Reefs: a survey", year=2015, publicationdate="2015-06-15")
    write_shard(root / "papers" / "0.gz", [survey, paper(1, year=2010, publicationdate=None)])
    write_shard(root / "papers" / "1.gz", told)
    write_shard(root / "citations" / "0.gz", [citation("9", "1"), citation("9", "5")])
    config = read_config({"full_text_only": False, "max_rejected": 0.1})
    release = S2orc(root, reviews=True)
    run_stages(plan("s2orc", release, root / "c", config, workers=1, memory=1 << 30))
    rows = pq.read_table(root / "c" / "papers.parquet").to_pylist()
    return {row["id"]: row for row in rows}


@pytest.mark.parametrize("order", [1, -1])
def test_the_latest_date_counts(tmp_path: Path, order: int) -> None:
    early = paper(5, year=2010, publicationdate="2010-02-03")
    late = paper(5, year=2020, publicationdate=None)
    found = built(tmp_path, [early, late, paper(5, year=None, publicationdate=None)][::order])
    assert str(found["5"]["date"]) == "2020-12-31" and found["5"]["date_precision"] == "year"


@pytest.mark.parametrize("order", [1, -1])
def test_what_one_record_calls_a_survey_is_hidden(tmp_path: Path, order: int) -> None:
    found = built(tmp_path, [paper(5), paper(5, publicationtypes=["Review"])][::order])
    assert found["5"]["is_survey"] and not found["5"]["searchable"]


@pytest.mark.parametrize("order", [1, -1])
def test_the_cutoff_of_a_task_is_the_earliest_date(tmp_path: Path, order: int) -> None:
    """A paper from between the two dates of its survey may be later than that."""
    early = paper(9, title="Reefs: a survey", year=2012, publicationdate="2012-03-04")
    built(tmp_path, [early, paper(5, year=2013, publicationdate=None)][::order])
    (survey,) = pq.read_table(tmp_path / "c" / "tasks" / "surveys.parquet").to_pylist()
    assert (str(survey["date"]), survey["date_precision"]) == ("2012-03-04", "day")
    gold = pq.read_table(tmp_path / "c" / "tasks" / "gold.parquet").to_pylist()
    assert {row["reference"]: row["status"] for row in gold} == {"1": "gold", "5": "not_before"}
