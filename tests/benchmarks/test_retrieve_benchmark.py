"""The benchmark of doors: what it reports, on a corpus of a few papers."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import main


def test_retrieve_is_timed(mini, tmp_path, capsys):
    pytest.importorskip("uvicorn", reason="needs the extra serve")
    options = ["--batch", "3", "--repeats", "2", "--warm", "1", "--json", str(tmp_path / "out")]
    assert main(["retrieve", "--corpus", str(mini), *options]) == 0
    results = json.loads((tmp_path / "out").read_text())
    assert [len(times) for times in results["seconds"].values()] == [2] * 4
    assert results["cpu"].keys() == {"search_batch", "client", "server"}
    assert 0 < results["cpu"]["client"] < sum(map(sum, results["seconds"].values()))
    assert "| /retrieve again " in capsys.readouterr().out


def test_a_server_that_does_not_start(mini, capsys):
    assert main(["retrieve", "--corpus", str(mini), "--topk", "0"]) == 2
    assert "--topk 0" in capsys.readouterr().err
