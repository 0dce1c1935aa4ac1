"""Inputs: their readers, the digests of a corpus, what an episode shows, and runs over them."""

from __future__ import annotations

import json
import shutil

import pytest
from helpers import Memory, act, call, contents, make_env, playing
from llm_server import LLMServer, last_text

import arena
from arena.cli.repair import build_command
from arena.corpus import Corpus
from arena.errors import CorpusError, DataError
from arena.llm import ParseError
from arena.paper_texts import read_contributions, read_items, read_summary
from arena.testing import audit
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.digest import make_digests, text_of
from corpus_builder.manifest import verify

pytestmark = pytest.mark.usefixtures("alone")

NAME = "arena/Organization-v0"
REFERENCES = ["p:leap", "p:day", "p:month", "p:year", "12345", "p:last"]  # of all topics


@pytest.fixture
def corpus(mini, tmp_path):
    shutil.copytree(mini, tmp_path / "corpus")
    return tmp_path / "corpus"


def title_in(body):
    return last_text(body).partition("<title>")[2].partition("</title>")[0]


def answer(body):
    """A summary or a core task with a contribution that name the title; none of one paper."""
    text = body["messages"][0]["content"]
    title = text.partition("<title>")[2].partition("</title>")[0]
    if title == "The Day Before":
        return "I cannot."
    kind = {"type": "problem"} if text.startswith("Summarise") else {}
    item = kind | {"name": f"About {title}", "description": "It is hard."}
    return json.dumps({"core_task": f"{title} as a task", "contributions": [item]})


def options(server, **more):
    return {"model": "scripted", "base_url": server.url, "store": "answers.db", **more}


def digested(corpus, *names, **arguments):
    with LLMServer(answer) as server:
        return [make_digests(corpus, name, options(server), **arguments) for name in names]


# Readers


def test_a_summary_has_items_of_known_types():
    text = """Sure: {"contributions": [
        {"type": "Method", "name": "A.", "description": "One\\nline."}, 5, {"type": "method"},
        {"type": "joke", "name": "x"}, {"name": "", "description": "P", "source_hint": "x"},]}"""
    assert read_summary(text) == ["Method: A. One line.", "Contribution: P."]
    assert len(read_summary(json.dumps([{"name": str(n)} for n in range(99)]))) == 10
    (long,) = read_summary(json.dumps([{"name": "n" * 9_999, "description": "d" * 9_999}]))
    assert len(long) < 1_300
    for text in ("no", '{"contributions": 5}', '{"items": []}', "[]", '[{"type": "joke"}]'):
        with pytest.raises(ParseError):
            read_summary(text)


def test_a_paper_may_claim_no_contribution_but_has_a_core_task():
    text = '{"core_task": "ranking\\n passages.", "contributions": []}'
    assert read_contributions(text) == ["Core task: ranking passages."]
    text = '{"core_task": "x", "contributions": [{"name": "N", "description": "D."}]}'
    assert read_contributions(text) == ["Core task: x.", "Contribution: N. D."]
    for text in ("[]", '{"contributions": []}', '{"core_task": ""}', "x" * 99,
                 json.dumps({"core_task": "word " * 31, "contributions": []})):  # fmt: skip
        with pytest.raises(ParseError):
            read_contributions(text)
    assert read_items([{"name": "A"}], ["b"]) == ["B: A."]


def test_the_text_of_a_paper_is_abstract_introduction_and_conclusion():
    parts = [("Introduction", "a" * 50), ("Method", "b"), ("5 Conclusions", "c"), ("Intro", "d")]
    sections = [arena.corpus.Section(*part) for part in parts]
    assert text_of("Abs.", sections, 60) == (
        f"Abstract: Abs.\n\nIntroduction: {'a' * 6}\n\n5 Conclusions: c"
    )  # 20 characters each
    assert text_of(" ", [], 60) == "Abstract: (none)"


# Digests


def test_digests_of_the_references(corpus):
    summary, contributions = digested(corpus, "summary", "contributions")
    counts = {"papers": len(REFERENCES), "digests": len(REFERENCES) - 1, "failed": 1}
    assert summary["counts"] == contributions["counts"] == counts
    rows = (corpus / "digest/summary/failed.jsonl").read_text().splitlines()
    assert [json.loads(row)["id"] for row in rows] == ["p:last"]
    opened = Corpus.open(corpus)
    digests = opened.digests("contributions")
    assert [bool(digests.text(paper)) for paper in REFERENCES] == [True] * 5 + [False]
    assert digests.text("p:old") == digests.text("nobody") == ""
    title = "Dense Retrieval with Encoders"
    assert digests.text("p:day") == (
        f"Core task: {title} as a task.\nContribution: About {title}. It is hard."
    )
    assert not digests.complete
    assert verify(corpus)["problems"] == {}


