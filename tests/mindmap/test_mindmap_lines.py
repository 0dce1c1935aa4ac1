"""Mind-maps whose lines are no Markdown: letters and Roman numbers, bullets of Word, one line."""

from __future__ import annotations

import json

import gymnasium
import pytest

import arena
from arena import Agent, cli
from arena.errors import DataError
from arena.mindmap import MindMap, read_mind_map
from arena_suites.maps import read_markdown


def tree(node: MindMap):
    return (node.label, *map(tree, node.children))


BEES = ("Bees", ("Sleep", ("Day",), ("Night",)), ("Dance", ("Waggle",)))


@pytest.mark.parametrize(
    "text",
    [
        "# Bees\n1. Sleep\n   a) Day\n   b) Night\n2. Dance\n   a) Waggle\n",
        "# Bees\nI. Sleep\n\t(a) Day\n\t(b) Night\nII. Dance\n\t(a) Waggle\n",
        "# Bees\nA. Sleep\n   i. Day\n   ii. Night\nB. Dance\n   i. Waggle\n",
        "# Bees\n(1) Sleep\n    (a) Day\n    (b) Night\n(2) Dance\n    (a) Waggle\n",
        "# Bees\n(1) Sleep\n  (1) Day\n  (2) Night\n\n(2) Dance\n  (1) Waggle\n",
        "# Bees\nA. Sleep\nA.1 Day\nA.2. Night\nB. Dance\n    B.1 Waggle\n",
        "# Bees\n■ Sleep\n  – Day\n  – Night\n■ Dance\n  · Waggle\n",
        "# Bees\n▶ Sleep\n  ▫ Day\n  ▫ Night\n▶ Dance\n  ⁃ Waggle\n",
        "# Bees\n①Sleep\n  - Day\n  - Night\n② Dance\n  - Waggle\n",
        "* Bees\n** Sleep\n*** Day\n*** Night\n** Dance\n*** Waggle\n",
        "@startmindmap\n+ Bees\n++ Sleep\n+++ Day\n+++ Night\n-- Dance\n--- Waggle\n@endmindmap\n",
        "mindmap\n  (Bees)\n    Sleep:::big\n      Day\n      Night\n    Dance\n      Waggle\n",
    ],
)
def test_letters_roman_numbers_and_other_bullets_begin_items(text):
    made, _ = read_mind_map(text)
    assert tree(made) == BEES


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (
            "# Bees\n- D. melanogaster\n- T. castaneum",
            ("Bees", ("D. melanogaster",), ("T. castaneum",)),
        ),
        ("# Bees\n- Dance\n\nC. elegans is no bee.\nD. rerio is none.", ("Bees", ("Dance",))),
        ("# Bees\n- Dance\n\nI. Kant saw bees.", ("Bees", ("Dance",))),
        ("# Bees\n- Dance\n\n(7) is what a bee counts to.", ("Bees", ("Dance",))),
    ],
)
def test_letters_that_count_up_from_nothing_are_part_of_names(text, right):
    assert tree(read_mind_map(text)[0]) == right


@pytest.mark.parametrize("read", [read_mind_map, read_markdown])
def test_line_breaks_that_a_model_escaped_twice_are_read_and_noted(read):
    made, notes = read(r"# Bees\n## Sleep\n- Day\n- Night\n## Dance\n- Waggle")
    assert tree(made) == BEES
    (note,) = notes
    assert note.startswith(r"line breaks written as \n read (1): '# Bees\\n## Sleep\\n- Day")
    assert tree(read("# Bees\n" + r"- Sleep\nDay\nNight")[0]) == ("Bees", (r"Sleep\nDay\nNight",))


@pytest.mark.parametrize("item", ["**[b-7]** Bees", "[@b-7]", "__[b-7]__: Bees", "[b-7] - Bees"])
def test_papers_of_a_list_are_marked_in_several_ways(item):
    made, _ = read_mind_map(f"# Bees\n- Sleep\n  - {item}\n")
    assert [(node.label, *node.papers) for node in made.nodes()] == [("Bees",), ("Sleep", "b-7")]


def test_a_key_around_a_tree_is_no_heading():
    whole = {"label": "Bees", "children": ["Sleep"]}
    for text in ({"mind_map": whole}, {"mindmap": {"title": "Bees", "children": ["Sleep"]}}):
        assert tree(read_mind_map(json.dumps(text))[0]) == ("Bees", ("Sleep",))
    assert tree(read_mind_map({"map": {"Bees": ["Sleep"]}})[0]) == (
        "",
        ("map", ("Bees", ("Sleep",))),
    )


NODES = [{"id": 7, "title": "Bees"}, {"id": "s", "title": "Sleep"}, {"id": "d", "title": "Dance"}]


def test_edges_are_pairs_or_objects():
    edges = [[7, "s"], {"parent": 7, "child": "d"}]
    made, _ = read_mind_map({"nodes": NODES, "links": edges})
    assert tree(made) == ("Bees", ("Sleep",), ("Dance",))
    assert tree(read_mind_map({"title": "Bees", "children": ["Sleep"], "": 2})[0]) == (
        "Bees",
        ("Sleep",),
    )


@pytest.mark.parametrize("edge", [None, 1.5, "s", [7], [7, "s", "d"], {"source": 7}, {"to": 7}])
def test_an_edge_that_is_no_pair_is_refused(edge):
    with pytest.raises(DataError, match="is no pair of nodes"):
        read_mind_map({"nodes": NODES, "edges": [edge]})


def test_nodes_of_one_id_are_refused():
    with pytest.raises(DataError, match="two nodes of the mind-map have the id 7"):
        read_mind_map({"nodes": [*NODES, NODES[0]], "edges": [[7, "s"]]})


def test_a_map_without_papers_is_said_where_it_is_scored(tmp_path, capsys):
    gold = {"label": "Bees", "children": [{"label": "Sleep", "papers": ["p1"]}]}
    made = {"label": "Bees", "children": [{"label": "Sleep"}]}
    for folder, tree in (("gold", gold), ("made", made)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bees.json").write_text(json.dumps(tree))
    both = {name: str(tmp_path / name) for name in ("gold", "made")}
    command = ["mindmap", "score", "--gold", f"{both['gold']}/bees.json", "--predicted"]
    assert cli.main([*command, f"{both['made']}/bees.json"]) == 0
    assert "predicted: the map files no paper\n" in capsys.readouterr().out
    assert cli.main([*command, f"{both['gold']}/bees.json"]) == 0
    assert "no paper" not in capsys.readouterr().out


class Unfiled(Agent):
    """Files no paper."""

    def act(self, observation):
        return {"tool": "organize", "arguments": {"mind_map": {"A": ["B"]}}}


def test_a_run_of_maps_without_papers_says_so(synthetic, tmp_path):
    summary = arena.run(synthetic, "organization", Unfiled, tmp_path / "run", topics=1)
    (row,) = summary["per_topic"].values()
    assert row["remark"] == "the map files no paper"
    env = gymnasium.make("arena/Organization-v0", corpus=synthetic)
    env.reset(seed=1)
    observation, *_ = env.step({"tool": "organize", "arguments": {"mind_map": {"A": ["B"]}}})
    assert json.loads(observation["result"])["repairs"] == ["the map files no paper"]
