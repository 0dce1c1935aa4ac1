"""SAGE, ScholarQuest and AutoResearchBench: their files by hand, and each score by hand."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

import arena
import arena.cli
from arena.corpus import Corpus
from arena.errors import DataError
from arena.suites import SUITES
from arena.tasks import TaskSet
from arena.testing import audit
from arena_suites.autoresearchbench.evaluate import expected_best
from arena_suites.sage.generator import write_files
from arena_suites.scholarquest.evaluate import score
from corpus_builder.cli import main
from corpus_builder.questions import FORMATS


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tasks_of(corpus: Path, given: str, output: Path, *more: str) -> TaskSet:
    words = ["tasks", str(corpus), "--questions", given, "--output", str(output), *more]
    assert main(words) == 0
    return TaskSet(Corpus(corpus, tasks=output))


@pytest.fixture
def sage(tmp_path, tiny) -> Path:
    tasks = TaskSet(tiny)
    gold = {paper for topic in tasks.topics for paper in tasks.gold(topic).gains}
    titles = [paper.title for paper in tasks.paper_names() if paper.id in gold]
    write_files(tmp_path / "sage", titles)
    return tmp_path / "sage"


def test_questions_of_sage_play_and_nothing_that_leaks_is_a_task(sage, tiny, tmp_path):
    short = tasks_of(tiny, f"sage-short={sage}", tmp_path / "short", "--before", "2030")
    assert sorted(short.topics)[:2] == ["sage:short:computer_science:0", "sage:short:healthcare:0"]
    open_ended = tasks_of(tiny, f"sage-open={sage}", tmp_path / "open", "--before", "2030")
    gains = open_ended.gold("sage:open:computer_science:0").gains
    assert sorted(gains.values()) == [1, 2, 2]  # two are most relevant
    run = arena.run(
        str(tiny), "question", "oracle", tmp_path / "run",
        tasks=str(tmp_path / "short"), metrics=["recall@1", "weighted_recall"],
    )  # fmt: skip
    assert run["mean"]["recall@1"] == 1.0
    for tasks in (short, open_ended):
        for topic in tasks.topics.values():
            gold = tasks.gold(topic.id).gains
            titles = [p.title.lower() for p in tasks.paper_names() if p.id in gold]
            shown = f"{topic.id} {topic.text}".lower()
            assert not any(title in shown for title in titles)
            assert "000000" not in shown  # the ids of the files


def test_an_audit_finds_no_label_of_sage(sage, tiny, tmp_path):
    tasks_of(tiny, f"sage-open={sage}", tmp_path / "open", "--before", "2030")
    given = {"tasks": tmp_path / "open", "environments": ["arena/Question-v0"]}
    assert audit(tiny, actions=60, **given).findings == []


def test_texts_are_scored_as_sage_does(sage, tmp_path):
    short = json.loads((sage / "Sage_Short_Form_Questions" / "humanities.json").read_text())
    title = short[0]["ground_truth"]["title"]
    (row,) = json.loads((sage / "Sage_Open_Ended_Questions" / "humanities.json").read_text())[
        "questions"
    ]
    truth = row["ground_truth"]
    named = f"{truth['most_relevant'][0]['title'].upper()}! and {truth['relevant'][0]['title']}"
    answers = lines(
        tmp_path / "answers.jsonl",
        {"id": "sage:short:humanities:0", "answer": f"<think>No.</think>It is: {title}..."},
        {"id": "sage:short:healthcare:0", "answer": f"<think>{title}"},
        {"id": "sage:open:humanities:0", "answer": named},
        {"id": "nobody", "answer": "x"},
    )
    found = SUITES.get("sage")(data=str(sage), answers=str(answers))
    assert found.topics["sage:short:humanities:0"]["exact_match"] == 1
    assert found.topics["sage:short:healthcare:0"]["exact_match"] == 0
    assert found.mean["exact_match"] == 1 / 4
    weighted = found.topics["sage:open:humanities:0"]["weighted_recall"]
    assert weighted == pytest.approx((2 + 1) / (2 + 2 + 1))
    assert len(found.missing) == 5 and "no question has the id 'nobody'." in found.problems


def test_other_forms_of_sage_are_refused_by_record_and_key(sage):
    path = sage / "Sage_Short_Form_Questions" / "humanities.json"
    path.write_text(json.dumps([{"complete_query": "?", "ground_truth": {"title": "T"}}]))
    with pytest.raises(DataError, match=r"humanities\.json record 1: ground_truth.*paperId"):
        list(FORMATS.get("sage-short")(sage))
    path = sage / "Sage_Open_Ended_Questions" / "humanities.json"
    nothing = {"question": "?", "ground_truth": {"most_relevant": [], "relevant": []}}
    path.write_text(json.dumps({"questions": [nothing]}))
    with pytest.raises(DataError, match="record 1: 'ground_truth' names no paper"):
        list(FORMATS.get("sage-open")(sage))
    for damaged in (b"", b"\xff"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"humanities\.json' is not JSON"):
            list(FORMATS.get("sage-open")(sage))
    path.unlink()
    with pytest.raises(DataError, match=r"humanities\.json' cannot be read"):
        list(FORMATS.get("sage-open")(sage))


def test_titles_and_answers_that_cannot_be_read_are_no_zeros(sage, tmp_path):
    path = sage / "Sage_Short_Form_Questions" / "humanities.json"
    truth = {"paperId": "1", "title": "結び目"}
    path.write_text(json.dumps([{"complete_query": "?", "ground_truth": truth}]))
    name = "sage:short:humanities:0"
    answers = lines(tmp_path / "answers.jsonl", {"id": name, "answer": "結び目"})
    row = SUITES.get("sage")(data=str(sage), answers=str(answers)).topics[name]
    assert row["exact_match"] is None and "no letter" in row["unread"]
    for line, message in (
        ({"id": name, "response": "x"}, "'answer' is missing"),
        ({"id": 5, "answer": "x"}, "'id' is 5"),
    ):
        lines(answers, {"id": "a", "answer": ""}, line)
        with pytest.raises(DataError, match=rf"answers\.jsonl line 2: {message}"):
            SUITES.get("sage")(data=str(sage), answers=str(answers))


def test_rankings_are_scored_as_scholarquest_does(tmp_path):
    gold = [f"2001.{n:05}" for n in range(60)]
    ranking = ["2001.00000v2", "arXiv:2001.00000", "x", "https://arxiv.org/abs/2001.00001"]
    row = score(ranking, gold)
    assert row["p50"] == 2 / 3 and row["r25"] == row["rall"] == 2 / 60
    ideal = sum(1 / math.log2(i + 1) for i in range(1, 51))  # of 50, though 60 are gold
    assert row["ndcg50"] == pytest.approx((1 + 1 / math.log2(4)) / ideal)
    data = lines(
        tmp_path / "data.jsonl",
        {"id": "a", "intent": "scope", "gold": gold},
        {"id": "b", "intent": "method", "gold": ["1"]},
        {"id": "c", "intent": "method", "gold": ["1", "2"]},
    )
    results = lines(
        tmp_path / "mine.jsonl",
        {"id": "a", "ranking": ranking, "tokens": 100, "calls": 3},
        {"id": "b", "failed": "timeout"},
        {"id": "c", "ranking": ["2"], "tokens": 50, "calls": 1},
    )
    entry = tmp_path / "entry.json"
    suite = SUITES.get("scholarquest")
    found = suite(data=str(data), results=str(results), entry=str(entry))
    assert found.mean["tokens"] == 75 and found.mean["calls"] == 2  # b is left out
    assert found.mean["rall"] == pytest.approx((2 / 60 + 1 / 2) / 2)
    assert found.group_means()["method"] == {
        "topics": 1, "mean": found.group_means()["method"]["mean"]
    }  # fmt: skip
    written = json.loads(entry.read_text())
    system, model = written["system"], written["model"]
    assert system["scores"]["method"] == {"r25": 1 / 2, "r100": 1 / 2, "rall": 1 / 2}
    assert model["valid"] == 2 and model["scores"]["method"]["valid"] == 1
    excluded = {"query_id": "b", "reason": "timeout"}
    assert model["evaluation_queries"] == {"valid_ids": ["a", "c"], "excluded": [excluded]}
    lines(results, {"id": "a", "ranking": [], "tokens": "many"})
    with pytest.raises(DataError, match=r"mine\.jsonl line 1: 'tokens' is 'many'"):
        suite(data=str(data), results=str(results))
    for row, message in (
        ({"ranking": [{"id": "1"}]}, "'ranking' is .*: expected ids, texts"),
        ({"ranking": ["1"], "tokens": float("nan")}, r"\[nan, 0\]: expected counts"),
        ({"ranking": ["1"], "calls": 10**400}, "expected counts"),
    ):
        lines(results, {"id": "a"} | row)
        with pytest.raises(DataError, match=message):
            suite(data=str(data), results=str(results))
    lines(data, {"id": "a", "intent": "scope", "gold": [None]})
    with pytest.raises(DataError, match=r"'gold' \[None\]: expected"):
        suite(data=str(data), results=str(results))
    data.write_text("")
    with pytest.raises(DataError, match="no topic to score: it is empty"):
        suite(data=str(data), results=str(results))
    data.write_text('\ufeff{"id": "a", "intent": "scope", "gold": ["1"]}\r\n')  # as of Windows
    lines(results, {"id": "a", "ranking": ["1"]})
    assert suite(data=str(data), results=str(results)).mean["rall"] == 1
    lines(data, *[{"id": "a", "intent": "scope", "gold": ["1"]}] * 2)
    with pytest.raises(DataError, match=r"data\.jsonl line 2: a second 'a'"):
        suite(data=str(data), results=str(results))
    lines(data, {"id": "a", "intent": "other", "gold": ["1"]})
    with pytest.raises(DataError, match=r"data\.jsonl line 1: 'intent' is 'other'"):
        suite(data=str(data), results=str(results))


DEEP = {"question": "Which?", "answer": ["Toy nets"], "arxiv_id": "2301.00001"}
WIDE = {"question": "All?", "answer": ["A", "B"], "type": "wide",
        "arxiv_id": ["2301.00001", "2402.00002v3"]}  # fmt: skip
NOBODY = {"question": "None?", "answer": ["None"], "arxiv_id": []}


def passed(*ids: str, state: str = "ids", title: str = "") -> dict[str, object]:
    candidates = [{"arxiv_id": name, "paper_title": title} for name in ids]
    return {"final_candidates": candidates, "final_candidate_state": state}


def test_candidates_are_scored_as_autoresearchbench_does(tmp_path):
    results = lines(
        tmp_path / "r.jsonl",
        {"input_data": WIDE, "inference_results": [
            passed("2301.00001v1", "2402.00002"), passed("2301.00001", "9"), passed(state="empty"),
        ]},
        {"input_data": DEEP, "inference_results": [
            passed("9", "2301.00001"), passed("2301.00001v2"), passed("", title="Toy Nets."),
        ]},
        {"input_data": NOBODY, "inference_results": [passed(state="none"), passed(state="empty")]},
    )  # fmt: skip
    found = SUITES.get("autoresearchbench")(results=str(results))
    wide, deep, nobody = found.topics.values()
    assert wide["iou"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert wide["precision"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    # the best of two of {1, 1/3, 0}: 1 in two of three pairs, else 1/3
    assert wide["max_iou@2"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert wide["max_iou@4"] is None  # three passes only
    assert deep["accuracy"] == pytest.approx(2 / 3) and deep["pass@2"] == 1
    assert nobody["accuracy"] == 1 / 2  # "empty" says nothing about papers that do not exist
    assert found.mean["accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    for row, message in (
        ("text", r"r\.jsonl line 1: .*is not a JSON object"),
        ({"input_data": DEEP, "inference_results": {}}, "'inference_results' is {}"),
        ({"input_data": DEEP, "inference_results": ["x"]}, "'x' is not a JSON object"),
        ({"input_data": WIDE | {"arxiv_id": []}, "inference_results": []}, "has no id, by which"),
    ):
        with pytest.raises(DataError, match=message):
            SUITES.get("autoresearchbench")(results=str(lines(results, row)))


def test_a_list_of_ids_is_wide_and_no_pass_has_no_best_of_several(tmp_path):
    wide = {key: value for key, value in WIDE.items() if key != "type"}
    other = wide | {"question": "Others?"}
    results = lines(
        tmp_path / "r.jsonl",
        {"input_data": wide, "inference_results": [passed("2301.00001")] * 2},
        {"input_data": other, "inference_results": []},
    )
    suite = SUITES.get("autoresearchbench")
    mean = suite(results=str(results)).mean
    assert (mean["iou"], mean["max_iou@2"], mean["max_iou@4"]) == (1 / 4, 1 / 2, None)
    lines(results, *[{"input_data": wide, "inference_results": []}] * 2)
    with pytest.raises(DataError, match=r"r\.jsonl line 2: a second line of 'All\?'"):
        suite(results=str(results))


def test_systems_are_compared_on_the_questions_of_both_in_any_order(tmp_path, capsys):
    rows = [
        {"input_data": DEEP | {"question": name}, "inference_results": [passed(answer)]}
        for name, answer in (("A?", "2301.00001"), ("B?", "9"), ("C?", "9"))
    ]
    one = lines(tmp_path / "one.jsonl", *rows[:2])
    two = lines(tmp_path / "two.jsonl", *reversed(rows))
    words = ["evaluate", "autoresearchbench", "--system", f"one={one}", "--system", f"two={two}"]
    assert arena.cli.main([*words, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert "accuracy, pass@1: 2 of 3 topics have a value for every system." in shown["notes"]
    means = shown["metrics"]["accuracy"]["means"]
    assert [row["mean"] for row in means.values()] == [1 / 2, 1 / 2]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_the_best_of_k_passes_is_that_of_all_subsets(values, data):
    k = data.draw(st.integers(1, len(values)))
    every = [max(subset) for subset in combinations(values, k)]
    assert expected_best(values, k) == pytest.approx(fmean(every), abs=1e-9)


def test_its_questions_play_and_a_right_answer_may_be_none(tiny, tmp_path):
    known = [paper.title for paper in TaskSet(tiny).paper_names()][:2]
    path = lines(tmp_path / "q.jsonl", DEEP | {"answer": known[:1], "arxiv_id": ""}, NOBODY)
    tasks = tasks_of(tiny, f"autoresearchbench={path}", tmp_path / "tasks", "--before", "2030")
    assert not tasks.gold("autoresearchbench:2").gains
    run = arena.run(str(tiny), "question", "oracle", tmp_path / "run",
                    tasks=str(tmp_path / "tasks"), empty_gold=True)  # fmt: skip
    assert run["empty_gold"]["abstained"] == 1
    bundle = lines(tmp_path / "b.jsonl", {"format": "x", "ciphertext": "abc"})
    with pytest.raises(DataError, match=r"b\.jsonl is the encoded bundle .*Decode it"):
        list(FORMATS.get("autoresearchbench")(bundle))
    bundle.write_text(json.dumps({"format": "x", "ciphertext": "abc"}, indent=1))
    with pytest.raises(DataError, match="Decode it"):
        SUITES.get("autoresearchbench")(results=str(bundle))
