"""Statements of reports: evidence and verdict, votes, rates counted by hand, and no future."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers import Memory, arena_topics
from llm_server import LLMServer, Trouble

import arena
from arena.llm import Client
from arena.report import PaperFinder, PaperName, Reference, read_report, resolve
from arena_suites.verification.statements import judge_reports, rates_of
from corpus_builder.build import build

PAPERS = [
    {"id": "a", "title": "Searching", "date": "2019",
     "abstract": "Depth first search visits every vertex once."},
    {"id": "b", "title": "Colouring", "date": "2019", "abstract": "Planar graphs need colours.",
     "sections": [{"heading": "Proof", "text": "Four colours suffice for planar maps."}]},
    {"id": "empty", "title": "A draft", "date": "2019"},
    {"id": "later", "title": "Zirconium", "date": "2021", "abstract": "Zirconium of the future."},
]  # fmt: skip
SURVEY = {"id": "s", "title": "A survey of graphs", "date": "2020-06", "references": ["a", "b"]}
REPORT = """# Graphs

Depth first search visits every vertex once [@a]. Four colours suffice [@a; @b]. Zirconium helps
[@later]. Nobody knows [@nowhere]. A draft says so [@empty].

Trees have one edge less than vertices. Every graph is planar. Paths have two ends. Let us go on.
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("statements") / "corpus"
    build(Memory(PAPERS, [SURVEY]), directory)
    return arena.Corpus.open(directory)


@pytest.fixture
def views(corpus):
    return {"s": corpus.at("2020-06-30", exclude=["s"])}


def read(text: str) -> Any:
    finder = PaperFinder(PaperName(paper["id"], paper["title"]) for paper in PAPERS)
    return resolve(read_report(text), finder)


def kind(body: dict[str, Any]) -> str:
    """Name the template of a request."""
    text = body["messages"][0]["content"]
    marks = {
        "cited": "Find every statement", "claims": "ought to be checked", "vote": "Check whether",
        "evidence": "Which words", "verdict": "Does the quotation",
    }  # fmt: skip
    (name,) = (name for name, mark in marks.items() if mark in text)
    return name


def between(body: dict[str, Any], tag: str) -> str:
    return body["messages"][0]["content"].split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0]


CLAIMS = [
    "Trees have one edge less than vertices", "Every graph is planar.", "Paths have two ends.",
    "Depth first search visits every vertex once.", "Pigs fly over high mountains.",
]  # fmt: skip
# By claim the votes 1 and 2 of the first model, then those of the second one.
VOTES = {
    "Trees": "true true true false",
    "Every": "true false ? ?",
    "Paths": "true true false false",
}


def script(body: dict[str, Any]) -> Any:
    name = kind(body)
    if name == "claims":
        return json.dumps([{"statement": text} for text in CLAIMS])
    statement = between(body, "claim" if name == "verdict" else "statement")
    if name == "evidence":
        passage = between(body, "passage")
        if statement.startswith("Depth"):
            return f"```\n{passage}\n```"
        return "Four colours are enough." if "colours" in passage else "NOT_FOUND"
    if name == "verdict":
        return json.dumps({"reason": "So.", "match": statement.startswith("Depth")})
    place = body["seed"] - 1 + 2 * (body["model"] == "second")
    vote = VOTES[statement.split()[0]].split()[place]
    return f'{{"reason": "Thus.", "decision": {vote}}}' if vote != "?" else "I cannot say."


