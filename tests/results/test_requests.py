"""What systems outside of the gym are asked for."""

import json

import pytest

from arena.cli import main
from arena.errors import DataError
from arena.results.requests import write_requests


def test_a_request_has_the_rules(tiny, tmp_path, capsys):
    output = tmp_path / "r.jsonl"
    words = ["export", "requests", "--corpus", str(tiny), "--prompt", "title"]
    assert main([*words, "--surveys", "s1", "--output", str(output)]) == 0
    assert "1 requests" in capsys.readouterr().out
    (line,) = map(json.loads, output.read_text().splitlines())
    assert line["id"] == "s1"
    assert f"before {line['cutoff']}" in line["request"]
    title = line["request"].partition('survey titled "')[2].partition('"')[0]
    assert line["request"].startswith(title.lower())


def test_the_words_can_be_replaced(tiny, tmp_path):
    (tmp_path / "request.txt").write_text("$request; $cutoff.")
    write_requests(tiny, tmp_path / "r.jsonl", prompt="title", templates=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert all(line["request"].endswith(f"; {line['cutoff']}.") for line in lines)
    with pytest.raises(DataError, match="no survey of this corpus has such a prompt"):
        write_requests(tiny, tmp_path / "r.jsonl", prompt="detailed")
