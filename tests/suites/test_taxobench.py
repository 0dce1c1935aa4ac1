"""Trees of other systems scored by TaxoBench's metrics, ours and the released scorer's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from helpers import AXES
from llm_server import LLMServer

import arena_suites
from arena import cli
from arena.errors import DataError
from arena.metrics import METRICS
from arena.mindmap import MindMap
from arena.suites import SUITES
from arena_suites.taxobench.evaluate import NAMES, alignment
from arena_suites.taxobench.released import (
    PrintedScores,
    ReleasedScores,
    printed_scores,
    released_alignment,
    released_scores,
    released_similarity,
)

RELEASED = ReleasedScores._fields

GOLD = {
    "name": "Agents",
    "subtopics": [
        {"name": "Tools", "papers": ["Toolformer: models teach themselves", "Gorilla"]},
        {"name": "Planning", "papers": ["ReAct"]},
    ],
}


@pytest.fixture
def score(tmp_path):
    def run(*predictions, golds=(GOLD,), **options):
        data, made = tmp_path / "data.jsonl", tmp_path / "predictions.jsonl"
        data.write_text("".join(json.dumps({"id": i, "gt": g}) + "\n" for i, g in enumerate(golds)))
        made.write_text(
            "".join(f"{p if isinstance(p, str) else json.dumps(p)}\n" for p in predictions)
        )
        evaluate = SUITES.get("taxobench")
        result = evaluate(data=str(data), predictions=str(made), **options).to_json()
        assert json.loads(json.dumps(result)) == result
        return result

    return run


@pytest.mark.parametrize("key", ["hierarchy_tree", "tree", None])
def test_the_expert_scores_best_in_every_layout(score, key):
    record = {"id": "0", key: GOLD} if key else {"id": 0, **GOLD}
    result = score(record)
    assert result["mean"] == {name: float(name != "normalised_ted") for name in NAMES}
    assert score(record, official=True)["mean"] == dict.fromkeys(RELEASED, 1.0)
    assert not result["missing"] and not result["problems"]


LONG = "A survey of surveys: " + "what a very long title says of very long titles, " * 3
MARKDOWN = f"""# Agents
## Tools
- **Toolformer: models teach themselves** (2023)
- Gorilla
- {LONG}
## Planning
1. [ReAct](https://example.org)
   - Acts while it reasons
2. Unheard of
"""


def test_list_items_and_objects_that_are_titles_are_papers(score):
    tools, planning = GOLD["subtopics"]
    tools = tools | {"papers": [*tools["papers"], LONG]}
    expert = GOLD | {"subtopics": [tools, planning]}
    objects = [[{key: p, "year": 2023} for p in tools["papers"]] for key in ("title", "name", "id")]
    below = {"name": "Tools", "subtopics": tools["papers"]}
    trees = [*(GOLD | {"subtopics": [tools | {"papers": o}, planning]} for o in objects),
             GOLD | {"subtopics": [below, planning]}]  # fmt: skip
    lines = ({"id": n, "tree": tree} for n, tree in enumerate([*trees, MARKDOWN]))
    *rows, markdown = score(*lines, golds=[expert] * 5)["topics"].values()
    for row in rows:
        assert [row[name] for name in NAMES] == [float(name != "normalised_ted") for name in NAMES]
    # ReAct has an item below, and so is a heading; what the expert does not have is one, too.
    assert (markdown["leaf_recall"], markdown["leaf_precision"], markdown["ari"]) == (3 / 4, 1, 1)
    # Tools, Planning, ReAct, what is below it and "Unheard of", beside the expert's three nodes.
    assert markdown["normalised_ted"] == pytest.approx(3 / (3 + 6))


BROKEN = {
    "a list as root": {"id": 0, "hierarchy_tree": [{"name": "x", "papers": ["Nobody's"]}]},
    "unknown titles": {"id": 0, "hierarchy_tree": {"name": "x", "papers": ["Nobody's"]}},
    "null": {"id": 0, "hierarchy_tree": None},
    "papers that are numbers": {"id": 0, "hierarchy_tree": {"name": "x", "papers": [1, None]}},
    "no JSON": '{"id": 0, "hierarchy_tree": {',
    "deep": '{"id": 0, "hierarchy_tree": '
    + 500 * '{"name": "x", "subtopics": ['
    + 500 * "]}"
    + "}",
    "very deep": '{"id": 0, "hierarchy_tree": ' + 200_000 * "[" + 200_000 * "]" + "}",
    "another survey": {"id": 9, "hierarchy_tree": GOLD},
}


@pytest.mark.parametrize("official", [False, True])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_prediction_is_a_row_without_a_score(score, name, official):
    result = score(BROKEN[name], official=official)
    (row,) = result["topics"].values()
    assert row["ari"] == 0
    assert row["normalised_ted"] > 0.5 if not official else row["recall"] == 0
    assert all(0 <= row[metric] <= 1 for metric in result["mean"])


def test_a_survey_without_a_prediction_counts_as_zero_but_not_in_the_released_scorer(score):
    result = score({"id": 0, "tree": GOLD}, golds=(GOLD, GOLD))
    assert result["missing"] == ["1"]
    assert result["mean"]["ari"] == 0.5 and result["mean"]["normalised_ted"] == 0.5
    official = score({"id": 0, "tree": GOLD}, golds=(GOLD, GOLD), official=True)
    assert official["missing"] == ["1"] and official["mean"]["ari"] == 1


def test_what_the_released_scorer_takes_of_a_prediction(score):
    tree = {"name": "Agents", "papers": ["ReAct", "Unheard of"]}

    def row(*predictions, official=True):
        result = score(*predictions, official=official)
        return [result["topics"]["0"][n] for n in (RELEASED[5:7] if official else NAMES[:2])]

    # Of three papers, and of the two in the tree, or the four that the record lists.
    assert row({"id": 0, "tree": tree}) == [1 / 3, 1 / 2]
    listed = {"id": 0, "tree": tree, "retrieved_papers": ["ReAct", "Gorilla", "Other", "None"]}
    assert row(listed) == [2 / 3, 2 / 4]
    assert row(listed, official=False) == row(listed | {"retrieved_papers": []}) == [1 / 3, 1 / 2]
    for empty in ({}, [], None):
        assert row({"id": 0, "hierarchy_tree": empty, "tree": tree}) == [1 / 3, 1 / 2]
        alone = score({"id": 0, "hierarchy_tree": empty}, {"id": 1, "tree": GOLD},
                      golds=(GOLD, GOLD), official=True)  # fmt: skip
        assert alone["mean"] == dict.fromkeys(RELEASED, 1.0)
    assert row({"id": 0, "hierarchy_tree": GOLD, "tree": tree}) == [1, 1]
    twice = {"id": 0, "tree": GOLD}, {"id": 0, "tree": tree}
    assert row(*twice) == [1 / 3, 1 / 2]
    assert row(*twice, official=False) == [1, 1]


def test_a_row_says_what_its_numbers_hide(score):
    bare = {"name": "Agents", "subtopics": [{"name": "Tools"}, {"name": "Planning"}]}
    between = "agents tools planning"  # like each of the expert's three labels
    chain = {"name": between, "subtopics": [{"name": between, "papers": ["ReAct"]}]}
    rows = score(*({"id": i, "tree": t} for i, t in enumerate((GOLD, bare, chain))),
                 golds=(GOLD, GOLD, GOLD))["topics"]  # fmt: skip
    assert rows["0"]["remark"] == ""
    assert (rows["1"]["normalised_ted"], rows["1"]["node_soft_f1"]) == (0, 1)
    assert rows["1"]["remark"] == "files no paper, which scores of labels do not see"
    assert rows["2"]["node_soft_precision"] > 1 > rows["2"]["node_soft_recall"]
    assert rows["2"]["remark"] == "node_soft_precision above 1: labels that are alike count as one"


def nodes(name, *children):
    return {"name": name, "subtopics": [*children], "papers": ["P"]}


def test_the_numbers_that_the_paper_prints_by_hand():
    made = printed_scores(nodes("a", nodes("c")), nodes("a", nodes("b")), AXES)
    assert made.normalised_ted == pytest.approx(0.2 / 4)  # c for b costs 1 - 0.8
    # c(gold) = 2, c(made) = 2 / 1.6; of a, b, a, c the sums are 2.6, 1.8, 2.6 and 3
    shared = 2 + 1.25 - (2 / 2.6 + 1 / 1.8 + 1 / 3)
    assert made.node_soft_recall == pytest.approx(shared / 2)
    assert made.node_soft_precision == pytest.approx(shared / 1.25)
    both = shared / 2 + shared / 1.25
    assert made.node_soft_f1 == pytest.approx(2 * shared / 2 * shared / 1.25 / both)
    # a and d are opposites: the sums are 0, and so is the cardinality
    assert printed_scores(nodes("a", nodes("d")), nodes("a"), AXES).node_soft_precision == 0


def test_the_papers_distance_counts_nodes_below_twice():
    # a(a, a(a)) and a(a, b(b)): two new labels; the wrong cell adds the lower one once more
    gold, made = (nodes("a", nodes("a"), nodes(x, nodes(x))) for x in "ab")
    assert printed_scores(made, gold, AXES).normalised_ted == pytest.approx(3 / 8)
    maps = [MindMap("a", (MindMap("a"), MindMap(x, (MindMap(x),)))) for x in "ab"]
    assert METRICS.get("normalised_ted")(*maps, encoder=AXES) == pytest.approx(2 / 8)


def test_the_papers_numbers_leave_out_what_has_no_tree_and_take_f1_of_means(score):
    golds = [{"name": "a", "subtopics": [{"name": "b", "papers": ["P", "Q"]}]}] * 3
    trees = [{"id": 0, "tree": golds[0]}, {"id": 1, "tree": {"name": "b"}}]
    result = score(*trees, golds=golds, official="paper", encoder="static")
    assert list(result["mean"]) == list(PrintedScores._fields)
    assert result["topics"]["0"]["normalised_ted"] == pytest.approx(0, abs=1e-6)
    assert result["topics"]["2"]["reason"] == "no prediction"
    recall, precision = (result["mean"][f"node_soft_{name}"] for name in ("recall", "precision"))
    of_means = 2 * recall * precision / (recall + precision)
    assert result["micro"] == {"node_soft_f1": pytest.approx(of_means)}
    assert result["settings"]["encoder"] == "static"


def test_the_command_prints_a_row_for_each_survey(tmp_path, capsys):
    data, made = tmp_path / "data.jsonl", tmp_path / "predictions.jsonl"
    data.write_text("".join(json.dumps({"id": i, "gt": GOLD}) + "\n" for i in range(2)))
    made.write_text(json.dumps({"id": 0, "tree": GOLD}) + "\n[]\n")
    command = ["evaluate", "taxobench", "--data", str(data), "--predictions", str(made)]
    assert cli.main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["0", "1", "mean"]
    assert "no prediction" in lines[3]
    assert lines[5:] == [
        "line 2: '[]' is not a JSON object with an id.",
        "1 of 2 topics have no prediction.",
    ]
    assert cli.main([*command, "--json", "--official"]) == 0
    assert list(json.loads(capsys.readouterr().out)["mean"]) == list(RELEASED)
    of_paper = ["--official", "paper", "--encoder", "static"]
    assert cli.main([*command, "--json", *of_paper]) == 0
    assert list(json.loads(capsys.readouterr().out)["mean"]) == list(PrintedScores._fields)
    assert cli.main([*command[:3], str(tmp_path / "nowhere"), *command[4:]]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_data_of_another_kind_is_an_error(score):
    with pytest.raises(DataError, match="line 1 is not a record of TaxoBench"):
        score({"id": 0, "tree": GOLD}, golds=([],))


def test_similarity_of_the_released_scorer():
    assert released_similarity("A-B", "a b") == 1
    assert released_similarity("Attention", "Attention is all you need") == 1
    assert released_similarity("!", "a") == 0
    assert released_similarity("abcd", "abxd") == 0.75


def test_alignments():
    long = "Language models are few-shot learners of tasks"
    titles = [long.replace("few", "fev"), "attention", long]
    assert alignment([long, "Attention is all you need"], titles) == [2, None]
    assert released_alignment(["Attention is all you need", long], titles) == [1, 2]
    # Greedy, in the order of the references: the first takes the only title.
    assert released_alignment(["ReAct", "ReAct"], ["react"]) == [0, None]
    assert alignment(["!", "?"], ["!", ""]) == [None, None]
    # Five words of one title that are in another, and in no third one.
    five = "Language models are few shot"
    assert alignment([five], [f"Brown et al. {five.upper()}-learners", "Other"]) == [0]
    assert alignment([f"{five} learners of all tasks that people have", "Other"], [five]) == [
        0,
        None,
    ]
    assert alignment([five], [f"{five} learners of all", f"{five} writers of none"]) == [None]
    assert alignment([five], [f"{five}ed learners of all of them"]) == [None]


def test_released_scores_by_hand():
    predicted = {
        "name": "Agents",
        "subtopics": [{"name": "Tool use", "papers": ["Gorilla", "ReAct"]}],
    }
    scores = released_scores(predicted, GOLD)
    # Groups: gold 0 0 1, predicted missing, 0, 0.
    assert scores.ari == pytest.approx(-0.5)
    assert scores[5:] == (2 / 3, 1, 0.8)
    # "tools" and "tool use": the blocks "tool" and "s" of 13 letters, 10 / 13. "planning" and
    # "tool use" share one letter at most; the better pair of paths counts.
    gorilla = 1 / (1 + 1 - 10 / 13)
    react = 1 / (1 + 1 - released_similarity("Planning", "Tool use"))
    assert scores.sem_path == pytest.approx((gorilla + react) / 2)


def test_a_model_judges_the_trees_too(score, tmp_path):
    scores = {"coverage": 3, "organization": 5, "logic": 4, "topology": 2}
    other = {"name": "Agents", "subtopics": [{"name": "Rumours"}]}

    def answer(body):
        return "No." if "Rumours" in json.dumps(body["messages"]) else json.dumps(scores)

    with LLMServer(answer) as server:
        option = {"model": "m", "base_url": server.url, "store": str(tmp_path / "judge.db")}
        made = ({"id": 0, "tree": GOLD}, {"id": 1, "tree": other})
        result = score(*made, golds=(GOLD, GOLD, GOLD), llm_option=option)
    names = list(scores)
    answered, unread, empty = result["topics"].values()
    judged = [[row[name] for name in names] for row in (answered, unread, empty)]
    assert judged == [[3, 5, 4, 2], [None] * 4, [1, 1, 1, 1]]
    assert [result["mean"][name] for name in names] == [2, 3, 2.5, 1.5]
    assert [row["average"] for row in (answered, unread, empty)] == [3.5, None, 1]
    assert result["mean"]["average"] == 2.25
    assert result["settings"]["judge"]["missing"] == 1
    assert "no readable answer for 1 survey" in result["problems"][-1]


def test_which_printed_soft_f1_are_no_harmonic_means():
    """Within the rounding of the table; docs/taxobench.md says how many there are."""
    path = Path(arena_suites.__file__).parent / "configs" / "taxobench.yaml"
    table = yaml.safe_load(path.read_text())["tables"]["inputs"]["paper"]
    places = [table["header"].index(name) for name in ("NSR", "NSP", "Soft F1")]
    rows = [[row[place] for place in places] for row in table["rows"]]

    def least_and_most(recall, precision):
        for off in (-0.005, 0.005):
            yield 2 * (recall + off) * (precision + off) / (recall + precision + 2 * off) + off

    wrong = []
    for recall, precision, f1 in rows:
        least, most = least_and_most(recall, precision)
        if not least - 1e-9 <= f1 <= most + 1e-9:
            wrong.append((recall, f1))
    assert (len(rows), len(wrong)) == (36, 9)
    assert all(recall == f1 for recall, f1 in wrong)
