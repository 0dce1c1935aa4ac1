"""The agent `self-rag`: retrieve, judge, refine and stop; and the order of its answer."""

from __future__ import annotations

import pytest
from llm_server import LLMServer, last_text
from scripted_agents import LETTERS, bullets, corpus_of, episodes, part, play, queries_of

from baselines.parts.asking import verdicts
from baselines.queries import first_query, next_query

pytestmark = pytest.mark.usefixtures("alone")

ALPHA, BETA, GAMMA = (bullets([word]) for word in ("alpha", "beta", "gamma"))
LOOK, MORE, ENOUGH = "[Retrieve]\n", "[Continue]\n", "[Enough]"


@pytest.fixture
def corpus(tmp_path):
    return corpus_of(tmp_path / "corpus", LETTERS, {"p:b": "Stones of\nold. " + "x" * 2000})


@pytest.fixture
def act(corpus):
    """Play one episode against a script; return it and the prompts that were sent."""

    def played(script, name="run", **options):
        with LLMServer(script) as server:
            play(corpus, "discovery", "self-rag", name, server, store=f"{name}.jsonl", **options)
            prompts = [last_text(body) for body in server.requests]
        assert len(prompts) == len(script)
        (episode,) = episodes(name)
        return episode, prompts

    return played


def judged(*verdicts: bool) -> str:
    return "\n".join(
        f"{number}. [{'Relevant' if verdict else 'Irrelevant'}]"
        for number, verdict in enumerate(verdicts, start=1)
    )


def test_no_retrieval_on_demand_is_zero_shot(act):
    episode, _ = act(["[No Retrieve]\n" + BETA])
    assert queries_of(episode) == ["beta"]
    assert episode["answers"]["discovery"] == ["p:c", "p:d", "p:a"]


def test_relevant_first_irrelevant_last(act):
    """Of alpha: a, b, c."""
    episode, prompts = act([LOOK + ALPHA, judged(False, True, True), ENOUGH], rerank=True)
    assert episode["answers"]["discovery"] == ["p:b", "p:c", "p:a"]
    titles = [LETTERS[paper] for paper in ("p:a", "p:b", "p:c")]
    assert part(prompts[1], "papers").splitlines() == [
        f"{number}. {title}" for number, title in enumerate(titles, start=1)
    ]
    assert part(prompts[2], "relevant") == f"1. {titles[1]}\n2. {titles[2]}"
    assert part(prompts[2], "irrelevant") == f"1. {titles[0]}"
    assert part(prompts[2], "tried") == "1. alpha"
    assert all(part(prompt, "topic") == "letters" for prompt in prompts)


def test_the_order_is_the_engines(act):
    """Of alpha: a, b, c."""
    episode, _ = act([LOOK + ALPHA, judged(False, True, True), ENOUGH])
    assert episode["answers"]["discovery"] == ["p:a", "p:b", "p:c"]


def test_the_hits_of_the_final_query_are_submitted(act):
    """Of beta: c, d, a, where c is irrelevant and a was relevant before; b is not found again."""
    script = [LOOK + ALPHA, judged(True), MORE + BETA, judged(False), ENOUGH]
    episode, prompts = act(script, judged=1, rerank=True)
    assert queries_of(episode) == ["alpha", "beta"]
    assert episode["answers"]["discovery"] == ["p:a", "p:d", "p:c"]
    assert part(prompts[3], "papers") == "1. alpha beta beta beta"
    assert part(prompts[4], "tried") == "1. alpha\n2. beta"


def test_a_paper_is_judged_once(act):
    """Beta finds c, d, a, of which d is new; a query that finds nothing new asks for nothing."""
    script = [LOOK + ALPHA, judged(True, False, False), MORE + BETA, judged(True)]
    script += [MORE + bullets(["alpha beta"])]
    episode, prompts = act(script, rerank=True)
    assert part(prompts[3], "papers") == "1. beta beta stone stone"
    # "alpha beta", all hits judged: a and d relevant, b and c not
    assert queries_of(episode) == ["alpha", "beta", "alpha beta"]
    assert set(episode["answers"]["discovery"][:2]) == {"p:a", "p:d"}
    assert set(episode["answers"]["discovery"][2:]) == {"p:b", "p:c"}


