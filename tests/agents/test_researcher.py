"""Agents that are one generator: when they submit, and that no budget is overspent."""

from __future__ import annotations

import json
from contextlib import suppress

import gymnasium
import pytest
from helpers import played
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import arena
from arena.agents import Desk, KnownPaper, Researcher
from arena.errors import ArenaError


class Greedy(Researcher):
    """Make every move as long as the budget allows it."""

    def discover(self, desk):
        yield from self._all(desk)
        desk.ranking = [*desk.papers, "no such paper", *desk.papers]

    def organize(self, desk):
        yield from self._all(desk)
        desk.mind_map = {"label": "map", "children": ["one"]}

    def report(self, desk):
        yield from self.discover(desk)
        for number in range(300):
            yield from desk.write(f"Section {number}", f"{desk.topic} " * 20)

    def _all(self, desk):
        for number in range(300):
            word = desk.topic.split()[number % len(desk.topic.split())]
            yield from desk.search(word, k=37, offset=number)
            for paper_id in list(desk.papers)[:2]:
                yield from desk.read(paper_id)
                yield from desk.references(paper_id)
                yield from desk.citations(paper_id)
        assert not desk.searches_left
        assert not desk.reads_left or desk.read_count <= 2


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    task=st.sampled_from(["Discovery", "Selection", "Organization", "Pipeline", "Report"]),
    steps=st.integers(3, 60),
    searches=st.integers(0, 20),
    reads=st.integers(0, 20),
    characters=st.one_of(st.integers(0, 500_000), st.just(2_000_000)),
    max_k=st.integers(1, 100),
)
def test_no_budget_is_overspent(synthetic, task, steps, searches, reads, characters, max_k):
    env = gymnasium.make(
        f"arena/{task}-v0", corpus=synthetic, max_steps=steps, max_searches=searches,
        max_reads=reads, max_characters=characters, max_k=max_k,
    )  # fmt: skip
    actions, info, truncated = played(env, Greedy())
    assert not truncated
    wanted = {"Pipeline": {"discovery", "selection", "organization"}}.get(task, {task.lower()})
    assert set(info["answers"]) == wanted
    assert all(action.get("tool") != "finish" for action in actions)


class Writes(Researcher):
    """Find a paper, write sections about it, and then submit `text`."""

    text: str | None = None
    sections = ("A finding [@{}].", "Another [@{}].")

    def report(self, desk):
        yield from self.discover(desk)
        del desk.ranking[2:]
        for number, text in enumerate(self.sections):
            self.last = yield from desk.write(f"Part {number}", text.format(desk.ranking[0]))
        desk.report = self.text


def submitted(synthetic, agent, **options):
    env = gymnasium.make("arena/Report-v0", corpus=synthetic, **options)
    actions, info, truncated = played(env, agent)
    assert not truncated
    return [action["tool"] for action in actions], info["answers"].get("report")


def test_what_is_submitted_as_a_report(synthetic):
    agent = Writes()
    tools, draft = submitted(synthetic, agent)
    assert tools == ["search", "write", "write", "submit_report"]
    assert draft.startswith("## Part 0\n\nA finding [@")
    assert agent.last["sections"] == 2

    agent = Writes()
    agent.sections, agent.text = (), "# A text\n\nIt is whole."
    assert submitted(synthetic, agent) == (["search", "submit_report"], agent.text)

    agent = Writes()
    agent.sections = ()
    _, listed = submitted(synthetic, agent)
    assert listed.count("[@") == 2  # a list of the ranking


class Calls(Researcher):
    """Call tools by name until no step is left."""

    def discover(self, desk):
        hits = yield from desk.search(desk.topic)
        self.kept = yield from desk.select(hit.id for hit in hits[:2])
        self.read = yield from desk.call("read", paper_id=hits[0].id)
        self.refused = yield from desk.call("no_such_tool", words="x")
        while desk.steps_left:
            yield from desk.call("references", paper_id=hits[0].id)
        self.none = yield from desk.call("read", paper_id=hits[1].id)
        desk.ranking = [hit.id for hit in hits]


def test_any_tool_is_called_while_steps_are_left(synthetic):
    agent = Calls()
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, max_steps=8)
    actions, info, truncated = played(env, agent)
    assert not truncated
    assert [action["tool"] for action in actions] == [
        "search", "select", "read", "no_such_tool", "references", "references", "references",
        "submit",
    ]  # fmt: skip
    assert agent.kept == {"selected": 2}
    assert agent.read["title"]
    assert "no_such_tool" in agent.refused["error"]
    assert agent.none == {}
    assert info["answers"]["discovery"]


