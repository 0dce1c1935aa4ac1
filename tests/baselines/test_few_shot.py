"""The agent `few-shot`, with a scripted server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Memory, contents
from llm_server import LLMServer, Trouble, last_text

import arena
from arena.mindmap import read_mind_map
from corpus_builder.build import build

pytestmark = pytest.mark.usefixtures("alone")

PROMPTS = Path(arena.__file__).parent.parent / "baselines" / "prompts" / "few-shot"
GOLD = {"Colouring": {"Planar": None, "Edges": None}, "Paths": {"Shortest": None}}
ANSWER = f"Here it is.\n<typology>\n{json.dumps(GOLD)}\n</typology>"


@pytest.fixture(scope="module")
def graphs(tmp_path_factory) -> Path:
    """Two papers, and a topic with the headings of `GOLD`."""
    papers = [{"id": f"p{n}", "title": f"Graphs {n}", "date": f"201{n}"} for n in (1, 2)]
    topic = {
        "id": "s", "title": "Graphs: A SURVEY", "date": "2020-06", "references": ["p1", "p2"],
        "mind_map": {"name": "Graphs", "subtopics": [
            {"name": "Colouring", "subtopics": ["Planar", "Edges"]},
            {"name": "Paths", "subtopics": ["Shortest"]},
        ]},
    }  # fmt: skip
    directory = tmp_path_factory.mktemp("graphs") / "corpus"
    build(Memory(papers, [topic]), directory)
    return directory


def play(corpus, output, server=None, task="organization", **options):
    given = {"model": "scripted"} | ({"base_url": server.url} if server else {}) | options
    return arena.run(corpus, task, "few-shot", output, agent_options=given)


def episode(run: Path) -> dict:
    (line,) = (run / "trajectories.jsonl").read_text().splitlines()
    return json.loads(line)


def submitted(run: Path):
    """The map that was submitted, with its labels and the children of each."""
    action = episode(run)["steps"][-1]["action"]
    if action["tool"] == "finish":
        return None
    tree, told = read_mind_map(action["arguments"]["mind_map"])
    assert told == []
    assert tree.all_papers() == []
    assert tree.label == "graphs: a survey"
    return plain(tree)


def plain(tree):
    return {child.label: plain(child) for child in tree.children}


def test_a_map_from_the_topic_alone(graphs, tmp_path):
    with LLMServer([ANSWER]) as server:
        summary = play(graphs, tmp_path / "run", server)
        (request,) = server.requests
    asked = last_text(request)
    assert asked.endswith("<topic>\ngraphs: a survey\n</topic>\n")
    assert asked.count("<typology>") == 3  # two examples, and one in the instructions
    assert "Graphs 1" not in asked
    assert submitted(tmp_path / "run") == {
        "Colouring": {"Planar": {}, "Edges": {}}, "Paths": {"Shortest": {}},
    }  # fmt: skip
    assert [step["action"]["tool"] for step in episode(tmp_path / "run")["steps"]] == ["organize"]
    mean = summary["mean"]  # the map is the survey's own, but it files no papers
    assert (mean.pop("paper_filing_agreement"), mean.pop("ari")) == (None, None)
    for name, value in mean.items():
        assert value == (0.0 if "distance" in name else 1.0), name


def test_no_heading_of_an_example_is_one_of_a_real_topic(real_data):
    """The examples are made up; a survey's own map would be its gold label."""
    template = (PROMPTS / "map.txt").read_text(encoding="utf-8")
    examples = template.split("<typology>\n")[1:]
    ours = {h for text in examples for h in read_mind_map(text.split("\n</")[0])[0].labels()}
    assert len(ours) == 33
    maps = 0
    for path in (real_data.surveys, real_data.directory / "taxonomies.jsonl"):
        for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            record = json.loads(line)
            tree = record.get("tree") or record.get("mind_map") or record.get("taxonomy")
            if tree:
                maps += 1
                theirs = {label.casefold() for label in read_mind_map(tree)[0].labels()}
                assert not theirs & {label.casefold() for label in ours}, record["id"]
    assert maps > 333


BAD = {
    "prose": "I would rather not [1].",
    "a root alone": '<typology>{"name": "Graphs"}</typology>',
    "too long": Trouble(400, error={"message": "maximum context length exceeded"}),
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_without_a_readable_map_none_is_submitted(answer, graphs, tmp_path):
    with LLMServer(lambda body: answer) as server:
        summary = play(graphs, tmp_path / "run", server)
        assert len(server.requests) == (1 if isinstance(answer, Trouble) else 2)
    assert summary["counts"]["scored"] == 1
    assert summary["mean"]["heading_soft_recall"] == 0
    assert submitted(tmp_path / "run") is None
    notes = episode(tmp_path / "run")["notes"]["llm"]
    assert (len(notes["failed"]), notes["stopped"]) == (1, None)
    play(graphs, tmp_path / "replay", mode="replay")
    assert contents(tmp_path / "run") == contents(tmp_path / "replay")