def test_the_model_reads_a_papers_own_text_and_nothing_else(corpus):
    with LLMServer(answer) as server:
        make_digests(corpus, "summary", options(server), characters=1_000)
    asked = {title_in(body): body for body in server.requests}
    text = last_text(asked["Dense Retrieval with Encoders"])
    assert "Abstract: We train encoders for passages.\n\n1 Introduction: Passages matter." in text
    assert "Two towers" not in text  # the method
    assert "2020" not in text
    for title in asked:
        assert "Review" not in title
        assert "Topic" not in title


def test_the_same_answers_make_the_same_bytes_without_a_server(corpus, tmp_path):
    digested(corpus, "summary")
    before = contents(corpus)
    llm = {"model": "scripted", "mode": "replay", "store": "answers.db"}
    with pytest.raises(CorpusError, match=r"has digests 'summary' already\. Pass --overwrite"):
        make_digests(corpus, "summary", llm, characters=1_000)
    make_digests(corpus, "summary", llm, overwrite=True)
    assert contents(corpus) == before


def test_damage_is_found(corpus, capsys):
    digested(corpus, "summary")
    file = corpus / "digest/summary/texts.bin"
    file.write_bytes(file.read_bytes().replace(b"hard", b"easy"))
    with pytest.raises(CorpusError, match=r"damaged.*Build it again") as caught:
        Corpus.open(corpus).digests("summary")
    command = f"arena-corpus digest {corpus} --input summary --llm-option model=MODEL --overwrite"
    assert [build_command(part) for part in caught.value.parts] == [command]
    assert main(["verify", str(corpus)]) == 2
    assert "Build again what is damaged: `arena-corpus digest" in capsys.readouterr().err


def test_the_command(corpus, capsys):
    with LLMServer(answer) as server:
        words = [f"--llm-option={name}={value}" for name, value in options(server).items()]
        assert main(["digest", str(corpus), "--input", "summary", "--surveys", "sv:1", *words]) == 0
    printed = capsys.readouterr().out
    assert "summary of 3 of 4 papers by scripted\nThe others failed" in printed
    assert main(["info", str(corpus)]) == 0
    assert "summary" in capsys.readouterr().out
    assert main(["digest", str(corpus), "--input", "summary", *words]) == 2
    assert "already" in capsys.readouterr().err


# Environments


def test_an_episode_shows_the_digests_of_its_papers(corpus):
    digested(corpus, "summary")
    env = playing(corpus, "sv:1", NAME, paper_text="summary")
    shown = act(env, "read", paper_id="p:day")
    assert shown["heading"] == shown["sections"][0] == "Abstract and summary"
    digest = "Problem: About Dense Retrieval with Encoders. It is hard."
    assert shown["text"] == f"We train encoders for passages.\n\n{digest}"
    assert shown["characters"] == len(shown["text"])
    assert act(env, "read", paper_id="p:leap")["text"].startswith("Problem: About Encoders")
    # p:year has a digest, as a reference of sv:2; p:last has none, since it failed.
    for paper in ("p:year", "p:last", "p:old"):
        shown = act(env, "read", paper_id=paper)
        assert (shown["heading"], shown["text"]) == ("Abstract", "")
    assert act(env, "read", paper_id="p:day", section=1)["text"] == "Passages matter."
    *_, info = env.step(call("finish"))
    assert info["digests"] == {"shown": 2, "missing": 3}


def test_digests_of_references_are_no_labels(corpus):
    """Where not all papers have a digest, one would tell that a survey cites the paper."""
    digested(corpus, "summary")
    for name, arguments in (
        ("arena/Discovery-v0", {}),
        ("arena/Pipeline-v0", {}),
        (NAME, {"references": "run"}),
        (NAME, {"references": "run", "start_from": {"sv:1": ["p:day"]}}),
    ):
        with pytest.raises(DataError, match="a digest would be a label"):
            make_env(corpus, name, paper_text="summary", **arguments)
    digested(corpus, "summary", all=True, overwrite=True)
    for name in ("arena/Discovery-v0", "arena/Pipeline-v0"):
        env = playing(corpus, "sv:1", name, paper_text="summary")
        assert act(env, "read", paper_id="p:old")["heading"] == "Abstract and summary"
        later = act(env, "read", paper_id="p:later")  # it has a digest, and does not exist yet
        assert later == {"error": "no paper 'p:later' here. Use an id that a search returned."}