def test_rates_counted_by_hand(views, make_client, tmp_path):
    reports, status = {"s": read(REPORT)}, {"s": {"later": "late"}}
    with LLMServer(script) as server:
        voters = [make_client(server), second(server, tmp_path)]
        found = judge_reports(reports, views, voters[0], voters=voters, votes=2, status=status)
        asked = [kind(body) for body in server.requests]
        assert not any("Zirconium of the future" in str(body) for body in server.requests)
        assert all(body.get("temperature") == 1 for body in server.requests if kind(body) == "vote")
    # 3 pairs have a passage, 2 of them evidence. 3 claims get 4 votes, two of them asked twice.
    assert [asked.count(name) for name in ("cited", "claims", "evidence", "verdict", "vote")] == [
        0, 1, 3, 2, 14
    ]  # fmt: skip
    row = found.reports["s"]
    assert [(r["id"], r["sentence"], r["reference"], r["outcome"]) for r in row["cited"]] == [
        ("s/1", 1, "a", "match"),
        ("s/2", 2, "a", "not_found"),
        ("s/3", 2, "b", "mismatch"),
        ("s/4", 3, "later", "unreachable"),
        ("s/5", 4, "nowhere", "unreachable"),
        ("s/6", 5, "empty", "unreachable"),
    ]
    assert [r.get("why") for r in row["cited"]][3:] == ["late", "unknown", "no_text"]
    assert row["cited"][0]["evidence"] == PAPERS[0]["abstract"]
    assert row["cited"][0]["verbatim"]
    assert row["cited"][2]["passage"]["heading"] == "Proof"
    assert not row["cited"][2]["verbatim"]
    assert row["cited"][2]["reason"] == "So."
    claims = [(r["statement"], r["outcome"], r["confidence"], r["official"]) for r in row["claims"]]
    assert claims == [
        ("Trees have one edge less than vertices.", "true", 0.75, "true"),
        ("Every graph is planar.", "tie", 0.5, "false"),
        ("Paths have two ends.", "tie", 0.5, "tie"),
    ]
    assert found.counts == row["counts"]
    assert found.counts == {
        "cited_statements": 5, "judged_statements": 5, "supported_statements": 1,
        "undecided_statements": 0, "pairs": 6,
        "match": 1, "mismatch": 1, "not_found": 1, "unreachable": 3, "failed": 0,
        "unreachable_unknown": 1, "unreachable_late": 1, "unreachable_forbidden": 0,
        "unreachable_no_text": 1,
        "not_verbatim": 1, "uncited_statements": 4, "claims": 3, "true": 1, "false": 0,
        "tie": 2, "failed_claims": 0, "official_true": 1, "official_false": 1, "failed_votes": 2,
        "problems": 1,
    }  # fmt: skip
    assert found.rates == {
        "match_rate": 1 / 3, "match_rate_all": 1 / 6,
        "evidence_rate": 2 / 3, "match_rate_found": 1 / 2,
        "statement_match_rate": 1 / 5, "statement_match_rate_all": 1 / 9, "factual_accuracy": 1 / 3,
        "official_factual_accuracy": 1 / 3, "official_factual_accuracy_without_ties": 1 / 2,
    }  # fmt: skip
    assert found.judge["total"]["calls"] == 20
    # The same answers without the server, bytes and all.
    voters = [make_client(server, mode="replay"), second(server, tmp_path, mode="replay")]
    again = judge_reports(reports, views, voters[0], voters=voters, votes=2, status=status)
    assert json.dumps(again.to_json()) == json.dumps(found.to_json())


@pytest.mark.parametrize(
    ("votes", "outcome", "confidence"),
    [
        ("true true true true false false", "true", 4 / 6),  # four of six
        ("true true true false false false", "tie", 0.5),
        ("true unsure unsure unsure unsure unsure", "false", 5 / 6),
        ("true true true true unsure unsure", "true", 4 / 6),
        ("true true false", "true", 2 / 3),
    ],
)
def test_a_statement_is_true_by_more_than_half_of_the_votes(
    votes, outcome, confidence, views, make_client
):
    def voting(body):
        if kind(body) == "claims":
            return json.dumps([{"statement": "Every graph is planar."}])
        assert ('"unsure" if neither' in str(body).replace("\\", "")) == ("unsure" in votes)
        return json.dumps({"decision": votes.split()[body["seed"] - 1], "reason": "So."})

    with LLMServer(voting) as server:
        found = judge_reports(
            {"s": read("Every graph is planar.")}, views, make_client(server),
            votes=len(votes.split()), extract="rules", unsure="unsure" in votes,
        )  # fmt: skip
    (claim,) = found.reports["s"]["claims"]
    assert (claim["outcome"], claim["confidence"], claim["official"]) == (
        outcome, pytest.approx(confidence), outcome
    )  # fmt: skip
    assert found.rates["factual_accuracy"] == (outcome == "true")


