"""Results for Every Eval Ever and Hugging Face, and samples that `arena compare` reads back.

The schemas in tests/data/every_eval_ever are those of every-eval-ever 0.3.0 (MIT). Its own program
checks the files, too, where `make every-eval-ever` has installed it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

import arena
from arena.cli import main
from arena.errors import CorpusError, DataError
from arena_integrations._results import write_eee, write_hf
from arena_integrations.readers import read_samples

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".venv-eee" / "bin" / "every_eval_ever"
DAY = "2026-11-28"


@pytest.fixture(scope="module")
def written(synthetic, title_run, tmp_path_factory):
    output = tmp_path_factory.mktemp("eee")
    return output, *write_eee(title_run, arena.Corpus.open(synthetic), output, DAY, "acme/m-1")


def samples_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}_samples.jsonl")


def test_the_files_are_as_the_schemas_say(written, title_run, synthetic, tmp_path):
    _, path, number = written
    folder = ROOT / "tests" / "data" / "every_eval_ever"
    schemas = {file.name: json.loads(file.read_text()) for file in folder.glob("*.json")}
    whole, stated = (
        json.loads(path.read_text()),
        json.loads((title_run / "metrics.json").read_text()),
    )
    jsonschema.validate(whole, schemas["eval.schema.json"])
    rows = [json.loads(line) for line in samples_of(path).read_text().splitlines()]
    for row in rows:
        jsonschema.validate(row, schemas["instance_level_eval.schema.json"])
    assert path.parent.parts[-4:] == ("data", "researcharena-discovery", "acme", "m-1")
    assert whole["evaluation_id"] == "researcharena-discovery/acme/m-1/1795824000"
    means = {
        r["evaluation_result_id"]: r["score_details"]["score"] for r in whole["evaluation_results"]
    }
    assert means == stated["mean"]
    assert number == len(rows) == len(means) * len(stated["per_topic"])
    for row in rows:
        topic = stated["per_topic"][row["sample_id"]]
        assert row["evaluation"]["score"] == topic[row["evaluation_result_id"]]
        assert row["input"]["reference"] == []
        assert bool(row["messages"]) == (row["evaluation_result_id"] == "recall@100")
    again, _ = write_eee(title_run, arena.Corpus.open(synthetic), tmp_path, DAY, "acme/m-1")
    assert (again.name, again.read_bytes()) == (path.name, path.read_bytes())


@pytest.mark.skipif(not PROGRAM.exists(), reason="make every-eval-ever installs it")
def test_its_own_program_takes_them(written):
    command = [PROGRAM, "validate", "data/*/*/*/*.json*"]
    done = subprocess.run(command, cwd=written[0], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_samples_are_read_back(written, title_run, tmp_path):
    samples = samples_of(written[1])
    found = arena.compare([f"samples={samples}", f"run={title_run}"])
    assert len(found.metrics) == 4
    for metric in found.metrics:
        assert metric.values["samples"] == metric.values["run"]
        assert metric.clusters == arena.compare([samples]).metrics[0].clusters == 5
    for file in (written[1], samples):
        shutil.copy(file, tmp_path)
    copied, beside = tmp_path / samples.name, tmp_path / written[1].name
    copied.write_text(samples.read_text().replace('"score": 0', '"score": 1'))
    with pytest.raises(DataError, match="it is not as it was written: the checksum"):
        read_samples(copied)
    whole = json.loads(beside.read_text())
    damaged = re.sub(r'"score": [\d.]+', '"score": "x"', copied.read_text(), count=1)
    for text, manifest, why in (
        (damaged, None, "the score 'x' is not a number."),
        ("[1]\n", None, "no file of samples beside its results: TypeError"),
        (copied.read_text(), "{}", "its manifest is damaged: "),
    ):
        copied.write_text(text)
        details = whole["eval_library"]["additional_details"]
        details |= {"manifest": manifest} if manifest else {}
        checksum = hashlib.sha256(text.encode()).hexdigest()
        whole["detailed_evaluation_results"]["checksum"] = checksum
        beside.write_text(json.dumps(whole))
        with pytest.raises(DataError, match=why):
            read_samples(copied)
    del whole["eval_library"]["additional_details"]
    beside.write_text(json.dumps(whole))
    with pytest.raises(DataError, match="no manifest of a run"):
        read_samples(copied)
    beside.unlink()
    with pytest.raises(DataError, match=rf"there is no '{beside.name}' beside it\."):
        read_samples(copied)


def test_samples_of_repeats(tiny, tmp_path):
    run = tmp_path / "run"
    arena.run(tiny, "discovery", "random", run, repeats=2)
    path, number = write_eee(run, arena.Corpus.open(tiny), tmp_path, DAY)
    assert number == 2 * 4  # repeats of the topic with references, metrics
    assert path.parent.name == "random"
    log, metrics = read_samples(samples_of(path))
    stated = json.loads((run / "metrics.json").read_text())
    assert metrics["mean"] == pytest.approx(
        {name: stated["mean"][name] for name in metrics["mean"]}
    )
    assert sorted(len(rows) for rows in log.rows.values()) == [1, 2]


def test_the_headline_for_hugging_face(title_run, synthetic, tmp_path):
    corpus, output = arena.Corpus.open(synthetic), tmp_path / ".eval_results" / "arena.yaml"
    value = write_hf(title_run, corpus, output, DAY, "acme/synthetic")
    (entry,) = yaml.safe_load(output.read_text())
    assert entry.pop("notes").startswith(
        "mean recall@100 over 8 topics; agent title; engine bm25; budget: max_characters 2000000, "
    )
    dataset = {"id": "acme/synthetic", "task_id": "discovery"}
    assert entry == {"dataset": dataset, "value": value, "date": DAY}


def test_what_is_refused(title_run, synthetic, tmp_path, capsys):
    corpus, edited = arena.Corpus.open(synthetic), tmp_path / "edited"
    for day, model, why in (
        ("2026-13-01", None, "date='2026-13-01': give a day"),
        (DAY, "m-1", "model='m-1': name it as DEVELOPER/NAME"),
        (DAY, "a/b/c", "model='a/b/c'"),
    ):
        with pytest.raises(DataError, match=why):
            write_eee(title_run, corpus, tmp_path, day, model)
    words = ["export", "results", str(title_run), "--corpus", str(synthetic), "--output"]
    assert main([*words, str(tmp_path / "a.yaml"), "--format", "hf"]) == 2
    assert "--dataset is None: give OWNER/NAME, the corpus on the hub." in capsys.readouterr().err
    assert main([*words, str(tmp_path / "a"), "--format", "eee", "--dataset", "acme/x"]) == 2
    assert "--dataset says nothing for --format eee. Leave it out." in capsys.readouterr().err
    shutil.copytree(title_run, edited)
    text = (edited / "metrics.json").read_text().replace('"recall@100": 0.', '"recall@100": 0.9')
    (edited / "metrics.json").write_text(text)
    manifest = json.loads((edited / "manifest.json").read_text())
    manifest["files"]["metrics.json"] = hashlib.sha256(text.encode()).hexdigest()
    (edited / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CorpusError, match="was edited"):
        write_eee(edited, corpus, tmp_path, DAY)
    assert [*tmp_path.iterdir()] == [edited]
