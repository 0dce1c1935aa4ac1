"""Every suite names parts that the gym has."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import bibtexparser
import pytest
import yaml

from arena import cli
from arena.suites import SUITES, Evaluation, OutputPath, Suite
from arena_suites.experiments import read_experiment
from corpus_builder.sources import SOURCES


@pytest.mark.parametrize("name", ["bloom-eval", "reportbench", "taxobench"])
def test_a_suite_has_a_source_and_an_experiment_of_its_name(name):
    assert name in SOURCES.names()
    assert read_experiment(name).name == name


@pytest.mark.parametrize("name", SUITES.names())
def test_a_suite_scores_one_system_or_compares_several(name):
    options = inspect.signature(SUITES.get(name), eval_str=True).parameters
    assert [each.annotation for each in options.values()].count(OutputPath) == 1
    assert "only" in options


@pytest.mark.parametrize("name", [*SUITES.names(), "researcharena"])
def test_cite_prints_an_entry_of_its_authors(name, capsys):
    assert cli.main(["cite", name]) == 0
    library = bibtexparser.parse_string(capsys.readouterr().out)
    assert not library.failed_blocks and library.entries
    assert all({"title", "author", "year"} <= entry.fields_dict.keys() for entry in library.entries)
    assert cli.main(["cite", "--json"]) == 0
    assert library.entries[-1].key in json.loads(capsys.readouterr().out)[name]


def test_the_entries_of_the_gym_are_those_of_its_citation_file(capsys):
    root = Path(__file__).parents[2]
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert cli.main(["cite", "researcharena"]) == 0
    printed = bibtexparser.parse_string(capsys.readouterr().out).entries
    for entry, known in zip(printed, (cited, cited["preferred-citation"]), strict=True):
        fields = {key: field.value for key, field in entry.fields_dict.items()}
        title = " ".join(fields["title"].replace("{", "").replace("}", "").split())
        assert title == known["title"]
        assert (
            known["title"]
            and fields["year"] == str(known.get("date-released", known.get("year")))[:4]
        )
        assert fields.get("version") == known.get("version")


def test_cite_names_the_nearest_and_what_a_suite_lacks(capsys, monkeypatch):
    assert cli.main(["cite", "taxobenhc"]) == 2
    assert "Did you mean 'taxobench'" in capsys.readouterr().err
    monkeypatch.setitem(SUITES._items, "mine", Suite(lambda: None))
    assert cli.main(["cite", "mine"]) == 2
    assert "no benchmark with an entry is called 'mine'" in capsys.readouterr().err


def test_groups_have_means_of_their_own():
    surveys = {
        name: {"f1": f1} for name, f1 in zip("abcde", (0.5, 1.0, 0.0, 0.2, None), strict=True)
    }
    groups = {"a": "X", "b": "X", "c": "X", "d": "Y", "e": "Y"}
    found = Evaluation({"f1": 0.5}, surveys, [], groups=groups, left_out={"c"})
    assert found.group_means() == {
        "X": {"topics": 2, "mean": {"f1": 0.75}}, "Y": {"topics": 1, "mean": {"f1": 0.2}},
    }  # fmt: skip
    assert found.to_json()["groups"] == found.group_means()
    assert found.table()[1][-3:] == [
        ("mean, X", 0.75, "over 2"), ("mean, Y", 0.2, "over 1"), ("mean", 0.5, ""),
    ]  # fmt: skip


GOLD = {
    "name": "A",
    "subtopics": [{"name": "B", "papers": ["x", "y"]}, {"name": "C", "papers": ["z"]}],
}
LESS = {"name": "A", "subtopics": [{"name": "B", "papers": ["x", "y"]}]}


@pytest.fixture
def systems(tmp_path):
    """TaxoBench's command with three surveys: `whole` has trees of two, `less` of all."""
    lines = {
        "data": [{"id": i, "gt": GOLD} for i in "abc"],
        "whole": [{"id": i, "tree": GOLD} for i in "ab"],
        "less": [{"id": i, "tree": LESS} for i in "abc"],
    }
    for name, records in lines.items():
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in records))

    def evaluate(*options):
        made = [f"--system={name}={tmp_path / name}" for name in ("less", "whole")]
        return cli.main(
            ["evaluate", "taxobench", "--data", str(tmp_path / "data"), *made, *options]
        )

    return evaluate


