"""A plug-in of every kind, of a file named on the spot and of an installed distribution."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import gymnasium
import pytest
from llm_server import LLMServer

import arena.cli
import corpus_builder.cli
from arena import plugins
from arena_suites.surge.generator import write_files

SOURCE = Path(__file__).with_name("every_kind.py")
ENDNOTE = """%0 Journal Article
%T Sparse Reefs
%A Low, Ada
%D 2001

%0 Journal Article
%T Dense Reefs
%D 2002
"""
XML = """<?xml version="1.0"?>
<xml><records>
<record><title>Sparse Reefs</title><year>2001</year></record>
<record><title>Dense Reefs</title><year>2002</year></record>
</records></xml>
"""
MAP = '{"label": "Reefs", "children": [{"label": "Sparse"}, {"label": "Dense"}]}'
PLAY = "arena run --corpus synthetic --topics 2 --overwrite"

CASES = {
    "agent": [f"{PLAY} --task discovery --agent @names --output a"],
    "agent in processes": [
        f"{PLAY} --task discovery --agent @names --env-option tools=@shout --jobs 2 --output a",
        f"{PLAY} --task discovery --agent @names --env-option tools=@shout --isolate --output b",
        "diff a/trajectories.jsonl b/trajectories.jsonl",
        "arena verify a --corpus synthetic",
    ],
    "answer": [
        f"{PLAY} --task @naming --agent @names --output a",
        f"{PLAY} --task @naming --agent oracle --output b",
        "arena compare a b --metric @same_word --html c.html",
        "arena view a --corpus synthetic --output v.html", "arena show a --corpus synthetic",
        "arena verify a --corpus synthetic",
        "arena rescore a --corpus synthetic --metric @same_word",
    ],
    "audit": [
        f"{PLAY} --task @quick --agent @names --output a",
        f"{PLAY} --task @naming --agent @names --output b",
        "arena-corpus index tiny --engine @lengths",
        "arena audit --corpus tiny --actions 40 --tool @shout --retriever @lengths "
        "arena/Quick-v0 arena/Naming-v0 arena/Discovery-v0",
    ],
    "command": ["arena greet Ada", "arena-corpus count-titles tiny"],
    "corpus scheme": ["arena list topics --corpus folder:name=tiny --plugin FILE"],
    "encoder": [
        "arena-corpus index tiny --engine dense --option encoder=@letters",
        "arena search --corpus tiny --query graphs --before 2030 --retriever dense",
        "arena mindmap score --gold m.json --predicted m.json --model @letters",
        f"{PLAY} --task organization --agent random --encoder @letters --output a",
        "arena rescore a --corpus synthetic --metric heading_soft_recall --encoder @letters",
    ],
    "encoder in processes": [
        "arena-corpus index synthetic2 --engine dense --option encoder=@letters --workers 2"
    ],
    "executor": [
        f"{PLAY} --task discovery --agent title --executor @in_turn --output a",
        "arena-corpus index tiny --engine dense --option encoder=@letters --executor @in_turn",
    ],
    "extractor": [
        "arena mindmap score --gold m.json --predicted m.json --extractor @capitals",
        f"{PLAY} --task organization --agent random --output a",
        "arena rescore a --corpus synthetic --metric heading_entity_recall --extractor @capitals",
    ],
    "input": [
        "arena-corpus digest tiny --all --input @first_words --llm-option model=scripted "
        "--llm-option base_url=URL --llm-option store=answers.db",
        "arena run --corpus tiny --task discovery --agent title "
        "--env-option paper_text=@first_words "
        "--output a",
    ],
    "integration": ["arena serve @echo --corpus tiny --port 1"],
    "judge": ["arena-corpus select arxiv.jsonl --judge @short --any-licence --unpublished "
              "--output selected"],
    "metric": [
        f"{PLAY} --task discovery --agent title --metric @wasted@5 --reward @wasted@5+gain "
        "--output a",
        f"{PLAY} --task discovery --agent random --metric @wasted@5 --reward gain+@wasted@5 "
        "--output b",
        "arena rescore b --corpus synthetic --metric @wasted",
        "arena compare a b --metric @wasted@5", "arena verify a --corpus synthetic",
    ],
    "mind-map format": ["arena mindmap show m.json --format @outline"],
    "pair": ["arena evaluate surge --data surge --generated made --pair @often"],
    "question format": [
        "arena-corpus tasks tiny --questions @lines=questions.tsv --output tasks",
    ],
    "reader": ["arena-corpus build library --papers reefs.enw --output b --plugin FILE"],
    "XML reader": ["arena-corpus build library --papers reefs.xml --output b --plugin FILE"],
    "result reader": ["arena compare a.lines b.lines --plugin FILE"],
    "retriever": [
        "arena-corpus index tiny --engine @lengths",
        "arena search --corpus tiny --query graphs --before 2030 --retriever @lengths",
        "arena run --corpus tiny --task discovery --agent title --retriever @lengths --output a",
        "arena verify a --corpus tiny", "arena-corpus verify tiny",
    ],
    "reward": [
        f"{PLAY} --task discovery --agent title --reward @stepwise --output a",
        "arena verify a --corpus synthetic",
    ],
    "rubric": [
        f"{PLAY} --task organization --agent clustering --output a",
        "arena judge run a --corpus synthetic --rubric @liking --llm-option model=scripted "
        "--llm-option base_url=URL --llm-option store=answers.db",
        "arena judge sample a --corpus synthetic --what mind-maps "
        "--rubric @liking --n 1 --output s",
    ],
    "source": ["arena-corpus build @two --year 2003 --output b"],
    "suite": ["arena evaluate @letter_count --made m.json"],
    "task": [
        f"{PLAY} --task @quick --agent @names --output a", "arena verify a --corpus synthetic",
    ],
    "tool": [
        f"{PLAY} --task discovery --agent @names --env-option tools=@shout --output a",
        "arena verify a --corpus synthetic",
    ],
}  # fmt: skip

PROCESSES = ("agent in processes", "encoder in processes", "audit")
SLOW = pytest.mark.slow


@pytest.fixture
def place(tmp_path, tiny, synthetic, monkeypatch):
    """An empty folder with what the commands take."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    Path("synthetic").symlink_to(synthetic)
    shutil.copytree(tiny, "tiny")
    Path("reefs.enw").write_text(ENDNOTE)
    Path("reefs.xml").write_text(XML)
    Path("m.json").write_text(MAP)
    write_files(Path("surge"), papers=60, surveys=1)
    Path("made/0").mkdir(parents=True)
    Path("made/0/survey.md").write_text("# Reefs\n## Kinds\nThey grow [1].\n[1] Reefs\n")
    for name, score in (("a.lines", 0.5), ("b.lines", 0.25)):
        Path(name).write_text(f"one {score}\ntwo {score}\n")
    Path("questions.tsv").write_text("2020-05-01\twhat is known of graphs\tGraph Search\n")
    paper = {
        "id": "2001.00001", "title": "Reefs, a survey", "abstract": "All about reefs.",
        "categories": "cs.IR", "versions": [{"created": "Wed, 1 Jan 2020 00:00:00 GMT"}],
        "update_date": "2020-01-01", "authors_parsed": [["Low", "Ada", ""]], "doi": None,
        "license": None, "comments": None, "journal-ref": None, "submitter": "A",
    }  # fmt: skip
    Path("arxiv.jsonl").write_text(json.dumps(paper) + "\n")
    return tmp_path


