"""Actions that no tool takes, on the page of `arena view`: each costs its own step alone."""

from __future__ import annotations

import json

import pytest
from helpers import call
from llm_server import LLMServer
from test_compare_page import rebuilt
from test_view_browser import NOW, browser, pytestmark, visit, wait_at  # noqa: F401 - fixtures

import arena
from arena.agents import Agent
from arena.results.viewing import as_page
from arena.results.viewing.packing import Texts
from arena.runs.directory import OpenedRun
from arena.tools import encode

ODD = {"toString": 1, "valueOf": None, "__proto__": {"x": 1}, "length": -1}


def paper(score=None, paper_id="s1"):
    found = {"id": paper_id, "title": "A RENAMED PAPER", "date": "d"}
    return found if score is None else found | {"score": score}


def nested(depth):
    value = {"label": "leaf"}
    for _ in range(depth):
        value = {"label": "x", "children": [value]}
    return value


ACTIONS = [
    # scores that no digits fit
    call("search", query="graphs", x=paper(4e-312)),
    call("search", query="graphs", x=paper(10**390)),
    call("search", query="graphs", x=[paper(1.5), paper(), paper(-2e300), paper(0)]),
    call("search", query="graphs", x=[paper("high"), paper(None), paper(True)]),
    {"tool": "search", "arguments": [paper(2.5), paper(), paper(3)]},
    # queries
    call("search", queries="text"),
    call("search", queries=[None]),
    call("search", queries=[[], {}, ODD]),
    call("search", queries={"join": 1}),
    call("search", query=None),
    call("search", query=ODD),
    call("search", query=7),
    call("search", query=["a", "b"], k=-1),
    # ids
    call("select", paper_ids=[None, 1, {"a": 1}, ODD]),
    call("select", paper_ids="p1"),
    call("select", paper_ids=ODD),
    call("select", paper_ids=None),
    call("read", paper_id=ODD),
    call("read", paper_id=[]),
    call("read", paper_id=0),
    # maps
    call("organize", mind_map={"label": "x", "children": "abc", "papers": "p1"}),
    call("organize", mind_map={"label": "x", "children": [None, 3, "t", []]}),
    call("organize", mind_map={"label": ODD, "papers": [None, ODD]}),
    call("organize", mind_map={"label": None, "children": {"length": 2}}),
    call("organize", mind_map=[{"label": "x"}]),
    call("organize", mind_map=nested(150)),
    # texts
    call("write", heading=ODD, text=ODD),
    call("write", heading=[], text=["@p1", "@{p1}"]),
    call("write", heading="h", text="@{" * 20_000),
    call("write", heading="h", text="@" * 20_000),
    call("write", heading="\ud800", text="\u202e@{\u2028}"),
    # no call at all
    {"tool": ODD, "arguments": {"query": "q"}},
    {"tool": None, "arguments": None},
    {"tool": ["search"], "arguments": {"query": ODD}},
    {"arguments": {"": {"": ""}}},
    {"tool": "search", "arguments": "query"},
    [paper(1e-300), "x"],
    [],
    "",
    "{\"tool\": \"search\", \"arguments\": {\"query\": \"q\"",
    '{"error": "none"}',
    None,
]  # fmt: skip


class Hostile(Agent):
    """Takes all actions, a map that might be accepted last, and then submits."""

    actions = sorted(ACTIONS, key=lambda action: "mind_map" in str(action))

    def act(self, observation):
        taken = 100 - observation["budget"]["steps"]
        return self.actions[taken] if taken < len(self.actions) else call("finish")


@pytest.mark.parametrize("task", ["discovery", "organization"])
def test_every_step_of_a_hostile_agent_and_all_others_are_shown(
    task, tiny, tmp_path, visit  # noqa: F811
):  # fmt: skip
    runs = {"hostile": Hostile, "other": "random"}
    for name, agent in runs.items():
        arena.run(tiny, task, agent, tmp_path / name, topics=["s1"])
    records = {name: next(OpenedRun(tmp_path / name).episodes()) for name in runs}
    steps, others = (len(record["steps"]) for record in records.values())
    assert steps >= 37
    path = tmp_path / "view.html"
    path.write_text(as_page([f"{n}={tmp_path / n}" for n in runs], tiny).html, "utf-8")
    tab = visit(path, "#e/hostile/s1/1")
    for number in range(1, steps + 1):
        wait_at(tab, f"step {number} of {steps}")
        assert tab.is_hidden("#trouble"), tab.inner_text("#trouble")
        tab.locator(f"{NOW} .budget").wait_for()  # the last part of a step
        assert "cannot be drawn" not in tab.inner_text("#steps"), number
        tab.evaluate(f"go({number + 1})")
    tab.click("#h-episode a")
    tab.click("#aligned summary")
    tab.wait_for_selector("#beside tbody tr")
    assert tab.locator("#beside tbody tr").count() >= steps
    assert tab.is_hidden("#trouble")
    built = "loadAll().then(() => current.all[0].a.map(build).map(JSON.parse).length)"
    assert tab.evaluate(built) == steps
    tab.goto(path.as_uri() + "#search")
    tab.evaluate("document.getElementById('find').requestSubmit()")
    tab.locator("#found", has_text=f"{steps + others} steps").wait_for()
    assert tab.locator("#hits li").count() == steps + others
    tab.fill("#words", "renamed")
    tab.evaluate("document.getElementById('find').requestSubmit()")
    tab.locator("#found", has_text="6 steps").wait_for()
    tab.goto(path.as_uri() + "#e/other/s1/1")
    wait_at(tab, "step 1 ")
    assert "RENAMED" not in tab.inner_text("#episode") and tab.is_hidden("#trouble")