def test_unsure_is_no_answer_to_a_binary_question(views, make_client):
    answers = {
        "claims": '[{"statement": "Every graph is planar."}]',
        "vote": '{"decision": "unsure"}',
    }
    with LLMServer(lambda body: answers[kind(body)]) as server:
        given = {"s": read("Every graph is planar.")}
        found = judge_reports(given, views, make_client(server), extract="rules")
    assert found.counts["failed_votes"] == 3 and found.counts["failed_claims"] == 1


def test_the_match_rate_is_that_of_the_released_code():
    """6 matches, 1 mismatch, 3 without evidence, 2 whose page could not be fetched, 1 unreadable.

    The released code sums `match` over the rows of its last file, in which a row without evidence
    is no match and an unfetched page has none: 6 / 10. Section 4 counts such pages: 6 / 12.
    """
    counts = dict.fromkeys(judge_reports({}, {}, Client("none")).counts, 0)
    counts |= {"match": 6, "mismatch": 1, "not_found": 3, "unreachable": 2, "failed": 1}
    rates = rates_of(counts | {"pairs": 13})
    assert (rates["match_rate"], rates["match_rate_all"]) == (0.6, 0.5)
    assert (rates["evidence_rate"], rates["match_rate_found"]) == (7 / 10, 6 / 7)


def second(server, tmp_path, **options):
    return Client("second", base_url=server.url, store=tmp_path / "answers.db", **options)


def test_what_cannot_be_read_is_a_class_of_its_own(views, make_client):
    def spoilt(body):
        name = kind(body)
        if name == "claims":
            return script(body) if "Trees" in str(body) else "None that I see."
        if name == "vote":
            return Trouble(413) if "Trees" in str(body) else "Who knows."
        if name == "verdict":
            return '{"match": "perhaps"}'
        return " " if "colours" in between(body, "passage") else between(body, "passage")

    trees = "Trees have one edge less than vertices."
    reports = {
        "s": read(f"Depth first search visits all [@a; @later]. {trees}"),
        "t": read("Depth first search ends [@a]. Four colours suffice [@b]. We go on."),
    }
    with LLMServer(spoilt) as server:
        found = judge_reports(reports, views | {"t": views["s"]}, make_client(server), votes=1)
        assert len(server.requests) == 12  # all but 2 quotations, 1 vote and 1 list asked twice
    assert [row["outcome"] for row in found.reports["s"]["cited"]] == ["failed", "unreachable"]
    assert [row["outcome"] for row in found.reports["t"]["cited"]] == ["failed", "failed"]
    assert '"match" is true or false' in found.reports["s"]["cited"][0]["reason"]
    assert found.reports["t"]["cited"][0]["evidence"] == PAPERS[0]["abstract"]
    (claim,) = found.reports["s"]["claims"]
    assert (claim["outcome"], claim["confidence"], claim["official"]) == ("failed", None, "false")
    assert "refused" in claim["votes"][0]["failed"]
    (reason,) = found.reports["t"]["problems"]
    assert "no JSON" in reason
    assert found.counts["failed"] == 3
    assert found.counts["undecided_statements"] == 3
    assert found.counts["failed_claims"] == found.counts["failed_votes"] == 1
    assert found.counts["problems"] == 5  # four claims of `CLAIMS` are in no sentence
    rates = found.rates
    assert rates["match_rate"] is rates["statement_match_rate"] is rates["factual_accuracy"] is None
    assert rates["match_rate_all"] == rates["official_factual_accuracy"] == 0.0