def scripted(body):
    return json.dumps({"liking": {"score": 3, "reason": "Fair."}})


def play(command: str, capsys) -> str:
    """Run a command in this process; return what it prints."""
    program, *words = shlex.split(command)
    if program == "diff":
        assert Path(words[0]).read_bytes() == Path(words[1]).read_bytes()
        return ""
    capsys.readouterr()
    status = {"arena": arena.cli.main, "arena-corpus": corpus_builder.cli.main}[program](words)
    out, err = capsys.readouterr()
    assert status == 0, f"{command}\n{out}\n{err}"
    return out


def without_decorators(text: str) -> tuple[str, dict[str, str]]:
    """Return the source without the decorators that only name, and registered -> own name."""
    plain = r'^@(?!command)\w+\("(\w+)"\)\n((?:class|def) (\w+))'
    names = {named: own for named, _, own in re.findall(plain, text, re.MULTILINE)}
    text = re.sub(plain, r"\2", text, flags=re.MULTILINE)
    return re.sub(r'"(\w+)"', lambda m: f'"{names.get(m[1], m[1])}"', text), names


@pytest.mark.parametrize("how", ["file", pytest.param("bare", marks=SLOW), "installed"])
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=SLOW if kind in PROCESSES else ()) for kind in CASES]
)
def test_a_plug_in_of_every_kind(kind, how, place, capsys, monkeypatch, synthetic):
    if "synthetic2" in str(CASES[kind]):
        shutil.copytree(synthetic, "synthetic2")
    with LLMServer(scripted) as server:
        names = dict[str, str]()
        if how == "file":
            file = shutil.copy(SOURCE, place / "kinds_of_mine.py")
        elif how == "bare":
            file = place / "bare_kinds.py"
            text, names = without_decorators(SOURCE.read_text())
            file.write_text(text)
        else:
            (place / "site" / "their_kinds").mkdir(parents=True)
            (place / "site" / "their_kinds" / "__init__.py").touch()
            file = shutil.copy(SOURCE, place / "site" / "their_kinds" / "kinds.py")
            about = place / "site" / "theirs-1.0.dist-info"
            about.mkdir()
            (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
            (about / "entry_points.txt").write_text(
                "[researcharena.plugins]\ntheirs = their_kinds\n"
            )
            monkeypatch.syspath_prepend(place / "site")
            plugins._installed = None
            plugins.entry_points.cache_clear()
        shutil.copy(SOURCE.with_name("first_words.txt"), Path(file).parent)
        prefix = "" if how == "installed" else f"{file}:"
        needs_file = (
            kind in ("command", "corpus scheme", "reader", "XML reader", "result reader") and prefix
        )
        try:
            for command in CASES[kind]:
                words = command.replace("URL", server.url).replace(" --plugin FILE", "")
                words = re.sub(r"@([a-z]\w*)", lambda m: prefix + names.get(m[1], m[1]), words)
                if needs_file:
                    words += f" --plugin {file}"
                play(words, capsys)
        finally:
            for name in [n for n in sys.modules if n.startswith("their_kinds")]:
                del sys.modules[name]
            for made in ("arena/Quick-v0", "arena/Naming-v0"):
                gymnasium.registry.pop(made, None)
