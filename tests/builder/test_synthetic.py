"""The made-up field of science: its records are sound, tell no secrets, and come again."""

from __future__ import annotations

import calendar
import re

import numpy as np
import pytest
from helpers import NEVER, resolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.report import cited_ids
from arena.tasks import PROMPT_LEVELS
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus


def filed(node):
    """Yield (depth, id) for every paper of a mind-map."""
    yield from ((0, paper) for paper in node["papers"])
    for below in node["subtopics"]:
        yield from ((depth + 1, paper) for depth, paper in filed(below))


def names(node):
    yield node["name"]
    for below in node["subtopics"]:
        yield from names(below)


@pytest.fixture(scope="module")
def default():
    synthetic = SyntheticCorpus(SyntheticConfig())
    return list(synthetic.papers()), list(synthetic.surveys())


small_synthetic_corpora = st.builds(
    SyntheticConfig,
    seed=st.integers(0, 2**63 - 1),
    papers=st.integers(60, 700),
    surveys=st.integers(0, 6),
    depth=st.integers(1, 6),
    synonymy=st.floats(0, 1),
    citations=st.sampled_from(["even", "measured"]),
    distractors=st.floats(0, 1),
    reference_noise=st.floats(0, 1),
    year_only=st.floats(0, 1),
    influential=st.floats(0, 1),
    undated=st.floats(0, 0.3),
    first_year=st.integers(1000, 9000),
    years=st.integers(3, 60),
)


# --- the records ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(small_synthetic_corpora)
def test_every_synthetic_is_sound(config):
    synthetic = SyntheticCorpus(config)
    papers = {paper["id"]: paper for paper in synthetic.papers()}
    surveys = list(synthetic.surveys())
    assert len(papers) == config.papers
    assert len(surveys) == config.surveys

    end = config.first_year + config.years
    for paper in papers.values():
        day = resolve(paper["date"])
        assert day is NEVER or config.first_year <= day.year < end
        assert 4 <= len(paper["sections"]) <= 6
        assert re.search(r"\bmade up\b", paper["abstract"])
        cited = [reference["id"] for reference in paper["references"]]
        assert len(set(cited)) == len(cited)
        for one in cited:
            assert resolve(papers[one]["date"]) < day
            assert not papers[one]["is_survey"]

    titles = [paper["title"] for paper in papers.values()]
    for survey in surveys:
        paper = papers[survey["id"]]
        assert paper["is_survey"]
        assert (paper["title"], paper["date"]) == (survey["title"], survey["date"])
        assert paper["references"] == survey["references"]
        assert titles.count(survey["title"]) == 1
        cited = [reference["id"] for reference in survey["references"]]
        assert 1 <= len(cited) <= survey["n_references_total"]
        mind_map = survey["mind_map"]
        assert sorted(paper for _, paper in filed(mind_map)) == sorted(cited)
        assert mind_map["name"] in survey["title"]
        for node in mind_map["subtopics"]:
            assert list(filed(node)), "a branch without papers"


def test_ids_tell_nothing_of_topic_order_date_or_role(default):
    papers, surveys = default
    ids = [paper["id"] for paper in papers]
    assert all(re.fullmatch(r"w7-[0-9a-f]{10}", one) for one in ids)
    value = np.array([int(one[3:], 16) for one in ids], dtype=float)
    dated = [k for k, paper in enumerate(papers) if paper["date"]]
    day = np.array([resolve(papers[k]["date"]).toordinal() for k in dated], dtype=float)
    limit = 4 / np.sqrt(len(ids))  # four standard deviations of a chance correlation
    assert abs(np.corrcoef(value, np.arange(len(ids)))[0, 1]) < limit
    assert abs(np.corrcoef(value[dated], day)[0, 1]) < limit
    assert abs(np.corrcoef(dated, day)[0, 1]) < limit
    wanted = {reference["id"] for survey in surveys for reference in survey["references"]}
    marked = np.array([one in wanted for one in ids], dtype=float)
    assert abs(np.corrcoef(value, marked)[0, 1]) < limit
    for survey in surveys:
        cited = [reference["id"] for reference in survey["references"]]
        assert cited == sorted(cited), "the order of references tells which are off-topic"


def test_shares_are_as_configured():
    config = SyntheticConfig(papers=6000, year_only=0.3, undated=0.1, influential=0.25)
    synthetic = SyntheticCorpus(config)
    papers = [paper for paper in synthetic.papers() if not paper["is_survey"]]
    dates = [paper["date"] for paper in papers]
    dated = [date for date in dates if date]
    assert dates.count(None) / len(dates) == pytest.approx(0.1, abs=0.015)
    assert np.mean([len(date) == 4 for date in dated]) == pytest.approx(0.3, abs=0.02)
    assert {len(date) for date in dated} == {4, 7, 10}
    marks = [reference["influential"] for paper in papers for reference in paper["references"]]
    assert np.mean(marks) == pytest.approx(0.25, abs=0.01)
    marks = [r["influential"] for survey in synthetic.surveys() for r in survey["references"]]
    assert np.mean(marks) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_reference_noise_is_the_share_filed_under_related_areas(share):
    off = on = 0
    for survey in SyntheticCorpus(SyntheticConfig(reference_noise=share)).surveys():
        for node in survey["mind_map"]["subtopics"]:
            count = len(list(filed(node)))
            off, on = (off + count, on) if node["name"] == "Related Areas" else (off, on + count)
    assert off / (off + on) == pytest.approx(share, abs=0.01)


# --- the same synthetic corpus every time
# -------------------------------------------------------------------


def test_what_a_report_needs():
    """Prompts name topic and cutoff and no title; the article cites what the mind-map files."""
    synthetic = SyntheticCorpus(SyntheticConfig(papers=400, surveys=8, depth=2))
    titles = [paper["title"].lower() for paper in synthetic.papers()]
    for survey in synthetic.surveys():
        assert list(survey["prompts"]) == list(PROMPT_LEVELS)
        year, month, day = survey["date"].split("-")
        cutoff = f"{int(day)} {calendar.month_name[int(month)]} {year}"
        for prompt in survey["prompts"].values():
            assert survey["mind_map"]["name"].lower() in prompt and cutoff in prompt
            assert not any(title in prompt.lower() for title in titles)
        assert list(map(len, survey["prompts"].values())) == sorted(
            map(len, survey["prompts"].values())
        )
        filed_papers = [paper for _, paper in filed(survey["mind_map"])]
        assert cited_ids(survey["article"]) == filed_papers
        headings = [line.lstrip("# ") for line in survey["article"].splitlines() if line[:1] == "#"]
        assert headings == [survey["title"], *names(survey["mind_map"])]
        assert list(names(survey["outline"])) == list(names(survey["mind_map"]))
        assert "papers" not in survey["outline"]
        assert survey["cluster"] == survey["mind_map"]["name"]