def test_means_over_reports_and_over_pairs(views, make_client):
    def matching(body):
        if kind(body) == "evidence":
            statement = between(body, "statement")
            return "NOT_FOUND" if "never" in statement else between(body, "passage")
        return json.dumps({"match": "Depth" in between(body, "claim"), "reason": "So."})

    reports = {
        "s": read("Depth first search ends [@a]. It never stops [@a]. It is quick [@b]."),
        "t": read("Depth first search works [@a]."),
        "u": read("Nothing is cited."),
    }
    names = dict.fromkeys(reports, views["s"])
    with LLMServer(matching) as server:
        found = judge_reports(reports, names, make_client(server), votes=0, extract="rules")
        assert {kind(body) for body in server.requests} == {"evidence", "verdict"}
    # Evidence: 2 of 3 and 1 of 1. Matches among these: 1 of 2 and 1 of 1. The third has none.
    names = ("evidence_rate", "match_rate_found", "match_rate")
    assert [found.mean[name] for name in names] == pytest.approx([5 / 6, 3 / 4, 2 / 3])
    assert [found.rates[name] for name in names] == [3 / 4, 2 / 3, 2 / 4]
    assert found.mean["pairs"] == pytest.approx(4 / 3)
    assert found.mean["factual_accuracy"] is None


def test_a_model_finds_the_citations_of_a_report_without_marks(views, make_client):
    report = read(
        "Depth first search visits every vertex once (Meyer's paper). Four colours suffice, see "
        "somewhere. Trees have one edge less than vertices."
    )
    known = Reference("7", "Meyer. Searching.", paper="a")
    rows = [
        {"statement": "Depth first search visits every vertex once.", "url": "[7]"},
        {"statement": "Depth first search visits every vertex once.", "url": "https://x.org/b"},
        {"statement": "Four colours suffice, see somewhere.", "url": "https://x.org/b"},
        {"statement": "Quantum computers are slow.", "url": "[7]"},
    ]

    def finding(body):
        if kind(body) == "cited":
            return json.dumps({"statements": rows})
        return json.dumps([{"statement": CLAIMS[0]}]) if kind(body) == "claims" else script(body)

    given = {"s": report._replace(references=(known,))}
    with LLMServer(finding) as server:
        found = judge_reports(given, views, make_client(server), votes=2)
        (claims,) = (body for body in server.requests if kind(body) == "claims")
        assert between(claims, "cited_statements").count("\n- ") == 1  # two of them
    row = found.reports["s"]
    assert [(r["sentence"], r["reference"], r["outcome"]) for r in row["cited"]] == [
        (1, "7", "match"),
        (1, "https://x.org/b", "unreachable"),
        (2, "https://x.org/b", "unreachable"),
    ]
    assert [r["statement"] for r in row["claims"]] == ["Trees have one edge less than vertices."]
    assert row["problems"] == ["not in the report: 'Quantum computers are slow.'"]
    assert found.counts["supported_statements"] == 1


def test_no_request_holds_what_comes_later(synthetic, make_client):
    corpus = arena.Corpus.open(synthetic)
    topic = arena_topics(synthetic)
    name = min(topic, key=lambda each: topic[each]["date"])
    view = corpus.at(str(topic[name]["date"]), exclude=[name])
    papers = pq.read_table(synthetic / "papers.parquet").to_pylist()
    hidden = [paper for paper in papers if paper["id"] not in view]
    assert len(hidden) > 50
    assert len(view) > 50
    cited = [hidden[0], *hidden[-20:], *(p for p in papers if p["id"] in view)][:40]
    text = " ".join(f"Thing {i} matters [@{p['id']}]." for i, p in enumerate(cited))
    text += " " + " ".join(f"{paper['title']}." for paper in hidden[-5:])
    finder = PaperFinder(PaperName(paper["id"], paper["title"]) for paper in papers)

    def any_answer(body):
        if kind(body) == "claims":
            titles = [paper["title"] for paper in hidden[-5:]]
            return json.dumps([{"statement": title} for title in titles])
        return '{"match": true, "decision": true}'

    report = resolve(read_report(text), finder)
    with LLMServer(any_answer) as server:
        found = judge_reports({name: report}, {name: view}, make_client(server), votes=1)
        sent = [body["messages"][0]["content"] for body in server.requests]
    assert found.counts["unreachable"] == 21
    assert found.counts["claims"] == 5
    assert found.counts["match"] == 19
    abstracts = {paper["abstract"] for paper in hidden} - {""}
    assert len(abstracts) > 50
    assert not any(abstract in request for abstract in abstracts for request in sent)
