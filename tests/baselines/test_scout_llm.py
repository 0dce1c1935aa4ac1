"""The agent `scout-llm`: what the model reads, and what its answers change."""

from __future__ import annotations

import re

import pytest
from llm_server import LLMServer, Trouble, last_text
from scripted_agents import episodes, play, queries_of

import arena

pytestmark = pytest.mark.usefixtures("alone")

PROPOSED = ["membrane splicing", "slow erosion"]


def papers_shown(body):
    """The titles under their numbers."""
    shown = last_text(body).split("<papers>\n")[1].split("\n</papers>")[0]
    return dict(re.findall(r"^(\d+)\. (.*)$", shown, re.MULTILINE))


def asks_for_queries(body):
    return "<Queries>" in last_text(body)


def model(verdict):
    """A model that proposes two sub-topics and judges by number."""

    def answer(body):
        if asks_for_queries(body):
            return "<Queries>\n- " + "\n- ".join(PROPOSED) + "\n</Queries>"
        return "\n".join(f"{n}. [{verdict(int(n))}]" for n in papers_shown(body))

    return answer


def submitted(name):
    return [episode["answers"]["discovery"] for episode in episodes(name)]


def test_its_sub_topics_are_searched_for_beside_the_topic(synthetic):
    with LLMServer(model(lambda n: "Relevant")) as server:
        play(synthetic, "discovery", "scout-llm", "run", server, topics=1)
        (proposing,) = [body for body in server.requests if asks_for_queries(body)]
        judging = [body for body in server.requests if not asks_for_queries(body)]
    (episode,) = episodes("run")
    topic, *others = queries_of(episode)
    for words in PROPOSED:
        assert f"{topic} {words}" in others
    assert f"<topic>\n{topic}\n</topic>" in last_text(proposing)
    assert len(papers_shown(proposing)) == 30
    assert "at most 8 queries" in last_text(proposing)
    # Four rounds of six papers and what remains of the first hundred, 25 in a request.
    assert [len(papers_shown(body)) for body in judging][:4] == [6, 6, 6, 6]
    assert sum(len(papers_shown(body)) for body in judging) >= 100
    assert max(len(papers_shown(body)) for body in judging) == 25
    assert episode["notes"]["seeds"]
    assert episode["notes"]["llm"]["failed"] == []


def test_papers_judged_irrelevant_rank_last_and_are_not_searched_for(synthetic):
    with LLMServer(model(lambda n: "Irrelevant")) as server:
        play(synthetic, "discovery", "scout-llm", "none", server, topics=1, irrelevant=0)
    (episode,) = episodes("none")
    assert episode["notes"]["seeds"] == []
    assert len(queries_of(episode)) == 1 + len(PROPOSED)
    with LLMServer(model(lambda n: "Relevant" if n % 2 else "Irrelevant")) as server:
        options = {"irrelevant": 0, "store": "half.jsonl"}
        play(synthetic, "discovery", "scout-llm", "half", server, topics=1, **options)
        shown = [papers_shown(b) for b in server.requests if not asks_for_queries(b)]
    rejected = {title for papers in shown for n, title in papers.items() if int(n) % 2 == 0}
    titles = titles_of(synthetic, submitted("half")[0])
    titles = [title for title in titles if titles.count(title) == 1]  # a few papers share one
    kept = [title for title in titles if title not in rejected]
    assert rejected
    assert titles[: len(kept)] == kept


def titles_of(synthetic, ids):
    view = arena.Corpus.open(synthetic).at("9999-12-31")
    return [" ".join(view.paper(paper_id).title.split()) for paper_id in ids]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Certainly!",
        "<Queries>\n</Queries>",
        Trouble(400, error={"message": "maximum context length is 9 tokens"}),
    ],
    ids=["empty", "talk", "no query", "refused"],
)
def test_without_a_readable_answer_it_is_scout(answer, synthetic):
    arena.run(synthetic, "discovery", "scout", "scout", topics=2)
    with LLMServer(lambda body: answer) as server:
        summary = play(synthetic, "discovery", "scout-llm", "run", server, topics=2)
    assert summary["counts"]["scored"] == 2
    assert submitted("run") == submitted("scout")
    assert all(episode["notes"]["llm"]["failed"] for episode in episodes("run"))
