"""Generated surveys beside those of experts: means, tiers, agreement, the page, faults."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from arena import cli
from arena.suites import SUITES
from arena_suites.bloom_eval import TIERS, survey_metrics
from arena_suites.bloom_eval.tables import made_otherwise, tier_mean
from arena_suites.published import published

FLAT = "# {}\n\n## Graphs\n\nText.\n\n## <b>Trees</b>\n\nText.\n"
DEEP = "# {}\n\n## Graphs\n\nText.\n\n### Paths\n\nText.\n\n## Trees\n\nText.\n"
TOPICS = ("a", "b", "c", "d")


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """Four topics: equal outlines, 3 levels and 3 headings beside 2 and 2, none, one heading."""
    sides = {
        "human": dict.fromkeys(TOPICS, DEEP),
        "generated": {"a": DEEP, "b": FLAT, "d": "# {}\n\n## Graphs\n\nText.\n"},
    }
    for side, texts in sides.items():
        (tmp_path / side).mkdir()
        for topic, text in texts.items():
            (tmp_path / side / f"{topic}.md").write_text(text.format(topic))
    return {side: str(tmp_path / side) for side in sides}


def score(**options):
    result = SUITES.get("bloom-eval")(metrics=("scons",), **options).to_json()
    assert json.loads(json.dumps(result)) == result
    return result


TIER = ["scons", "scs", "sts"]  # the metrics of analysis
# 2 levels and 1 heading beside 3 and 3: sqrt(2/3 * 1/3)
SCORES = {"a": 1.0, "b": 2 / 3, "c": None, "d": 2**0.5 / 3}


def test_every_number_by_hand(folders):
    result = score(**folders)
    assert {topic: row["scons"] for topic, row in result["topics"].items()} == {
        topic: score and pytest.approx(score) for topic, score in SCORES.items()
    }
    mean = pytest.approx((1 + 2 / 3 + 2**0.5 / 3) / 3)
    assert result["mean"] == {"scons": mean} and result["counted"] == {"scons": 3}
    without = [name for name in TIER if name != "scons"]  # they were not computed
    tier = {"mean": mean, "f1_only": mean, "without": without, "columns": ["scons"]}
    assert result["tiers"] == {"analysis": tier}
    assert result["missing"] == ["c"]
    assert result["problems"][0].startswith("c: scons: generated: ")
    made = result["details"]["b"]["scons"]
    assert made["headers"] == ["survey", "levels", "headings"]
    assert made["rows"] == [["human", "3", "3"], ["generated", "2", "2"]]
    assert (made["calls"], made["failed"], made["reason"]) == (0, 0, "")
    assert {"human", "generated", "encoder", "code", "matcher"} <= result["settings"].keys()


@pytest.mark.parametrize("tier", TIERS)
def test_the_paper_averages_the_f1_and_the_ds_of_a_metric_first(tier):
    table = next(published("Bloom-Eval"))
    names = [name for m in survey_metrics().values() if m.tier == tier for name in m.names()]
    for system, row in table["rows"].items():
        printed = dict(zip(table["columns"], row, strict=True))
        wanted = printed[f"average of {tier}"]
        assert (wanted is None) == (system == "Human")
        scores = {name: printed[name] for name in names if name in printed}
        assert wanted is None or abs(tier_mean(scores) - wanted) <= 0.005 + 1e-9, system


def test_the_printed_averages_stand_beside_ours_and_none_for_people(folders, capsys):
    words = ["--human", folders["human"], "--generated", folders["generated"]]
    assert cli.main(["evaluate", "bloom-eval", *words, "--metrics", "fnov,roq"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    (average,) = [row for row in rows if row[:2] == ["creation", "average"]]
    assert average[-4:] == ["0.48", "0.44", "0.55", "0.45"]  # .475 and .445 by hand; printed so
    (novelty,) = [row for row in rows if row[:2] == ["creation", "fnov"]]
    assert novelty[-5:] == ["0.44", "0.41", "0.53", "0.41", "-"]


def test_the_mean_of_a_tier():
    scores = {"efid_f1": 0.2, "efid_ds": 0.8, "efid_recall": 0.9, "fmi": 0.1, "dsi": None}
    assert tier_mean(scores) == pytest.approx(0.3)  # (0.5 + 0.1) / 2
    assert tier_mean(scores, ds=False) == pytest.approx(0.15)
    assert tier_mean({"dsi": None}) is None


def test_a_metric_without_a_score_is_named(folders, tmp_path):
    (tmp_path / "generated" / "a.md").write_text("No heading.")
    (tmp_path / "human" / "a.md").write_text("No heading.")
    result = score(**folders, only=("a",))
    assert result["tiers"]["analysis"]["mean"] is None
    assert result["tiers"]["analysis"]["without"] == TIER
    assert result["problems"] == ["a: scons: the experts' survey has no outline."]


def test_the_page_escapes_every_text(folders, tmp_path):
    for side in folders:
        (tmp_path / side / "<img src=x>&.md").write_text(FLAT.format("<script>alert(1)</script>"))
    page = tmp_path / "page.html"
    words = [word for side, folder in folders.items() for word in (f"--{side}", folder)]
    command = ["evaluate", "bloom-eval", *words, "--metrics", "scons", "--page", str(page)]
    assert cli.main(command) == 0
    text = page.read_text()
    assert "<img" not in text and "<script>alert" not in text
    assert "&lt;img src=x&gt;&amp;" in text
    assert text.count("<details>") == 5 + 5  # topics, and a metric for each
    assert all(name in text for name in ("SurveyForge", "Human", "0.6667", "no prediction"))
    assert "bloom-eval: <bdi>generated</bdi>" in text and "This page quotes the texts" in text


def test_the_terminal_shows_table_3(folders, capsys):
    words = ["--human", folders["human"], "--generated", folders["generated"]]
    assert cli.main(["evaluate", "bloom-eval", *words, "--metrics", "scons"]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = ["analysis", "scons", "0.7127", "3", "of", "4", "0.54", "0.74", "0.72", "0.75", "-"]
    assert lines[2].split() == cells
    assert "1 of 3 metrics, without scs, sts" in lines[3]
    assert lines[-1] == "1 of 4 topics have no prediction."


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"human": "nowhere"}, "nowhere"),
        ({"generated": "others"}, "others' has no survey on 'a, b, c, d'"),
        ({"matcher": "judge"}, "name a model"),
        ({"page": "nowhere/page.html"}, "there is no directory"),
        ({"prompts": "empty"}, "contains no template"),
    ],
)
def test_faults_are_one_line(folders, tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "z.md").write_text(FLAT)
    words = [w for k, v in ({**folders, **options}).items() for w in (f"--{k}", v)]
    assert cli.main(["evaluate", "bloom-eval", *words]) == 2
    printed = capsys.readouterr()
    assert said in printed.err and printed.err.count("\n") == 1 and not printed.out


def test_what_the_papers_models_did_not_make_is_marked(folders):
    marked = SUITES.get("bloom-eval")(metrics=("otc", "scons", "sts", "tbal"), **folders)
    counted = {row[1]: row[3] for row in marked.table()[1]}
    assert counted["otc_f1"] == counted["sts"] == "3 of 4, by static"
    assert counted["tbal"] == "3 of 4, by static and linkage" and counted["scons"] == "3 of 4"
    assert marked.problems[-1].startswith(
        "By static, linkage, where the paper has nomic-embed-text-v1, BERTopic and gpt-5-mini"
    )
    assert not any("nomic" in each for each in score(**folders)["problems"])
    settings = {"encoder": "nomic-embed-text-v1", "clusters": "bertopic", "matcher": "judge"}
    made = made_otherwise(settings | {"judge": {"client": {"model": "gpt-5-mini"}}})
    assert made == {"cf": ["gpt-5-mini"]}  # the paper's is gpt-4o


def test_a_corpus_counts_the_citations_of_what_reports_cite(synthetic, tmp_path):
    """Experts cite the corpus' three most cited papers, with over 50 links, the report two."""
    ids = pq.read_table(synthetic / "papers.parquet")["id"].to_pylist()
    links = Counter(pq.read_table(synthetic / "references.parquet")["cited"].to_pylist())
    most = [ids[document] for document, times in links.most_common(3) if times > 50]
    for side, cited in (("human", most), ("generated", most[1:])):
        (tmp_path / side).mkdir()
        marks = " ".join(f"[@{paper}]" for paper in cited)
        (tmp_path / side / "t.md").write_text(f"# T\n\nThey cite {marks}.\n")
    sides = {side: str(tmp_path / side) for side in ("human", "generated")}
    result = SUITES.get("bloom-eval")(metrics=("hirc",), corpus=str(synthetic), **sides)
    assert result.topics["t"]["hirc_recall"] == pytest.approx(2 / 3)
    alone = SUITES.get("bloom-eval")(metrics=("hirc",), **sides)
    assert alone.topics["t"]["hirc_recall"] is None
