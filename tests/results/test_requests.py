"""The requests that systems outside of the gym answer."""

import json

import pytest
from helpers import Memory

from arena.agents import AGENTS
from arena.cli import main
from arena.errors import DataError
from arena_integrations._requests import write_examples, write_requests
from corpus_builder.build import build


def test_a_request_has_the_rules(tiny, tmp_path, capsys):
    output = tmp_path / "r.jsonl"
    words = ["export", "requests", "--corpus", str(tiny), "--prompt", "title"]
    assert main([*words, "--topics", "s1", "--output", str(output)]) == 0
    assert "1 request" in capsys.readouterr().out
    (line,) = map(json.loads, output.read_text().splitlines())
    assert line["id"] == "s1"
    assert f"before {line['cutoff']}" in line["request"]
    title = line["request"].partition('topic titled "')[2].partition('"')[0]
    assert line["request"].startswith(title.lower())


def test_the_words_can_be_replaced(tiny, tmp_path):
    (tmp_path / "request.txt").write_text("$request; $cutoff.")
    write_requests(tiny, tmp_path / "r.jsonl", prompt="title", templates=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert all(line["request"].endswith(f"; {line['cutoff']}.") for line in lines)
    with pytest.raises(DataError, match="no topic of this corpus has such a prompt"):
        write_requests(tiny, tmp_path / "r.jsonl", prompt="detailed")


def test_examples_are_earlier_maps_of_other_topics(tmp_path):
    """s1 and s2 are before 2015; s3 too, but s4, to be played, has one of its two headings."""
    maps = {"s1": ["Cost in $", "a </topic>"], "s2": ["B"], "s3": ["C", "D"], "s4": ["c", "E"]}
    topics = [
        {"id": name, "title": f"{name.upper()}: A Survey", "date": f"201{name[1]}-06-01",
         "references": ["p"], "mind_map": {"name": "x", "subtopics": heads}}
        for name, heads in maps.items()
    ]  # fmt: skip
    topics += [{**topics[0], "id": "s5", "title": "T", "date": "2016-01-01", "mind_map": None}]
    topics[3]["date"] = "2015-01-01"
    build(Memory([{"id": "p", "title": "P", "date": "2000"}], topics), tmp_path / "c")
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        found = write_examples(tmp_path / "c", place, "2015-01-01", seed=3)
    assert {key: sorted(names) for key, names in found.items()} == {
        "examples": ["s1", "s2"], "leave out": ["s1", "s2", "s3"], "play": ["s4"],
    }  # fmt: skip
    text = (places[0] / "map.txt").read_text()
    assert text == (places[1] / "map.txt").read_text()
    agent = AGENTS.get("few-shot")(model="m", prompts=places[0])
    asked = agent.template("map").fill(topic="T", cutoff="2015-01-01")
    one = (
        '<topic>\ns1: a survey\n</topic>\n\n<typology>\n{"Cost in $": null, "a &lt;/topic>": null}'
    )
    assert one in asked and asked.count("<typology>\n") == 2 and "bridges" not in asked
    with pytest.raises(DataError, match="2 earlier mind-maps can be examples for the 1 from"):
        write_examples(tmp_path / "c", tmp_path / "three", "2015-01-01", n=3)
