"""The page of `arena view`: its funnel by hand, its data, and what it leaves out."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest
from compare_helpers import forge
from helpers import call
from hypothesis import given
from hypothesis import strategies as st
from llm_server import tool_call
from test_compare_page import check_safe, rebuilt, unpacked

import arena
from arena.agents import Agent
from arena.answers import ANSWERS
from arena.cli import main
from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import sealed, sha256_file, write_json
from arena.mindmap import MindMap
from arena.results.comparison import as_text
from arena.results.comparison.report import means, zeros
from arena.results.viewing import STAGES, as_page, funnel_of
from arena.results.viewing.drawing import charts, environment
from arena.results.viewing.packing import Texts
from arena.runs.directory import OpenedRun
from arena.runs.replaying import replay_episodes
from arena.session import Sessions
from arena.tasks import TaskSet
from arena.tools import encode


class Reader(Agent):
    """Finds p3 by a query, reads it, selects what it cites, and submits other papers."""

    def act(self, observation):
        left = 100 - observation["budget"]["steps"]
        return [
            call("search", query="neural passages", k=1),
            call("read", paper_id="p3"),
            call("search", query="encoders", k=1),
            call("select", paper_ids=["p4"]),
            call("submit", paper_ids=["p3", "p1"]),
        ][left]


@pytest.mark.parametrize("reports", ["x", {"s1": None}, {"s1": {}}, {"s1": {"cited": [1]}},
                                     {"s1": {"cited": [], "claims": [None]}}])  # fmt: skip
def test_verdicts_of_another_form_are_refused_and_no_board_reads_any(tiny, tmp_path, reports):
    arena.run(tiny, "report", "digest", tmp_path / "run")
    run = OpenedRun(tmp_path / "run")
    (run.directory / "judgements").mkdir()
    hashes = {"trajectories.jsonl": sha256_file(run.path)}
    kept = sealed({"reports": reports, "sha256": hashes})
    write_json(run.directory / "judgements" / "statements.json", kept)
    with pytest.raises(DataError, match=r"statements\.json' has judgements of another form"):
        as_page([run.directory], tiny)
    assert as_page([run.directory], tiny, labels=False).html


def test_every_reference_is_lost_where_it_was(tiny, tmp_path):
    arena.run(tiny, "discovery", Reader, tmp_path / "run", topics=["s1"])
    run, corpus = OpenedRun(tmp_path / "run"), Corpus.open(tiny)
    wanted = {each.paper: each for each in funnel_of(run, *run.open_corpus(corpus))["s1"]}
    lost = {paper: each.lost for paper, each in wanted.items()}
    assert lost == {
        "p3": None,  # shown first, read, and submitted first
        "p4": "ranked",  # selected only, and never read: no stage of loss
        "p2": "reach",  # neither query has a word of it
        "p5": "corpus",  # undated
        "p6": "corpus",  # a topic
        "p8": "corpus",  # later
        "lost:4": "listed",
    }
    assert wanted["p3"].stages == tuple(STAGES)
    assert {*STAGES} - {*wanted["p4"].stages} == {"opened", "submitted", "counted"}
    assert (wanted["p3"].rank, wanted["p3"].query, wanted["p3"].submitted) == (1, 1, 1)
    assert (wanted["p4"].rank, wanted["p4"].query, wanted["p4"].submitted) == (1, 3, None)


def test_what_is_counted_is_what_the_headline_counts(synthetic, tmp_path):
    arena.run(synthetic, "discovery", "scout", tmp_path / "run", topics=3)
    run, corpus = OpenedRun(tmp_path / "run"), Corpus.open(synthetic)
    funnels = funnel_of(run, *run.open_corpus(corpus))
    for record in run.episodes():
        wanted = funnels[record["topic_id"]]
        reach = [each for each in wanted if "reach" in each.stages]
        counted = [each for each in wanted if each.lost is None]
        assert len(counted) / len(reach) == pytest.approx(record["metrics"]["recall@100"])
        shown = sum("shown" in each.stages for each in wanted)
        assert shown / len(reach) == pytest.approx(sum(step["gain"] for step in record["steps"]))


def test_observations_are_built_again_from_their_parts(synthetic, tmp_path):
    arena.run(synthetic, "discovery", "scout", tmp_path / "run", topics=1)
    run, corpus = OpenedRun(tmp_path / "run"), Corpus.open(synthetic)
    blocks = unpacked(as_page([tmp_path / "run"], corpus).html)
    texts = [text for name, block in blocks.items() if name.startswith("t") for text in block]
    assert len(texts) == len(set(texts))
    episode = blocks["e0"][0][1]["0"]
    ((_, steps),) = replay_episodes(run, corpus)
    for parts, step in zip(episode["o"], steps, strict=True):
        built, exact = rebuilt(parts, texts), step.observation["result"]
        score = r'(?<="score":)[^}]+'
        assert re.sub(score, "", built) == re.sub(score, "", exact)
        for mine, theirs in zip(re.findall(score, built), re.findall(score, exact), strict=True):
            assert float(mine) == pytest.approx(float(theirs), abs=0.006)  # of scores below 100
    for parts, step in zip(episode["a"], steps[1:], strict=True):
        assert json.loads(rebuilt(parts, texts)) == step.action


KEYS = st.text() | st.sampled_from(["id", "title", "date"])
JSON = st.recursive(
    st.text() | st.integers() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
)


@given(JSON)
def test_any_json_is_built_again(value):
    texts = Texts()
    texts.paper("a", "A title", "2020-01-01")
    text = encode({"hits": [{"id": "a", "title": "A title", "date": "2020-01-01"}], "more": value})
    parts = texts.pack(text)
    assert rebuilt(parts, [*texts]) == text


def test_the_page_is_the_same_twice_and_refers_to_nothing(title_run, synthetic):
    html = as_page([title_run], synthetic, topics=2).html
    assert html == as_page([title_run], synthetic, topics=2).html
    check_safe(html)


def test_without_labels_nothing_depends_on_them(title_run, synthetic):
    view = as_page([title_run], synthetic, topics=2, labels=False)
    blocks = unpacked(view.html)
    assert "This page shows the labels" not in view.html and 'id="funnel"' not in view.html
    assert "recall" not in view.html
    for refs, episodes in [pair for name in blocks if name[0] == "e" for pair in blocks[name]]:
        assert refs == []
        (episode,) = episodes.values()
        assert not {"r", "t", "w", "wanted", "later", "metrics", "ranks"} & set(episode)
    cutoffs = {row[0]: row[2] for row in blocks["index"]["topics"]}
    texts = "".join(text for name, block in blocks.items() if name[0] == "t" for text in block)
    assert max(re.findall(r'"date":"([^"]*)"', texts)) < max(cutoffs.values())
    assert all(episode[3] == [] for episode in blocks["index"]["episodes"])


def test_commands(title_run, synthetic, tmp_path, capsys):
    output = tmp_path / "view.html"
    command = ["view", str(title_run), "--corpus", str(synthetic)]
    assert main([*command, "--topics", "2", "--output", str(output), "--watch", "5"]) == 0
    assert "2 episodes" in capsys.readouterr().out and output.is_file()
    for bad, said in (
        (["--topics", "nobody"], "no topic 'nobody'"),
        (["--watch", "-1"], "give seconds above 0"),
        (["--answers", "nowhere"], "nowhere"),
        (["--output", str(tmp_path / "no" / "v.html")], "there is no directory"),
    ):
        assert main([*command, "--output", str(output), *bad]) == 2
        assert said in capsys.readouterr().err
    assert main(["view", str(title_run), "--output", str(output)]) == 0
    html = output.read_text("utf-8")
    assert (
        'id="means"' in html
        and 'id="episodes"' not in html
        and "0 episodes" in capsys.readouterr().out
    )
    show = ["show", str(title_run), "--corpus", str(synthetic), "--json", "--steps"]
    assert main([*show, "1-2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2]
    for bad in ("9", "2-1", "x"):
        assert main([*show, bad]) == 2
        assert f"--steps {bad}" in capsys.readouterr().err.replace("'", "")


def test_of_too_many_episodes_the_first_are_on_the_page(title_run, synthetic, monkeypatch):
    monkeypatch.setattr("arena.results.viewing.page.MOST_EPISODES", 3)
    page = as_page(arena.compare([title_run]), synthetic)
    assert page.episodes == 3
    assert "The episodes of 5 topics are not on the page" in page.html
    assert "of the corpus <bdi>" in page.html and "8 topics" in page.html
    assert as_page([title_run], synthetic, topics=4).episodes == 4  # who chooses gets all


def test_runs_that_cannot_be_compared_have_their_means(title_run, synthetic, tmp_path):
    arena.run(synthetic, "organization", "random", tmp_path / "maps", topics=2)
    page = as_page([title_run, tmp_path / "maps"], synthetic)
    assert page.episodes == 10 and "they differ in task" in page.html
    mean = json.loads((title_run / "metrics.json").read_text())["mean"]["recall@100"]
    foot = page.html[page.html.index("<tfoot>") :]
    assert foot.startswith(f'<tfoot><tr><th scope="row">mean</th><td></td><td>{mean:.4f}</td>')


def test_no_oracle_has_a_star(title_run, tmp_path):
    """Better on all of eight topics: p is 2 / 2**8, of three comparisons twice that or less."""
    topics = json.loads((title_run / "manifest.json").read_text())["topics"]
    runs = []
    for name, value in (("base", 0.1), ("mine", 0.2), ("oracle", 0.3)):
        named = {"agent": name}
        scores = {"recall@10": dict.fromkeys(topics, value)}
        runs.append(forge(title_run, tmp_path / name, scores, lambda m, new=named: m.update(new)))
    text, html = as_text(found := arena.compare(runs)), as_page(found).html
    mine, oracle = (line for line in text.splitlines() if line[-1:] == "0" and "0.0156" in line)
    assert "+0.1000" in mine and "0.0156*" in mine
    assert "+0.2000" in oracle and "*" not in oracle
    (mine,) = (row for row in html.split("<tr>")[1:] if "0.0156" in row)  # no oracle is a rival
    assert "+0.1000" in mine and "0.0156*" in mine
    assert "corrected p is at most 0.05" in html
    first = as_page(arena.compare(runs, baseline="oracle, bm25")).html
    assert "which is no rival" in first and "0.0156" not in first
    assert "A mean that alone is the best is bold" in html
    assert "no rival, and there are" not in html + first


def test_means_have_floors_and_ceilings_and_no_zeros(title_run, tmp_path):
    topics = json.loads((title_run / "manifest.json").read_text())["topics"]
    mean = {"reference_recall": 0.25, "late_rate": 0.0, "survey_rate": 0.5, "reference_count": 4.0}
    scores = {name: dict.fromkeys(topics, value) for name, value in mean.items()}
    floors = {
        "predicted": mean, "other_topics": {"reference_recall": 0.05, "survey_rate": 0.75},
        "random": {"reference_recall": 0.1, "survey_rate": 1.0},
    }  # fmt: skip
    runs = []
    for name in ("mine", "oracle"):
        made = forge(title_run, tmp_path / f"{name}1", scores, lambda m, n=name: m.update(agent=n))
        metrics = json.loads((made / "metrics.json").read_text())
        metrics |= {"floors": floors, "ceiling": mean}
        (made / "metrics.json").write_text(json.dumps(metrics))
        runs.append(f"{name}={forge(made, tmp_path / name)}")
    found = arena.compare(runs)
    table = means(found, brief=True)
    assert table.header == ["report", "reference_recall", "survey_rate", "reference_count"]
    assert table.rows == [
        ["mine", "0.2500 (0.2500 to 0.2500; floor 0.1000)",
         "0.5000 (0.5000 to 0.5000; floor 0.7500)", "4.0000 (4.0000 to 4.0000)"],
        ["oracle (ceiling)", "0.2500 (0.2500 to 0.2500)", "0.5000 (0.5000 to 0.5000)",
         "4.0000 (4.0000 to 4.0000)"],
    ]  # fmt: skip
    assert zeros(found) == ["late_rate"]
    (_, share, bars), (_, count, _) = charts(found)  # of one run that is no ceiling
    assert [(bar.name, bar.floor, bar.ceiling) for bar in bars] == [
        ("reference_recall", 0.1, 0.25), ("survey_rate", 0.75, 0.5)
    ]  # fmt: skip
    assert (share.ticks[-1], count.ticks[-1]) == (0.8, 4)
    html = as_page(found).html
    assert "Lower is better: survey_rate. 0 in every run: late_rate" in html
    assert 'class="floor"' in html
    assert "there are no two other runs" in html and "is bold" not in html


def test_numbers_of_a_page_have_no_negative_zero():
    number = environment().filters["number"]
    assert [number(-1e-14, 3), number(-0.0006, 3)] == ["0.000", "-0.001"]
    assert number(-0.0001, 3) == ">-0.001"
    assert [number(12345), number(None), number("x")] == ["12,345", "-", "x"]


def tree(label, papers=(), *children):
    return MindMap(label, tuple(children), tuple(papers))


class OwnMap(NamedTuple):
    """Labels of a topic that has this map, with the references in reach."""

    own: MindMap
    gains: str = "abc"
    expert = False

    def mind_map(self, topic_id):
        return self.own

    def gold(self, topic_id):
        return self


def test_maps_agree_on_headings_and_papers():
    made = tree("x", (), tree("Dense retrieval", "ab"), tree("cats", "cd"))
    own = tree("y", (), tree("dense retrieval", "ac"), tree("indexes", "be"))
    kind = ANSWERS.get("map")
    (_, mine), (_, theirs) = kind.panel(made, OwnMap(own), "s")["value"]
    assert [(each["label"], each["match"], each["papers"]) for each in mine["children"]] == [
        ("Dense retrieval", 1, [["a", "=", "dense retrieval"], ["b", "!", "indexes"]]),
        ("cats", 0, [["c", "!", "dense retrieval"], ["d", "", ""]]),
    ]
    assert [(each["match"], each["papers"]) for each in theirs["children"]] == [
        (1, [["a", "=", "Dense retrieval"], ["c", "!", "cats"]]),
        (0, [["b", "!", "Dense retrieval"], ["e", "", ""]]),
    ]  # fmt: skip
    ((name, alone),) = kind.panel(made, None, "s")["value"]
    assert name == "submitted"
    assert alone["children"][0]["papers"] == [["a", "", ""], ["b", "", ""]]
    assert kind.tally(made, OwnMap(own), "s") == [
        ("headings of the survey that match", 1, 2),
        ("papers in reach: under a matching heading", 1, 3),
        ("papers in reach: filed elsewhere", 2, 3),
        ("papers in reach: not filed", 0, 3),  # no agent can file e
    ]
    nothing = [n for _, n, _ in kind.tally(None, OwnMap(own), "s")]
    assert nothing == [0, 0, 0, 3]
    twice = OwnMap(tree("y", (), tree("x"), tree("x")))
    assert kind.tally(tree("z"), twice, "s") == [("headings of the survey that match", 0, 2)]
    both = kind.tally(tree("z", (), tree("x")), twice, "s")
    assert both == [("headings of the survey that match", 2, 2)]  # as the page marks both


class Influential(NamedTuple):
    """Labels of a topic with these gains."""

    gains: dict[str, int]

    def gold(self, topic_id):
        return self


def test_ranks_of_influential_papers_are_counted():
    ranking = [f"x{n}" for n in range(150)]
    gains = {"x0": 2, "x99": 2, "x120": 2, "lost": 2, "x3": 1, "away": 1}
    assert ANSWERS.get("ranking").tally(ranking, Influential(gains), "s") == [
        ("influential references in reach: among the first 10", 1, 4),
        ("influential references in reach: among the first 100", 2, 4),
        ("influential references in reach: anywhere", 3, 4),
        ("other references in reach: anywhere", 1, 2),
    ]
    assert ANSWERS.get("ranking").tally(ranking, Influential({"x3": 1}), "s") == [
        ("other references in reach: anywhere", 1, 1)
    ]


def test_citations_of_a_report_have_their_standing(tiny):
    text = "Known [@p3; @p8; @nowhere; @p1]."
    panel = ANSWERS.get("report").panel(text, TaskSet(tiny), "s1")
    assert panel["cited"] == {
        "p3": ("+", "cited by the topic"),
        "p8": ("!", "not before the survey"),
        "nowhere": ("!", "not in the corpus"),
        "p1": ("", "not cited by the topic"),
    }
    assert ANSWERS.get("report").panel(text, None, "s1")["cited"] == {}
    tally = ANSWERS.get("report").tally(text, TaskSet(tiny), "s1")
    assert [row for row in tally if row[1]] == [
        ("cited papers: cited by the topic", 1, 4),
        ("cited papers: not cited by the topic", 1, 4),
        ("cited papers: not before the survey", 1, 4),
        ("cited papers: not in the corpus", 1, 4),
        ("influential references in reach: cited", 1, 1),
        ("references in reach: cited", 1, 3),
    ]
    assert len(tally) == 9  # none is left out, so that sums over topics are of all
    assert not any(n for _, n, _ in ANSWERS.get("report").tally(None, TaskSet(tiny), "s1"))


def ask(body):
    answered = sum(message["role"] == "assistant" for message in body["messages"])
    return [tool_call("search", {"query": "ranking"}) | {"content": "Now."}, "Done."][answered]


def test_what_a_model_wrote_and_used(tiny, play):
    run, store = play(ask)
    blocks = unpacked(as_page([run], tiny, answers=store).html)
    episode = blocks["e0"][0][1]["0"]
    ((first, calls, read, wrote, begin, *notes),), (last,) = (
        episode["said"]["1"],
        episode["said"]["2"],
    )
    assert first == "Now." and calls[0]["function"]["name"] == "search" and last[0] == "Done."
    assert notes == ["turn", "", ""] and last[5:7] == ["turn", "unreadable"]
    used = [(read, wrote), last[2:4]]
    texts = [text for name, block in blocks.items() if name.startswith("t") for text in block]
    (same, opening), (more, then) = begin, last[4]
    assert same == 0 and episode["topic"] in rebuilt(opening, texts)
    # The second prompt is the first one, the answer to it, and what step 1 returned.
    assert more == len(json.loads(rebuilt(opening, texts)))
    said, result = json.loads(rebuilt(then, texts))
    assert (said["role"], said["content"]) == ("assistant", "Now.")
    assert (result["role"], result["content"]) == ("tool", 1)
    assert [sum(pair) for pair in zip(*used, strict=True)] == [
        episode["usage"]["prompt_tokens"], episode["usage"]["completion_tokens"]
    ]  # fmt: skip


def test_rollouts_of_a_integration_are_seen(tiny, tmp_path, capsys):
    folder, totals = tmp_path / "rollouts", []
    sessions = Sessions.make(tiny, record=folder, max_steps=7)
    for query in ("encoders", "neural passages"):
        session = sessions.open(query, topic_id="s1")
        session.step(call("search", query=query, k=9))
        session.step(call("select", paper_ids=["p3"]))
        totals.append(sessions.close(query))
    lines = (folder / "rollouts.jsonl").read_text().splitlines()
    assert [set(json.loads(line)) for line in lines] == [
        {"task", "settings", "topic_id", "topic", "cutoff", "actions"}
    ] * 2  # no reward, gain or score
    output = tmp_path / "view.html"
    assert main(["view", str(folder), "--corpus", str(tiny), "--output", str(output)]) == 0
    assert "2 episodes" in capsys.readouterr().out
    for number, total in enumerate(totals, 1):
        (record,) = OpenedRun(folder / f"rollout-{number}").episodes()
        assert record["metrics"] == total.metrics and record["spent"]["steps"] == 3
        assert sum(step["reward"] for step in record["steps"]) == total.reward
    (folder / "rollouts.jsonl").write_text("{}\n")
    assert main(["view", str(folder), "--corpus", str(tiny), "--output", str(output)]) == 2
    assert "line 1 is not a rollout" in capsys.readouterr().err


def test_rollouts_are_watched_while_a_trainer_records(tiny, tmp_path, capsys, monkeypatch):
    folder, output, waits = tmp_path / "rollouts", tmp_path / "view.html", []
    sessions = Sessions.make(tiny, record=folder, max_steps=3)
    command = ["view", str(folder), "--corpus", str(tiny), "--output", str(output)]
    assert main(command) == 2
    assert "no episode has ended yet" in capsys.readouterr().err

    def train(seconds):
        waits.append(seconds)
        if len(waits) > 3:
            raise KeyboardInterrupt
        if len(waits) < 3:  # no episode ended before the third look
            session = sessions.open(topic_id="s1")
            session.step(call("search", query="encoders", k=len(waits)))
            session.finish()

    monkeypatch.setattr("time.sleep", train)
    assert main([*command, "--watch", "7"]) == 130
    assert waits == [7] * 4
    lines = [line for line in capsys.readouterr().out.splitlines() if "episode" in line]
    assert [line.split()[1] for line in lines] == ["1", "2"]