def test_a_step_that_cannot_be_drawn_costs_itself(tiny, tmp_path, visit):  # noqa: F811
    arena.run(tiny, "discovery", "title", tmp_path / "title", topics=["s1"])
    path = tmp_path / "view.html"
    path.write_text(as_page([tmp_path / "title"], tiny).html, "utf-8")
    tab = visit(path, "#e/title%2C%20bm25/s1/1")
    tab.evaluate("current.own.a[0] = ['{']")  # as no page has it
    tab.evaluate("drawSteps()")
    tab.evaluate("route()")
    tab.locator(NOW, has_text="This step cannot be drawn: ").wait_for()
    assert '"{"' in tab.inner_text(f"{NOW} pre") and tab.is_hidden("#trouble")
    tab.evaluate("go(2)")
    wait_at(tab, "step 2 ")
    tab.locator(f"{NOW} .budget").wait_for()
    assert "cannot be drawn" not in tab.inner_text(NOW)


def test_an_answer_that_cannot_be_drawn_costs_itself(tiny, tmp_path, visit):  # noqa: F811
    for agent in ("title", "random"):
        arena.run(tiny, "discovery", agent, tmp_path / agent, topics=["s1"])
    path = tmp_path / "view.html"
    path.write_text(as_page([tmp_path / "title", tmp_path / "random"], tiny).html, "utf-8")
    tab = visit(path)
    tab.evaluate("topic(0).then(([, all]) => { all[0].answers[0][2] = ['{']; })")  # as no page has
    tab.goto(path.as_uri() + "#s1")
    tab.locator("#topic", has_text="This answer cannot be drawn: ").wait_for()
    assert tab.locator("#topic .columns section ol.papers").count() == 1  # the other one
    assert tab.is_hidden("#trouble")


@pytest.mark.parametrize("scores", [(3e-310,), (1e200,), (0.5, 2e16), (0.25, None, 0.125), (0,)])
def test_scores_that_no_digits_fit_stay_as_they_are(scores):
    texts = Texts()
    hits = [paper(score, f"p{place}") for place, score in enumerate(scores)]
    parts = texts.pack(encode(hits))
    assert json.loads(rebuilt(parts, [*texts])) == hits


AGENT = '''
from arena.llm import Fields, LLMAgent, ParseError

class Asker(LLMAgent):
    """Asks once, and searches for the topic if the answer has no number."""

    templates = {"guess": Fields(("topic",))}

    def discover(self, desk):
        def read(text):
            if not text.isdigit():
                raise ParseError("There is no number in it.")
            return text
        yield from desk.search(self.ask("guess", read, topic=desk.topic) or desk.topic)
'''


@pytest.mark.usefixtures("alone")
def test_the_prompt_of_an_agent_in_a_file_and_why_its_answer_was_not_read(
    tiny, tmp_path, visit  # noqa: F811
):  # fmt: skip
    (tmp_path / "asker.py").write_text(AGENT)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "guess.txt").write_text("A number for $topic, please.")
    agent, store = f"{tmp_path / 'asker.py'}:Asker", tmp_path / "answers.db"
    with LLMServer(["<b>seven</b>", "seven"]) as server:
        given = {"model": "m", "base_url": server.url, "store": str(store)}
        arena.run(tiny, "discovery", agent, tmp_path / "run", topics=["s1"], agent_options=given)
    path = tmp_path / "view.html"
    path.write_text(as_page([f"asks={tmp_path / 'run'}"], tiny, answers=store).html, "utf-8")
    tab = visit(path, "#e/asks/s1/1")
    tab.locator(f"{NOW} .budget").wait_for()
    assert tab.locator(f"{NOW} h4", has_text="The model answered (guess)").count() == 2
    whys = tab.locator(f"{NOW} p.labels").all_inner_texts()
    assert whys == [
        "Asked again, unreadable: There is no number in it.",
        "Not used, unreadable: There is no number in it.",
    ]
    assert tab.locator(f"{NOW} .said").first.inner_text() == "<b>seven</b>"
    for number in range(2):
        tab.locator(".prompt summary").nth(number).click()
    tab.locator(".prompt", has_text="Your answer could not be read").wait_for()
    assert "A number for neural ranking" in tab.inner_text(".prompt .text >> nth=0")
    assert "No answer of the model was readable in asks." in tab.text_content(".verdict")
