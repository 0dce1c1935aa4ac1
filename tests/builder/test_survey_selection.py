"""The stage ``surveys``: candidates, abstracts, verdicts, kills, and what its output depends on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kills import kill_when
from llm_server import LLMServer
from select_helpers import lines, parsed, run_surveys, verdicts

from arena.errors import DataError
from corpus_builder.stages import read_config
from corpus_builder.stages.surveys import title_pattern

pytestmark = pytest.mark.usefixtures("alone")

PAPERS = [
    {"id": "9", "title": "Graphs: A Survey", "abstract": "We review the literature."},
    {"id": "10", "title": "The Tall Sky Survey", "abstract": "We map 9 galaxies."},
    {"id": "é", "title": "SURVEYS of methods", "text_abstract": "This survey reviews methods."},
    {"id": "a", "title": "Graphs", "abstract": "We survey graphs."},
    {"id": "b", "title": "Surveyable proofs"},
    {"id": "c", "title": "Cheese survey", "abstract": ""},
    {"id": "d", "title": "A Review of Graphs", "abstract": "We review the literature."},
    {"id": "e", "title": "Graphs, told again", "is_survey": True, "abstract": "We review graphs."},
]


def configured(**surveys):
    return read_config({"surveys": surveys})


def test_candidates_in_order_and_the_report(tmp_path):
    plan = parsed(tmp_path / "out", PAPERS)
    assert run_surveys(plan) == {
        "candidates": 5, "by_title": 4, "flagged_by_release": 1, "judge": "rules",
        "verdicts": {"survey": 3, "other": 1, "unread": 1}, "discarded": 0.2,
    }  # fmt: skip
    assert list(verdicts(plan).items()) == [
        ("10", "other"), ("9", "survey"), ("c", "unread"), ("e", "survey"), ("é", "survey"),
    ]  # fmt: skip
    judged = lines(plan.stage("surveys") / "judged.jsonl")
    assert [entry["id"] for entry in judged] == ["10", "9", "c", "e", "é"]
    assert [entry["flagged"] for entry in judged] == [False, False, False, True, False]
    assert judged[0]["reason"] == "title: sky" and "abstract" not in judged[0]


@pytest.mark.parametrize(
    ("title", "ids"),
    [("survey|review", {"10", "9", "c", "d", "e", "é"}), ("review", {"d", "e"}),
     ("Survey", {"10", "9", "c", "e", "é"}), (r"\bsurvey", {"10", "9", "b", "c", "e", "é"}),
     (r"^the tall", {"10", "e"}), ("overview", {"e"}), ("it's", {"e"})],
)  # fmt: skip
def test_the_pattern(tmp_path, title, ids):
    plan = parsed(tmp_path / "out", PAPERS, configured(title=title, judge="all"))
    run_surveys(plan)
    assert set(verdicts(plan)) == ids


@pytest.mark.parametrize("title", ["(", "(?=survey)", "x*", ".*"])
def test_patterns_that_cannot_be(title):
    with pytest.raises(DataError, match=r"surveys\.title="):
        title_pattern(title)


def test_the_judge_reads_what_the_corpus_shows(tmp_path):
    title, abstract = "RETRACTED: <i>Cheese</i> &amp; wine, a survey", "<p>We review cheese.</p>"
    plan = parsed(tmp_path / "out", [{"id": "c", "title": title, "abstract": abstract}])
    run_surveys(plan)
    (entry,) = lines(plan.stage("surveys") / "judged.jsonl")
    assert (entry["title"], entry["verdict"]) == ("Cheese & wine, a survey", "survey")


def test_nothing_found(tmp_path):
    plan = parsed(tmp_path / "out", [{"id": "a", "title": "Graphs"}])
    assert run_surveys(plan)["discarded"] is None
    assert verdicts(plan) == {}
    assert (plan.stage("surveys") / "judged.jsonl").read_bytes() == b""


def outputs(plan):
    return {name: (plan.stage("surveys") / name).read_bytes()
            for name in ("candidates.parquet", "judged.jsonl")}  # fmt: skip


# A process of its own, so that it can be killed.
CHILD = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from select_helpers import run_surveys
from arena.executors import EXECUTORS
from corpus_builder.release import RecordLimits
from corpus_builder.stages import Plan, read_config
config = read_config({{"surveys": {{"judge": "llm", "options": {options!r}}}}})
plan = Plan("toy", None, Path({output!r}), config, 1 << 30, 2,
            EXECUTORS.get("local")(1), RecordLimits())
run_surveys(plan)
"""


def child(output, options):
    code = CHILD.format(tests=str(Path(__file__).parents[1]), options=options, output=str(output))
    return subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"OPENAI_API_KEY": "k"})


def run_llm(plan, options):
    run_surveys(plan._replace(config=configured(judge="llm", options=options)))


@pytest.mark.slow
def test_killed_and_resumed_asks_nothing_twice(tmp_path):
    """Killed after 30, 60 and 90 answers, it ends with the bytes of a run that was left alone."""
    papers = [{"id": f"p{n:03}", "title": f"Survey {n}", "abstract": f"{n}."} for n in range(150)]

    def script(body):
        return str(int(re.search(r"Survey (\d+)", body["messages"][0]["content"])[1]) % 7 != 0)

    with LLMServer(script) as server:
        options = {"model": "scripted", "base_url": server.url, "max_parallel": 2,
                   "store": str(tmp_path / "killed.jsonl")}  # fmt: skip
        killed = parsed(tmp_path / "killed", papers)
        for count in (30, 60, 90):
            process = child(killed.output, options)
            assert kill_when(process, lambda n=count: len(server.requests) >= n)
            assert not (killed.stage("surveys") / "candidates.parquet").exists()
        run_llm(killed, options)
        assert len(server.requests) <= 150 + 3 * 2  # what was under way at a kill is asked again
        seen = len(server.requests)
        whole = parsed(tmp_path / "whole", papers)
        run_llm(whole, options | {"store": str(tmp_path / "whole.jsonl")})
        assert len(server.requests) == seen + 150
    assert outputs(killed) == outputs(whole)
    replayed = parsed(tmp_path / "replayed", papers)
    run_llm(replayed, options | {"mode": "replay", "base_url": "http://127.0.0.1:9/v1"})
    assert outputs(replayed) == outputs(whole)
    assert list(verdicts(whole).values()).count("other") == 22  # multiples of 7 below 150