def test_it_stops_by_itself(act):
    # at the last round, whose hits are judged and no query is asked for
    script = [LOOK + ALPHA, judged(True, True, True)]
    episode, _ = act(script, "one", max_rounds=1)
    assert queries_of(episode) == ["alpha"]
    script += [MORE + BETA, judged(True)]
    episode, _ = act(script, "two", max_rounds=2)
    assert queries_of(episode) == ["alpha", "beta"]
    # at a query that it tried
    episode, _ = act([*script[:2], MORE + bullets(["Alpha"])], "again")
    assert queries_of(episode) == ["alpha"]
    # without a search left
    episode, _ = act(script[:2], "poor", max_searches=1)
    assert queries_of(episode) == ["alpha"]
    # without judgements, which it asked for twice
    episode, _ = act([script[0], "They are fine.", ""], "none")
    assert episode["answers"]["discovery"] == ["p:a", "p:b", "p:c"]
    assert len(episode["notes"]["llm"]["failed"]) == 1
    # when it says neither that it is enough nor what more
    episode, _ = act([*script[:2], "Hm.", "[Continue]"], "neither")
    assert queries_of(episode) == ["alpha"]
    assert len(episode["notes"]["llm"]["failed"]) == 1


def test_abstracts_are_read_on_demand(act):
    script = [LOOK + ALPHA, judged(True, True, False), ENOUGH]
    episode, prompts = act(script, "titles")
    assert "Stones" not in prompts[1]
    assert episode["spent"]["reads"] == 0
    episode, prompts = act(script, "abstracts", abstracts=True)
    assert episode["spent"]["reads"] == 3
    lines = part(prompts[1], "papers").splitlines()
    assert len(lines) == 4  # the others have none
    assert lines[2].startswith("   Stones of old. xxx")
    assert len(lines[2]) == 3 + 1500
    episode, prompts = act(script, "poor", abstracts=True, max_reads=1)
    assert episode["spent"]["reads"] == 1
    assert "Stones" not in prompts[1]
    assert not episode["truncated"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. [Relevant]\n2. [Irrelevant]", {1: True, 2: False}),
        ('```json\n{"1": "Relevant", "2": "Irrelevant"}\n```', {1: True, 2: False}),
        ("[Relevant]: 1, 3 and 12\n[Irrelevant]: 2", {1: True, 2: False, 3: True, 12: True}),
        ("[Relevant]\n[Irrelevant]\n\n[Relevant]", {1: True, 2: False, 3: True}),
        # titles that are repeated
        ("1. Irrelevant Features in Learning [Relevant]", {1: True}),
        # thoughts and second thoughts
        ("1. [Irrelevant]\nWait.\n1. [Relevant]", {1: True}),
    ],
)
def test_verdicts_are_read_from(text, expected):
    assert verdicts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOOK + ALPHA, ("alpha", True)),
        ("alpha", ("alpha", True)),
        ("[No Retrieve]\n" + ALPHA, ("alpha", False)),
        ("No retrieval.\n" + ALPHA, ("alpha", False)),
        ("passage retrieval", ("passage retrieval", True)),
        ("<Queries>\n- no retrieval of the past\n</Queries>", ("no retrieval of the past", True)),
    ],
)
def test_whether_to_retrieve_is_read_from(text, expected):
    assert first_query(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Enough]", ""),
        ("**[Enough]** It finds most of them.", ""),
        (MORE + BETA, "beta"),
        (BETA, "beta"),
        ("Either [Enough] or [Continue]? [Continue]\n" + BETA, "beta"),
        ("<Queries>\n- enough data to continue\n</Queries>", "enough data to continue"),
    ],
)
def test_whether_it_is_enough_is_read_from(text, expected):
    assert next_query(text) == expected


THOUGHTS = "<think>\n[No Retrieve]? [Enough]? 7. [Relevant]\n</think>\n"


def test_thoughts_decide_nothing():
    assert first_query(THOUGHTS + ALPHA) == ("alpha", True)
    assert next_query(THOUGHTS + ALPHA) == "alpha"
    assert verdicts(THOUGHTS + "1. [Irrelevant]\n2. [Relevant]") == {1: False, 2: True}
