"""Sheets for people: blind, shuffled, and compared with the key."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from helpers import Memory

import arena
from arena.cli import main
from arena.tasks import TaskSet
from arena_suites.judging import Judgements, read_judgements
from arena_suites.judging.samples import HEADER
from arena_suites.verification.statements import StatementJudgements
from corpus_builder.build import build


@pytest.fixture
def judged(synthetic, tmp_path):
    """Two runs of organization with scores by a judge, which differ in every topic."""
    runs = []
    for place, agent in enumerate(("clustering", "random")):
        runs.append(arena.run(synthetic, "organization", agent, tmp_path / agent, topics=4))
        items = {
            topic: {"scores": {"logic": 1 + (n + place) % 5, "topology": 2}, "reasons": {}}
            for n, topic in enumerate(TaskSet(synthetic).topics)
            if n < 3
        } | {list(TaskSet(synthetic).topics)[3]: {"failed": "no answer"}}
        made = Judgements("taxobench", ("logic", "topology"), (1, 5), {}, {}, items)
        (tmp_path / agent / "judgements").mkdir()
        path = tmp_path / agent / "judgements" / "taxobench.json"
        path.write_text(json.dumps(made.to_json()))
    return [str(tmp_path / agent) for agent in ("clustering", "random")]


def rows_of(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(newline="") as file:
        return list(csv.DictReader(file))


def answered(sheet: Path, key: Judgements, answers, path: Path) -> Path:
    """A copy of a sheet whose answers are made of the machine's."""
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        for row in rows_of(sheet):
            (score,) = key.items[row["item"]]["scores"].values()
            writer.writerow({**row, "answer": answers(score)})
    return path


