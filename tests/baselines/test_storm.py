"""The baseline storm over a real server: whole episodes, bad answers, limits, budgets, outlines."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from helpers import make_env, played
from llm_server import LLMServer, Trouble

import baselines
from arena.agents import KnownPaper
from arena.llm import ParseError
from baselines.parts.asking import queries, section_in
from baselines.storm import (
    GENERAL,
    NO_ANSWER,
    Storm,
    answer_in,
    closest,
    outline,
    perspectives_in,
    question_in,
)

pytestmark = pytest.mark.usefixtures("alone")

SMALL = {"perspectives": 1, "max_turns": 2, "queries": 2, "k": 5, "abstracts": 1}


def asked_for(body):
    """The template that a request was made with."""
    text = body["messages"][0]["content"]
    marks = {
        "</report>": "lead", "</after>": "polish", "</notes>": "section",
        "</Perspectives>": "perspectives", "done</question>": "question", "</Queries>": "queries",
        "</answer>": "answer", "</draft>": "refine", "</outline>": "draft",
    }  # fmt: skip
    return next(kind for mark, kind in marks.items() if mark in text)


def part(body, tag):
    """The text in a tag of a request."""
    return body["messages"][0]["content"].split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0]


DRAFT = "<outline>\n# A topic\n## Drafted\n</outline>"
REFINED = "```markdown\n# A topic\n\n## 1. Kinds\n### 1.1 **Fast** kinds\n## 2. Uses\n```"


def helpful(body):
    """A model that answers what it is asked, each time something else."""
    kind = asked_for(body)
    if kind == "perspectives":
        return "<Perspectives>\n1. Maker: how it is done\n2. Buyer: what it costs\n</Perspectives>"
    if kind == "question":
        turn = part(body, "conversation").count("You:")
        return f"<question>{part(body, 'perspective').split()[0]} asks no. {turn}?</question>"
    if kind == "queries":
        words = [word.strip(":") for word in part(body, "topic").split() if len(word) > 4]
        turn = int(part(body, "question").split()[-1].strip("?"))
        first = words[turn % len(words)]
        more = 2 + turn + 2 * part(body, "question").startswith("Maker")
        return f"<Queries>\n- {first}\n- {' '.join((3 * words)[:more])}\n</Queries>"
    if kind == "answer":
        return f"<answer>So it is, says no. {part(body, 'papers').splitlines()[0]}</answer>"
    if kind in ("section", "polish", "lead"):
        return f"<section>It is the {kind} [2] [99].</section>"
    return DRAFT if kind == "draft" else REFINED


def but(**others):
    """`helpful`, except for some templates."""
    return lambda body: others.get(asked_for(body)) or helpful(body)


def storm(server, **options):
    return Storm(model="scripted", base_url=server.url, timeout=20.0, **options)


def kinds(server):
    return [asked_for(body) for body in server.requests]


def tree(info):
    """The labels of a mind-map that was submitted, nested."""

    def of(node):
        return {child["label"]: of(child) for child in node["children"]}

    return of(info["answers"]["organization"])


# Whole episodes


def test_an_episode_by_hand(mini):
    """Within reach of sv:1 the topic and each query match one paper, but "index" three.

    Of these, two titles have two words: the older p:old, then Z:tie; é:tie has three.
    """
    script = [
        "Here: <Perspectives>\n- Engineer: speed\n- Left out: one too many\n</Perspectives>",
        "<question>What is compressed?</question>",
        "<question>Which models are sparse?</question>",
        "<Queries>\n- compression\n- early\n- left out\n</Queries>",
        "<Queries>\n- index\n- sparse\n</Queries>",
        "<answer>Indexes\nare.</answer>",
        "<answer>Those in practice.</answer>",
        "<question>Done.</question>",
        "<question>What of leap years?</question>",
        "<Queries>\n- compression\n- leap\n</Queries>",
        "<answer>They have encoders.</answer>",
        "<outline>\n# Dense retrieval: a survey\n## Drafted\n</outline>",
        "<outline>\n# Dense retrieval\n## Indexes\n### Compression\n## Models\n</outline>",
    ]
    env = make_env(mini, "arena/Pipeline-v0")
    with LLMServer(script) as server:
        agent = storm(server, max_parallel=1, **SMALL | {"k": 2})
        actions, info, truncated = played(env, agent, "sv:1")
    ranking = ["Z:tie", "p:old", "p:year", "p:leap", "p:day"]
    outline = "# dense retrieval: a survey\n## Indexes\n### Compression\n## Models"
    assert actions == [
        {"tool": tool, "arguments": arguments}
        for tool, arguments in [
            ("search", {"query": "dense retrieval: a survey", "k": 20}),
            ("search", {"query": "compression", "k": 2}),
            ("search", {"query": "early", "k": 2}),
            ("search", {"query": "index", "k": 2}),
            ("search", {"query": "sparse", "k": 2}),
            ("read", {"paper_id": "Z:tie"}),
            ("read", {"paper_id": "p:old"}),
            ("search", {"query": "leap", "k": 2}),  # what was searched for is known, and read
            ("submit", {"paper_ids": ranking}),
            ("submit", {"paper_ids": ranking}),
            ("organize", {"mind_map": outline}),
        ]
    ]
    assert not truncated
    assert info["answers"]["discovery"] == info["answers"]["selection"] == ranking
    assert info["answers"]["organization"]["label"] == "dense retrieval: a survey"
    assert tree(info) == {"Indexes": {"Compression": {}}, "Models": {}}
    sent = server.requests
    assert Counter(kinds(server)) == {
        "perspectives": 1, "question": 4, "queries": 3, "answer": 3, "draft": 1, "refine": 1
    }  # fmt: skip
    assert part(sent[0], "titles") == ("1. Dense Retrieval with Encoders (2020)")
    assert [part(body, "perspective") for body in sent[1:3]] == [GENERAL, "Engineer: speed"]
    assert part(sent[1], "conversation") == "(nothing yet)"
    assert part(sent[4], "question") == "Which models are sparse?"
    assert part(sent[5], "papers") == "1. Index Compression (2020)\n2. Early Indexing (1969)"
    assert part(sent[6], "papers") == (
        "1. Early Indexing (1969)\n2. Sparse Models in Practice (2020)\n3. Index Compression (2020)"
    )
    assert part(sent[10], "papers") == (
        "1. Index Compression (2020)\n2. Encoders in a Leap Year (2020)"
    )
    assert part(sent[8], "conversation") == (
        "You: Which models are sparse?\nExpert: Those in practice."
    )
    assert part(sent[12], "draft") == "# dense retrieval: a survey\n## Drafted"
    assert part(sent[12], "conversations") == (
        f"Perspective: {GENERAL}\nQuestion: What is compressed?\nAnswer: Indexes are.\n\n"
        "Perspective: Engineer: speed\n"
        "Question: Which models are sparse?\nAnswer: Those in practice.\n"
        "Question: What of leap years?\nAnswer: They have encoders."
    )
    assert agent.notes()["perspectives"] == [GENERAL, "Engineer: speed"]
    assert agent.notes()["llm"]["failed"] == []


def test_a_report_by_hand(mini):
    """The conversation finds Z:tie, p:old and p:year; a section has the two with most of its words.

    The first heading shares a word with both titles about indexes, and the older one comes second:
    it was found second. The other heading shares two words with the title of p:year.
    """
    script = [
        "<question>What is indexed?</question>",
        "<Queries>\n- index\n- sparse\n</Queries>",
        "<answer>Sparse [3] models.</answer>",
        DRAFT,
        "<outline>\n# T\n## Index\n### Compression\n## Sparse models\n</outline>",
        "<section>Old [2] and new [1, 7].</section>",
        "<section>### Sparse models\nThese are sparse [1].</section>",
        "<section>Both [1-2].</section>",
        "No section.", "No section.",
        "<section># Introduction\nAll is known [1].</section>",
    ]  # fmt: skip
    options = {"perspectives": 0, "max_turns": 1, "queries": 2, "k": 2, "abstracts": 0, "cited": 2}
    env = make_env(mini, "arena/Report-v0")
    with LLMServer(script) as server:
        agent = storm(server, max_parallel=1, **options)
        actions, info, truncated = played(env, agent, "sv:1")
    assert not truncated
    tools = [action["tool"] for action in actions]
    assert tools == ["search", "search", "read", "read", "read", "submit_report"]
    assert info["answers"]["report"] == (
        "# dense retrieval: a survey\n\n"
        "## Introduction\n\nAll is known.\n\n"
        "## Index\n\nBoth [@Z:tie; @p:old].\n\n"
        "## Sparse models\n\nThese are sparse [@p:year].\n\n"
    )
    sent = server.requests
    assert part(sent[5], "papers").startswith(
        "1. Index Compression (2020)\n2. Early Indexing (1969)"
    )
    assert part(sent[5], "notes") == "Question: What is indexed?\nAnswer: Sparse [3] models."
    assert part(sent[8], "before") == "Old and new."
    assert len(agent.notes()["llm"]["failed"]) == 1


def test_a_report_without_an_outline_is_a_list(mini):
    with LLMServer(but(draft="No.", refine="No.")) as server:
        agent = storm(server, **SMALL)
        _, info, _ = played(make_env(mini, "arena/Report-v0"), agent, "sv:1")
    assert info["answers"]["report"].startswith("# dense retrieval: a survey\n\n## Papers\n\n- “")
    assert "section" not in kinds(server)


# Answers that are not what they should be


BAD = {
    "empty": "",
    "garbage": "As a language model }{ I would rather not. ",
    "empty tags": "<question></question><Queries> </Queries><answer></answer><outline>\n</outline>"
    "<Perspectives></Perspectives>",
    "refused": Trouble(400, error={"message": "maximum context length exceeded"}),
}


WRITTEN = {
    "section": ["Papers"],  # the ranking as a list
    "polish": ["Introduction", "Kinds", "Uses"],
    "lead": ["Kinds", "Uses"],
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("kind", sorted(Storm.templates.keys() - WRITTEN.keys()))
def test_a_step_that_cannot_be_read(kind, bad, mini):
    """By hand: what becomes of the episode without one kind of answer."""
    others = {
        "perspectives": "<Perspectives>- Engineer</Perspectives>",
        "question": "<question>compression</question>",
        "queries": "<Queries>- leap</Queries>",
        "answer": "<answer>Yes.</answer>",
        "draft": DRAFT,
        "refine": REFINED,
    }

    def script(body):
        return bad if asked_for(body) == kind else others[asked_for(body)]

    env = make_env(mini, "arena/Pipeline-v0")
    with LLMServer(script) as server:
        agent = storm(server, **SMALL)
        _, info, truncated = played(env, agent, "sv:1")
    assert not truncated
    found = {"question": [], "queries": ["Z:tie"]}.get(kind, ["p:leap"])
    assert info["answers"]["discovery"] == [*found, "p:day"]
    drafted = kind in ("question", "refine")
    assert list(tree(info)) == (["Drafted"] if drafted else ["Kinds", "Uses"])
    assert agent.notes()["perspectives"] == [GENERAL, "Engineer"][: 1 + (kind != "perspectives")]
    failed = {"question": 2, "queries": 4, "answer": 4}.get(kind, 1)
    assert len(agent.notes()["llm"]["failed"]) == failed
    refining = [body for body in server.requests if asked_for(body) == "refine"]
    assert len(refining) == {"question": 0, "refine": 1 + isinstance(bad, str)}.get(kind, 1)
    if kind == "answer":
        assert part(refining[0], "conversations").count(f"Answer: {NO_ANSWER}") == 4
    if kind == "draft":
        assert part(refining[0], "draft") == "(none)"


# What is read and shown


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("# The Topic!\n## A\n### A1\n## B", "# the topic\n## A\n### A1\n## B"),
        ("# The topic\n# A\n# B", "# the topic\n## A\n## B"),
        ("- A\n  - A1\n- B", "# the topic\n## A\n### A1\n## B"),
        ("# T\n## A\n\tText.\n* **A1**: b\n1. A2: b: c", "# the topic\n## A\n### A1\n### A2"),
        ("Sure!\n<outline>\n# T\n## A\n</outline>\n## Bye", "# the topic\n## A"),
        ("# T\n## A\n## ***\n## </typology>", "# the topic\n## A\n## &lt;/typology>"),
        (f"# T\n## {'a' * 300}\n- {'b' * 121}", f"# the topic\n## {'a' * 200}"),
    ],
)  # fmt: skip
def test_outlines(said, expected):
    assert outline(said, "the topic") == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("<question>Why?</question>", "Why?"),
        ("Well. <Question>\nWhy\nnot?", "Why not?"),
        ("<question>done</question>", ""),
        ("<question>Nothing else.</question>", ""),
        ("<question>None of the models learns?</question>", "None of the models learns?"),
        ("<question>Done by whom?</question>", "Done by whom?"),
    ],
)
def test_questions(said, expected):
    assert question_in(said) == expected


def test_the_closest_titles_by_hand():
    """Of four titles two hold "deep", one "graph": ln(3) = 1.10 < ln(5) = 1.61."""
    titles = ["Deep nets", "The deep sea", "Graphs", "Trees"]
    papers = [KnownPaper(str(place), title) for place, title in enumerate(titles)]

    def found(wanted, most=4):
        return [paper.id for paper in closest(papers, wanted, most)]

    assert found("How deep are graphs?") == ["2", "0", "1", "3"]
    assert found("the deep deep sea", 2) == ["1", "0"]
    assert found("unknown") == ["0", "1", "2", "3"]
    assert closest([], "deep", 3) == []


def test_a_copied_form_is_not_an_answer():
    """A weak model repeats the end of its prompt."""
    folder = Path(baselines.__path__[0]) / "prompts" / "storm"
    readers = {
        "perspectives": perspectives_in, "question": question_in, "queries": queries,
        "answer": answer_in, "draft": partial(outline, topic="t"),
        "refine": partial(outline, topic="t"),
    }  # fmt: skip
    readers |= dict.fromkeys(("section", "polish", "lead"), section_in)
    for path in sorted([*folder.glob("*.txt"), *folder.parent.glob("*.txt")]):
        form = path.read_text(encoding="utf-8").rstrip().split("\n\n")
        form = next(part for part in reversed(form) if "..." in part)
        with pytest.raises(ParseError):
            readers[path.stem](form)
