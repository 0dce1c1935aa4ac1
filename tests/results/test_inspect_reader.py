"""Logs of inspect_ai that `arena compare` and `arena plan` take for runs."""

from __future__ import annotations

import json
import zipfile

import pyarrow
import pytest

import arena
import arena.cli
from arena.errors import DataError
from arena.results.comparison import as_json, as_text
from arena.results.viewing import as_page
from arena_integrations._inspect_log import write_inspect_log


@pytest.fixture(scope="module")
def logged(synthetic, title_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "title.eval"
    write_inspect_log(title_run, synthetic, path)
    return path


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {n: json.loads(archive.read(n)) for n in ("header.json", "summaries.json")}


def write(path, content, pack=lambda data: data):
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, pack(json.dumps(value).encode()))
    return path


def test_a_log_is_the_run_that_it_was_made_of(logged, title_run, synthetic):
    found = arena.compare([f"log={logged}", f"run={title_run}"], common=True)
    assert [metric.metric for metric in found.metrics] == [
        metric.metric for metric in arena.compare([title_run]).metrics
    ]
    for metric in found.metrics:
        assert metric.values["log"] == metric.values["run"] and metric.ceiling is not None
        assert metric.clusters == 5 and metric.lower_is_better is False
    text = as_text(found)
    assert "log: scores are as title.eval states them, not checked." in text
    assert "No share after n searches for log: its file has no steps." in text
    assert "differ in" not in text and "submitted nothing" not in text
    told = as_json(found)["runs"]["log"]
    assert told["agent"] == "title" and told["effort"]["searches"] is told["unseen"] is None
    assert as_page(arena.compare([logged])).html
    assert as_page(found, synthetic).html


def test_as_inspect_itself_compresses(logged, tmp_path):
    """With Zstandard, method 93 of zip; 0 stands here, 2 bytes at place 8 and 10 of headers."""
    path = write(tmp_path / "a.eval", members(logged), lambda d: pyarrow.compress(d, "zstd", True))
    data = bytearray(path.read_bytes())
    for signature, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        at = -1
        while (at := data.find(signature, at + 1)) >= 0:
            data[at + place] = 93
    path.write_bytes(data)
    (packed, plain) = (arena.compare([each]).metrics for each in (path, logged))
    assert [metric.values for metric in packed] == [metric.values for metric in plain]


def test_epochs_are_repeats(logged, tmp_path, capsys):
    """As the project's task in inspect writes them: one scorer with all, and the reward."""
    content = members(logged)
    content["header.json"]["eval"] |= {"task": "task", "model": "mockllm/model"}
    content["header.json"]["eval"]["metadata"] |= {"task": "discovery"}
    samples = []
    for number in range(8):
        for epoch, value in ((1, 0.25), (2, number / 8)):
            scores = {"recall@100": value, "reward": 3.0, "recall@10": "C", "noise": 1}
            metadata = {"cluster": f"c{number}", "domain": ""}
            told = {"metrics": {"value": scores, "metadata": metadata}}
            samples.append({"id": f"t{number}", "epoch": epoch, "scores": told})
    path = write(tmp_path / "a.eval", content | {"summaries.json": samples})
    found = arena.compare([path])
    (metric,) = found.metrics
    assert metric.metric == "recall@100" and metric.clusters == 8
    assert metric.values["mockllm/model, bm25"] == tuple((0.25 + n / 8) / 2 for n in range(8))
    assert arena.cli.main(["plan", str(path), "--detect", ".1", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["repeats"] == 2 and planned["success"] == 0.25
    assert planned["flip_rate"] == {"mockllm/model, bm25": 2 / 8}  # those below .25
    del samples[-1]["scores"]  # an error of inspect
    pooled = arena.compare([f"A={path},{write(tmp_path / 'b.eval', members(path))}"])
    assert pooled.runs[0].pooled == 2
    write(path, content | {"summaries.json": samples})
    (metric,) = arena.compare([path]).metrics
    assert metric.topics == tuple(f"t{n}" for n in range(7))


def test_what_is_refused(logged, title_run, tmp_path):
    content = members(logged)
    content["header.json"]["eval"]["metadata"]["sha256"]["corpus"] = "0" * 64
    other = write(tmp_path / "other.eval", content)
    with pytest.raises(DataError, match="they differ in corpus"):
        arena.compare([other, title_run])
    few = {**members(logged), "summaries.json": members(logged)["summaries.json"][:3]}
    with pytest.raises(DataError, match=r"differ in topics \(3 and 8\).*--common"):
        arena.compare([f"few={write(tmp_path / 'few.eval', few)}", title_run])
    content["header.json"]["eval"]["task"] = "gsm8k"
    with pytest.raises(DataError, match=r"theirs.eval': no task named 'gsm8k'"):
        arena.compare([write(tmp_path / "theirs.eval", content)])
    for member, value in (
        ("header.json", {"eval": ["discovery"]}),
        ("summaries.json", ["sample"]),
        ("summaries.json", [{"id": 1, "scores": {"a": {"value": {"recall@10": 10**400}}}}]),
    ):
        with pytest.raises(DataError, match=r"odd\.eval' is no finished log of inspect_ai"):
            arena.compare([write(tmp_path / "odd.eval", {**members(logged), member: value})])
    (tmp_path / "no.eval").write_text("{}")
    with pytest.raises(DataError, match="no finished log of inspect_ai: File is not a zip file"):
        arena.compare([tmp_path / "no.eval"])
    with pytest.raises(DataError, match=r"no finished log of inspect_ai: .*No such file"):
        arena.compare([tmp_path / "nowhere.eval"])
    none = {**members(logged), "summaries.json": []}
    with pytest.raises(DataError, match="no score by a metric of the task discovery"):
        arena.compare([write(tmp_path / "none.eval", none)])