def test_mind_maps_of_several_runs_are_checked_by_several_people(
    judged, synthetic, tmp_path, capsys
):
    sheet = tmp_path / "sheet.csv"
    command = ["judge", "sample", *judged, "--what", "mind-maps", "--rubric", "taxobench"]
    command += ["--corpus", str(synthetic)]
    assert main([*command, "--output", str(sheet), "--n", "10"]) == 0
    assert "10 of 12 decisions" in capsys.readouterr().out
    first, key = sheet.read_bytes(), read_judgements(sheet.with_suffix(".key.json"))
    rows = rows_of(sheet)
    assert [row["item"] for row in rows] == [str(n) for n in range(1, 11)]
    assert {row["answer"] for row in rows} == {""}
    for row in rows:
        item = key.items[row["item"]]
        (dimension,) = item["scores"]
        assert row["question"] == f"{dimension} of the generated map, 1 (worst) to 5"
        assert "EXPERTS' MAP" in row["shown"] and "GENERATED MAP" in row["shown"]
        assert item["source"] in judged and item["source"] not in str(row)
        assert item["id"] not in str(row)
    assert {item["source"] for item in key.items.values()} == {*judged}
    # The same seed, the same bytes; another one, another order.
    assert main([*command, "--output", str(sheet), "--n", "10"]) == 0
    assert sheet.read_bytes() == first
    assert main([*command, "--output", str(tmp_path / "b.csv"), "--n", "10", "--seed", "8"]) == 0
    assert (tmp_path / "b.csv").read_bytes() != first

    # One says what the judge says, one always 2, one answers nothing but the logic.
    one = answered(sheet, key, str, tmp_path / "one.csv")
    two = answered(sheet, key, lambda _: " 2 ", tmp_path / "two.csv")
    capsys.readouterr()
    command = ["judge", "agreement", str(sheet.with_suffix(".key.json"))]
    assert main([*command, "--human", str(one), "--human", str(two), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    twos = sum(2 in item["scores"].values() for item in key.items.values())
    assert found["overall"]["pairs"] == 20
    assert found["overall"]["equal"] == (10 + twos) / 20
    assert found["raters"][str(one)]["kappa"] == 1 and found["raters"][str(two)]["kappa"] is None
    assert main([*command, "--human", str(one), "--human", str(two)]) == 0
    assert "alpha" in capsys.readouterr().out


def test_statements_that_were_read(tmp_path, capsys):
    row = {"statement": "It works.", "passage": {"title": "A", "heading": "B", "text": "C"}}
    outcomes = ("match", "mismatch", "not_found", "unreachable", "failed")
    cited = [{"id": f"s/{n}", "outcome": each, **row} for n, each in enumerate(outcomes)]
    (tmp_path / "run/judgements").mkdir(parents=True)
    path = tmp_path / "run/judgements/statements.json"
    path.write_text(json.dumps(StatementJudgements({}, {}, {}, {"s": {"cited": cited}}).to_json()))
    sheet = tmp_path / "sheet.csv"
    command = ["judge", "sample", str(tmp_path / "run"), "--output", str(sheet)]
    assert main([*command, "--what", "statements"]) == 0
    key = read_judgements(sheet.with_suffix(".key.json"))
    found = {each["id"]: each["scores"]["match"] for each in key.items.values()}
    assert found == {"s/0": 1, "s/1": 0, "s/2": 0}
    # No spreadsheet takes a text for a formula.
    assert {row["shown"] for row in rows_of(sheet)} == {"STATEMENT\nIt works.\nPASSAGE\nA, B\nC"}


def test_pairs_and_themes_of_an_evaluation(tmp_path):
    details = {
        "cs_01": {
            "otc": {"rows": [["Methods", "Approach"], ["Data", ""], ["", "Outlook on methods"]]},
            "efid": {"rows": [["datasets", "MNIST", "3", "mnist", "2"]]},
            "tfsim": {"rows": [["nets", "4", "networks", "5"]]},
        }
    }
    path, sheet = tmp_path / "start_from.json", tmp_path / "sheet.csv"
    path.write_text(json.dumps({"details": details}))
    for kind, expected in {
        # what is paired, and beside it what shares most words with it and is not
        "matches": {
            ("Methods", "Approach", 1),
            ("MNIST", "mnist", 1),
            ("Methods", "Outlook on methods", 0),
            ("Data", "Approach", 0),
        },
        "themes": {("nets", "networks", 1)},
    }.items():
        assert main(["judge", "sample", str(path), "--what", kind, "--output", str(sheet)]) == 0
        key = read_judgements(sheet.with_suffix(".key.json"))
        shown = {
            (*row["shown"].split("\n")[1::2], *key.items[row["item"]]["scores"].values())
            for row in rows_of(sheet)
        }
        assert shown == expected


def test_precision_recall_and_kappa_of_pairs(tmp_path, capsys):
    """Of six pairs the machine takes four, people five; they share three."""
    machine, people = (1, 1, 1, 1, 0, 0), (1, 1, 1, 0, 1, 1)
    items = {str(n): {"scores": {"otc": score}, "reasons": {}} for n, score in enumerate(machine)}
    key = tmp_path / "key.json"
    key.write_text(json.dumps(Judgements("m", ("otc",), (0, 1), {}, {}, items).to_json()))
    (tmp_path / "a.csv").write_text(
        "item,answer\n" + "".join(f"{n},{score}\n" for n, score in enumerate(people))
    )
    command = ["judge", "agreement", str(key), "--human", str(tmp_path / "a.csv")]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["dimensions"]["otc"]
    assert (found["precision"], found["recall"], found["equal"]) == (3 / 4, 3 / 5, 1 / 2)
    # by chance 4/6 x 5/6 + 2/6 x 1/6 = 11/18 are equal
    assert found["kappa"] == pytest.approx((1 / 2 - 11 / 18) / (1 - 11 / 18))
    assert main(command) == 0
    assert "precision" in capsys.readouterr().out


def test_whole_mind_maps_of_each_run(judged, synthetic, tmp_path):
    sheet = tmp_path / "sheet.csv"
    command = ["judge", "sample", *judged, "--what", "mind-maps", "--rubric", "taxobench"]
    command += ["--corpus", str(synthetic), "--output", str(sheet), "--per-run", "2"]
    assert main(command) == 0
    key = read_judgements(sheet.with_suffix(".key.json"))
    drawn = [(each["source"], each["id"], *each["scores"]) for each in key.items.values()]
    # two of three maps of each run, each in both dimensions, which stand together
    assert len(drawn) == 8 == len({*drawn})
    assert [each[0] for each in sorted(drawn)] == [sorted(judged)[0]] * 4 + [sorted(judged)[1]] * 4
    assert all(a[:2] == b[:2] for a, b in zip(drawn[::2], drawn[1::2], strict=True))
    assert {each[2] for each in drawn} == {"logic", "topology"}
    assert main([*command[:-1], "0"]) == 2


def test_two_judgements_of_a_map_beside_its_figure(tmp_path, capsys):
    """Table 4: people see the figure, its caption, the abstract and the tree, and judge twice."""
    topics = [
        {"id": f"a/{n}", "title": f"A survey of {word}", "date": "2020", "references": ["p"],
         "domain": word, "mind_map": {word: {"Deep": None}}, "figure": f"{n}-Figure1-1.png",
         "caption": f"A taxonomy of <{word}>."}
        for n, word in enumerate(("Graphs", "Trees", "Paths"))
    ]  # fmt: skip
    about = [{"id": each["id"], "abstract": "All of them."} for each in topics]
    (tmp_path / "about.jsonl").write_text("".join(json.dumps(each) + "\n" for each in about))
    build(Memory([{"id": "p", "title": "Old", "date": "2019"}], topics), tmp_path / "c")
    (tmp_path / "figures/a%2F1").mkdir(parents=True)
    (tmp_path / "figures/a%2F1/1-Figure1-1.png").write_bytes(b"\x89PNG\r\n\x1a\n-")
    sheet = tmp_path / "sheet.csv"
    command = ["judge", "sample", "--what", "extracted", "--corpus", str(tmp_path / "c")]
    command += ["--figures", str(tmp_path / "figures"), "--output", str(sheet)]
    command += ["--abstracts", str(tmp_path / "about.jsonl")]
    assert main([*command, "--n", "2"]) == 0
    assert "4 of 6 decisions" in capsys.readouterr().out  # two maps, whole
    assert main(command) == 0
    rows, key = rows_of(sheet), read_judgements(sheet.with_suffix(".key.json"))
    assert [[*key.items[row["item"]]["scores"]] for row in rows] == [["accurate"], ["relevant"]] * 3
    for row in rows:
        number = key.items[row["item"]]["id"].removeprefix("a/")
        assert f"\nAll of them.\nFIGURE\n{number}-Figure1-1.png\nA taxonomy of <" in row["shown"]
    page = sheet.with_suffix(".html").read_text()
    assert page.count("<section>") == 3 and page.count("<img") == 1
    assert '<img alt="1-Figure1-1.png" src="data:image/png;base64,iVBORw0KGgot">' in page
    assert "2-Figure1-1.png cannot be read: No such file" in page
    assert "A taxonomy of &lt;Paths&gt;." in page and str(tmp_path) not in page
    command[command.index("extracted")] = "domains"  # ReportBench, section 2.1.3
    assert main([*command[:-3], str(tmp_path / "domains.csv")]) == 0
    shown = {row["shown"].rpartition("\n")[2] for row in rows_of(tmp_path / "domains.csv")}
    assert shown == {"Graphs", "Trees", "Paths"}
    # A person finds 2 of 3 maps accurate and 1 relevant: the paper's are 80 % and 60 %.
    yes = {"accurate": iter("110"), "relevant": iter("010")}
    with (tmp_path / "anna.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        for row in rows:
            (name,) = key.items[row["item"]]["scores"]
            writer.writerow({**row, "answer": next(yes[name])})
    command = ["judge", "agreement", str(sheet.with_suffix(".key.json")), "--json"]
    capsys.readouterr()
    assert main([*command, "--human", str(tmp_path / "anna.csv")]) == 0
    found = json.loads(capsys.readouterr().out)["dimensions"]
    assert {name: row["equal"] for name, row in found.items()} == {
        "accurate": 2 / 3, "relevant": 1 / 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--what", "map"], "nothing is called 'map'. Did you mean 'mind-maps'"),
        (["z", "--what", "mind-maps"], "name the rubric by which the mind-maps were judged"),
        (["--what", "selected"], "name the corpus with --corpus"),
        (["x.json", "--what", "themes"], "x.json: damaged, or not what"),
        (["y.json", "--what", "themes"], "'themes' was decided in y.json"),
    ],
)
def test_faults_are_one_line(options, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("x.json").write_text("[1]")
    Path("y.json").write_text('{"details": {}}')
    assert main(["judge", "sample", *options, "--output", "sheet.csv"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("sheet.csv").exists()


def test_answers_of_people_are_not_lost_and_a_changed_key_is_noticed(synthetic, tmp_path, capsys):
    sheet, key = tmp_path / "sheet.csv", tmp_path / "sheet.key.json"
    command = ["judge", "sample", "--what", "extracted", "--corpus", str(synthetic)]
    command += ["--output", str(sheet)]
    assert main(command) == 0
    answered(sheet, read_judgements(key), lambda _: "0", tmp_path / "anna.csv").rename(sheet)
    filled = sheet.read_bytes()
    assert main(command) == 2
    assert "contains people's answers. Name another file" in capsys.readouterr().err
    assert sheet.read_bytes() == filled
    copy = tmp_path / "copy.csv"
    copy.write_bytes(filled)
    assert main([*command[:-1], str(copy), "--overwrite"]) == 0
    assert {row["answer"] for row in rows_of(copy)} == {""}

    agreement = ["judge", "agreement", str(key), "--human", str(sheet)]
    assert main(agreement) == 0
    key.write_text(key.read_text().replace('"accurate": 1', '"accurate": 0', 1))
    assert main(agreement) == 2
    assert "contains no judgements, or was changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "a sheet has the columns item and answer"),
        ("item,answer\n9,1\n", "'9' was not judged"),
        ("item,answer\n1,yes\n", "line 2: answer='yes': give a whole number from 0 to 1"),
        ("item,answer\n1,2\n", "line 2: answer='2': give a whole number"),
        ("item,answer\n1,0\n1,1\n", "line 3: a second answer to '1'"),
        ("item,answer\n1,\n", "contains no score"),
    ],
)
def test_a_sheet_with_a_fault_is_named(text, message, tmp_path, capsys):
    items = {"1": {"scores": {"match": 1}, "reasons": {}}}
    key = Judgements("statements", ("match",), (0, 1), {}, {}, items)
    (tmp_path / "key.json").write_text(json.dumps(key.to_json()))
    (tmp_path / "sheet.csv").write_text(text)
    command = ["judge", "agreement", str(tmp_path / "key.json")]
    assert main([*command, "--human", str(tmp_path / "sheet.csv")]) == 2
    assert message in capsys.readouterr().err