def test_systems_are_compared_survey_by_survey(systems, capsys):
    assert systems("--json") == 0
    found = json.loads(capsys.readouterr().out)
    recall = found["metrics"]["leaf_recall"]
    # The third survey of `whole` is missing, so it counts as 0.
    assert recall["per_topic"]["c"] == {"less": 2 / 3, "whole": 0.0}
    assert [recall["means"][name]["mean"] for name in ("less", "whole")] == [2 / 3, 2 / 3]
    (pair,) = recall["differences"]
    assert (pair["run"], pair["against"]) == ("whole", "less")
    assert (pair["wins"], pair["ties"], pair["losses"]) == (2, 0, 1)
    assert found["metrics"]["normalised_ted"]["lower_is_better"] is True
    assert found["systems"]["whole"]["missing"] == ["c"]
    # The released scorer leaves it out, so it counts for neither.
    assert systems("--json", "--official", "--baseline", "whole") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["recall"]["topics"] == 2
    assert found["metrics"]["recall"]["means"]["less"]["mean"] == 2 / 3
    every = ", ".join(found["metrics"])
    assert f"{every}: 2 of 3 topics have a value for every system." in found["notes"]


def test_a_dry_run_counts_the_trees_of_all_systems(systems, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judge = [f"--llm-option={each}" for each in ("model=gpt-4o", "max_tokens=50", "store=s.db")]
    page = tmp_path / "page.html"
    monkeypatch.chdir(tmp_path)
    assert systems("--dry-run", "--json", "--page", str(page), *judge) == 0
    (asked,) = json.loads(capsys.readouterr().out)["requests"]
    # The surveys are alike, so the trees of each system are one request.
    assert asked["calls"] == 2 and asked["completion_tokens"] == 100
    assert asked["dollars"] == pytest.approx((asked["prompt_tokens"] * 2.5 + 100 * 10) / 1e6)
    assert not page.exists()
    assert systems("--dry-run") == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:2] == ["none", "0"]


def test_a_system_without_a_score_ends_no_comparison(systems, tmp_path, capsys):
    (tmp_path / "less").write_text("")
    assert systems("--official", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["recall"]["topics"] == 0
    every = ", ".join(found["metrics"])
    assert f"{every}: 0 of 3 topics have a value for every system." in found["notes"]
    (tmp_path / "whole").write_text("")
    assert systems("--official") == 2
    assert "no system has a score" in capsys.readouterr().err


def test_a_page_of_systems(systems, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert systems("--page", str(page)) == 0
    html = page.read_text()
    assert "taxobench: <bdi>less; whole</bdi>" in html and "<small>3 topics<" in html
    assert "less and whole have the same mean leaf_recall over 3 topics: 0.6667 against" in html
    assert 'href="#s' not in html  # there are no episodes to open
    first = page.read_bytes()
    assert systems("--page", str(page)) == 0
    assert page.read_bytes() == first
    words = ["--data", str(tmp_path / "data"), "--predictions", str(tmp_path / "less")]
    assert cli.main(["evaluate", "taxobench", *words, "--page", str(page)]) == 0
    html = page.read_text()
    assert "taxobench: <bdi>less</bdi> <small>3 topics<" in html
    assert "<strong>Needs a judge</strong>: coverage, organization, logic, topology." in html


def test_some_surveys_of_systems(systems, tmp_path, capsys):
    assert systems("--only", "b") == 0
    printed = capsys.readouterr().out
    assert re.search(r"leaf_recall +0\.6667 +1\.0000", printed)
    assert "no prediction" not in printed
    for options, message in {
        ("--only", "d"): "--only: no topic has the id 'd'. Known: a, b, c.",
        ("--baseline", "lees"): "no run named 'lees' is compared. Did you mean 'less'?",
        ("--page", str(tmp_path / "no" / "page.html")): "there is no directory",
        ("--predictions", "x"): "give --predictions, or --system NAME=PATH for each",
    }.items():
        assert systems(*options) == 2
        assert message in capsys.readouterr().err