def test_the_experts_papers_have_digests_whatever_their_dates(tmp_path):
    papers = [
        {"id": name[:1].lower(), "title": name, "date": date}
        for name, date in {"Early": "2019", "Late": "2021", "Undated topic": None}.items()
    ]
    tree = {"label": "Graphs", "children": [{"label": "All", "papers": ["l", "e", "u"]}]}
    topic = {"id": "s", "title": "Graphs surveyed", "date": "2020-06", "references": ["e"]}
    papers.append({"id": "x", "title": "X", "date": "2018"})
    build(Memory(papers, [topic | {"mind_map": tree}]), tmp_path / "corpus")
    (made,) = digested(tmp_path / "corpus", "summary")
    assert made["counts"] == {"papers": 3, "digests": 3, "failed": 0}
    env = playing(tmp_path / "corpus", "s", NAME, references="expert", paper_text="summary")
    for paper, title in {"e": "Early", "l": "Late", "u": "Undated topic"}.items():
        assert f"Problem: About {title}. It is hard." in act(env, "read", paper_id=paper)["text"]
    report = audit(tmp_path / "corpus", 200, environments=[NAME], options={"references": "expert"})
    assert report.findings == []
    assert any("paper_text='summary'" in name for name in report.environments)


def test_digests_that_were_not_made(mini):
    with pytest.raises(CorpusError, match=r"has no digests 'summary'\. Make them first"):
        make_env(mini, NAME, paper_text="summary")


@pytest.mark.slow
def test_the_batteries_cover_the_argument(synthetic, tmp_path):
    corpus = tmp_path / "corpus"
    shutil.copytree(synthetic, corpus)
    digested(corpus, "summary")
    digested(corpus, "contributions", all=True)
    report = audit(corpus, 600)
    assert report.findings == []
    audited = {name for name in report.environments if "paper_text=" in name}
    assert {name.split()[0] for name in audited if "contributions" in name} >= {
        "arena/Discovery-v0", NAME, "arena/Pipeline-v0",
    }  # fmt: skip
    assert {name.split()[0] for name in audited if "summary" in name} == {NAME}
    assert audit(corpus, 0, environments=[NAME], options={"paper_text": "summary"}).findings == []


def test_an_audit_finds_a_digest_of_the_wrong_paper(corpus, monkeypatch):
    digested(corpus, "summary", all=True)
    monkeypatch.setattr(
        "arena.corpus.digests.Digests.text", lambda self, paper_id: "Problem: another one."
    )
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    report = audit(corpus, 1_000, environments=[NAME])
    assert "answer.text" in report.by_check


# Runs


def test_a_run_names_its_input(corpus, tmp_path, capsys):
    digested(corpus, "summary")
    runs = {}
    for show in ("title_abstract", "summary"):
        runs[show] = tmp_path / show
        arguments = {} if show == "title_abstract" else {"paper_text": show}
        arena.run(corpus, "organization", "clustering", runs[show], topics=["sv:1"], **arguments)
    manifest = json.loads((runs["summary"] / "manifest.json").read_bytes())
    assert manifest["environment"]["paper_text"] == "summary"
    assert manifest["sha256"]["input"] == Corpus.open(corpus).digests("summary").sha256
    assert (
        "input" not in json.loads((runs["title_abstract"] / "manifest.json").read_bytes())["sha256"]
    )
    entry = json.loads((runs["summary"] / "metrics.json").read_bytes())["per_topic"]["sv:1"]
    assert entry["digests"] == {"shown": 3, "missing": 1}
    assert arena.verify(runs["summary"], corpus).difference is None
    comparison = arena.compare(list(runs.values()))
    notes = [note for note in comparison.notes if "what an episode shows" in note]
    assert "title_abstract (title_abstract)" in notes[0]

    # Other digests are another input: the run neither continues nor is replayed.
    def other(body):
        return answer(body).replace("hard", "easy")

    with LLMServer(other) as server:
        make_digests(corpus, "summary", options(server, store="other.db"), overwrite=True)
    with pytest.raises(CorpusError, match="another input"):
        arena.verify(runs["summary"], corpus)
    with pytest.raises(CorpusError, match="sha256 of input"):
        arena.run(
            corpus, "organization", "clustering", runs["summary"], topics=["sv:1"],
            paper_text="summary",
        )  # fmt: skip