def test_a_topic_is_worked_on_in_three_stages_on_one_desk(synthetic):
    stages = []

    class Three(Researcher):
        def discover(self, desk):
            hits = yield from desk.search("membrane", k=3)
            desk.ranking = [hit.id for hit in hits]
            stages.append((desk.stage, len(hits), id(desk)))

        def select(self, desk):
            desk.ranking.reverse()
            stages.append((desk.stage, len(desk.papers), id(desk)))
            yield from ()

        def organize(self, desk):
            text = yield from desk.read(desk.ranking[0])
            desk.mind_map = {"label": "x", "children": [text.split()[0]]}
            stages.append((desk.stage, desk.read_count, id(desk)))

    env = gymnasium.make("arena/Pipeline-v0", corpus=synthetic)
    actions, info, _ = played(env, Three())
    assert [action["tool"] for action in actions] == [
        "search", "submit", "submit", "read", "organize",
    ]  # fmt: skip
    assert info["answers"]["selection"] == info["answers"]["discovery"][::-1]
    assert [stage for stage, *_ in stages] == ["discovery", "selection", "organization"]
    assert len({desk for *_, desk in stages}) == 1


def test_by_default_it_plays_as_title(synthetic, tmp_path):
    for task in ("discovery", "selection", "pipeline", "report"):
        ours = arena.run(synthetic, task, Researcher, tmp_path / f"{task}-ours", topics=4)
        title = arena.run(synthetic, task, "title", tmp_path / f"{task}-title", topics=4)
        assert ours["mean"] == title["mean"]
        for name in ("run.trec", "run.discovery.trec", "run.selection.trec"):
            path = tmp_path / f"{task}-ours" / name
            if path.exists():
                other = (
                    (tmp_path / f"{task}-title" / name).read_text().replace(" title", " Researcher")
                )
                assert path.read_text() == other


def test_a_refused_answer_is_not_submitted_again(synthetic):
    class Wrong(Researcher):
        def organize(self, desk):
            desk.mind_map = {"label": "x", "children": [{"label": "y", "papers": ["nobody"]}]}
            yield from ()

    env = gymnasium.make("arena/Organization-v0", corpus=synthetic)
    actions, info, truncated = played(env, Wrong())
    assert [action["tool"] for action in actions] == ["organize", "finish"]
    assert not truncated
    assert info["answers"] == {}


def test_the_desk_tells_engines_and_papers(synthetic):
    env = gymnasium.make("arena/Organization-v0", corpus=synthetic)
    observation, _ = env.reset(seed=1)
    listed = json.loads(observation["result"])["references"]
    desk = Desk(observation, arena.tool_schemas(env))
    assert desk.retrievers == ("bm25",)
    assert desk.given == [paper["id"] for paper in listed]
    assert list(desk.papers.values()) == [KnownPaper(**paper) for paper in listed]
    assert Desk(observation).retrievers == ()


def test_a_blank_query_and_a_paper_read_before_cost_nothing(synthetic):
    class Twice(Researcher):
        def discover(self, desk):
            assert (yield from desk.search("  \n ")) == []
            (hit,) = yield from desk.search("membrane", k=1)
            first = yield from desk.read(hit.id)
            assert first
            assert (yield from desk.read(hit.id)) == first
            assert (yield from desk.read("nobody")) == ""
            desk.ranking = [hit.id]

    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    actions, _, _ = played(env, Twice())
    assert [action["tool"] for action in actions] == ["search", "read", "read", "submit"]


class Hits(Researcher):
    def discover(self, desk):
        desk.ranking = yield from desk.search("membrane", k=2)


class Plain(Researcher):
    def discover(self, desk):
        desk.ranking = []


class Half(Researcher):
    def discover(self, desk):
        hits = yield desk.search("membrane", k=2)
        desk.ranking = [hit.id for hit in hits]


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (Hits, "which is not an id. Write desk.ranking = [hit.id for hit in hits]."),
        (Plain, "Plain.discover is not a generator. Act with `hits = yield from desk.search(...)`"),
        (Half, "Half yielded a move. Write `yield from`, not `yield`, before it."),
    ],
)
def test_mistakes_in_an_agent_are_explained(agent, told, synthetic, tmp_path):
    with pytest.raises(ArenaError) as error:
        arena.run(synthetic, "discovery", agent, tmp_path / "run", topics=1)
    assert told in str(error.value)
    assert str(error.value).endswith("the same command continues from here.")


class Endless(Researcher):
    def discover(self, desk):
        while True:
            with suppress(Exception):  # as agents do
                hits = yield from desk.search(desk.topic, k=3)
            desk.ranking = desk.ranking or [hit.id for hit in hits]


@pytest.mark.parametrize("task", ["discovery", "pipeline"])
def test_a_loop_without_end_ends_with_the_budget_and_a_message(synthetic, tmp_path, caplog, task):
    summary = arena.run(synthetic, task, Endless, tmp_path / "run", topics=1)
    assert summary["counts"]["scored"] == 1
    assert summary["mean"]["recall@10"] > 0  # what was on the desk is submitted
    assert "Endless made 100,000 moves in a row that its budget does not allow" in caplog.text
