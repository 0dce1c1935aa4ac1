"""The audit: clean where nothing leaks, and for each of its checks a leak that it finds."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from audit_leaks import (
    FILES,
    INJECTED,
    OF_DRAFTS,
    answers_hold_the_labels,
    change_result,
    info_holds_the_labels,
    len_counts_all,
    rewritten,
    twice,
)

import arena.cli
from arena._internal.code import code_sha256
from arena.corpus import Corpus
from arena.errors import DataError
from arena.tasks import environment_ids
from arena.testing import LEAKS, audit, check_environment
from arena.testing.auditor import kinds

pytestmark = pytest.mark.usefixtures("read_once")

# Without a leak.


def test_a_world_is_clean_and_everything_is_tried(world):
    report = audit(world, actions=3_000)
    assert report.findings == []
    assert report.clean
    assert report.by_check == {}
    assert 3_000 <= report.counts["actions"] < 3_100
    assert sum(report.tools.values()) == sum(report.environments.values())
    assert set(report.tools) == {
        "search", "read", "references", "citations", "select", "submit", "organize", "finish",
        "write", "submit_report", "malformed",
    }  # fmt: skip
    assert {name.split()[0] for name in report.environments} == {
        "arena/Discovery-v0", "arena/Selection-v0", "arena/Organization-v0", "arena/Survey-v0",
        "arena/Report-v0",
    }  # fmt: skip
    assert sum("vector of 4" in name for name in report.environments) == 7
    assert set(report.doors) == {
        "len", "search", "search_batch", "paper", "sections", "references", "citations",
        "citation_count", "in",
    }  # fmt: skip
    # Every way of not being there; that of an id that is a survey's alone takes another corpus.
    assert set(report.refused) == {
        "excluded", "later", "of the cutoff's day", "survey", "undated", "unknown",
    }  # fmt: skip
    assert report.counts["surveys"] == 8
    assert report.counts["cutoffs"] > 200
    for counted in ("scores compared", "papers returned"):
        assert report.counts[counted] > 20_000
    for counted in ("texts compared", "twins compared", "pages compared", "ids refused"):
        assert report.counts[counted] > 100


def test_a_corpus_of_every_kind_of_record_is_clean(mini):
    report = audit(mini, actions=1_500, seed=3)
    assert report.findings == []
    assert report.refused["survey task"]  # sv:2 and sv:3 are no papers
    assert report.counts["surveys"] == 3


@pytest.mark.slow
def test_the_real_papers_are_clean(real_corpus):
    report = audit(real_corpus, actions=1_500)
    assert report.findings == []
    assert report.counts["surveys"] > 40


def test_two_audits_are_the_same(mini):
    one, two, other = (audit(mini, 300, seed).to_json() for seed in (5, 5, 6))
    for report in (one, two, other):
        assert report.pop("seconds") > 0
    assert one == two
    assert one["counts"] != other["counts"]
    assert json.loads(json.dumps(one)) == one
    assert set(one["hashes"]) == {"corpus", "tasks", "index bm25", "code"}
    assert one["hashes"]["code"] == code_sha256("arena.testing")
    assert one["hashes"]["corpus"] == Corpus.open(mini).sha256


def test_an_engine_without_a_second_reading_says_so(world, tmp_path):
    from corpus_builder.index import build_index

    copy = tmp_path / "copy"
    shutil.copytree(world, copy)
    build_index(copy, "dense")
    build_index(copy, "bm25", name="titles", fields=("title",))
    report = audit(copy, 500, retrievers=["titles", "hybrid(bm25,dense)"])
    assert report.findings == []
    assert report.settings["scores_not_compared"] == ["hybrid(bm25,dense)"]
    assert report.counts["scores compared"] > 1_000
    assert set(report.hashes) == {
        "corpus", "tasks", "index titles", "index hybrid(bm25,dense)", "code",
    }  # fmt: skip


# With one.


@pytest.mark.parametrize(("leak", "checks"), INJECTED, ids=[leak.__name__ for leak, _ in INJECTED])
def test_a_leak_is_found_and_named(leak, checks, world, monkeypatch):
    # Organization with its references, Survey alone and as a vector; the others are alike.
    organization = kinds(["arena/Organization-v0"], str(world))[0]
    survey, *_, survey_vector, _ = kinds(["arena/Survey-v0"], str(world))
    audited = [organization, survey, survey_vector]
    monkeypatch.setattr("arena.testing.auditor.kinds", lambda *_: audited)
    leak(monkeypatch)
    report = audit(world, actions=450)
    assert not report.clean
    assert checks <= set(report.by_check)
    assert {finding.check for finding in report.findings} == set(report.by_check)
    assert sum(report.by_check.values()) >= len(report.findings) > 0
    assert all(finding.where and finding.what for finding in report.findings)


@pytest.mark.parametrize(
    ("leak", "checks"), OF_DRAFTS, ids=[leak.__name__ for leak, _ in OF_DRAFTS]
)
def test_a_draft_that_leaks_is_found(leak, checks, world, monkeypatch):
    audited = kinds(["arena/Report-v0"], str(world))[:1]
    monkeypatch.setattr("arena.testing.auditor.kinds", lambda *_: audited)
    leak(monkeypatch)
    assert checks <= set(audit(world, actions=600).by_check)


def test_drafts_that_do_not_leak_are_clean(world, monkeypatch):
    audited = kinds(["arena/Report-v0"], str(world))[:1]
    monkeypatch.setattr("arena.testing.auditor.kinds", lambda *_: audited)
    assert audit(world, actions=600).clean


@pytest.mark.parametrize("odd", [None, 5, "text", {"a": [1]}, [1], [[{}]]], ids=repr)
def test_a_result_of_another_shape_is_a_finding_and_no_crash(odd, world, monkeypatch):
    """Whatever value of JSON stands under each key of a result."""

    def change(play, result):
        result.update(dict.fromkeys(result.keys() - {"message", "error"}, odd))

    monkeypatch.setattr("arena.testing.auditor.kinds", lambda *_: kinds_alone)
    kinds_alone = kinds(["arena/Survey-v0"], str(world))[:1]
    change_result(monkeypatch, change)
    assert audit(world, actions=300).by_check["result"]


@pytest.mark.parametrize("leak", [info_holds_the_labels, answers_hold_the_labels, twice])
def test_a_leak_at_the_end_of_episodes_that_begin_anew_at_once(leak, world, monkeypatch):
    audited = kinds(environment_ids(), str(world))[-1:]
    monkeypatch.setattr("arena.testing.auditor.kinds", lambda *_: audited)
    leak(monkeypatch)
    assert any("SameStep" in finding.where for finding in audit(world, actions=200).findings)


@pytest.mark.parametrize(
    ("name", "change", "check"), FILES, ids=lambda p: getattr(p, "__name__", p)
)
def test_files_that_break_a_rule(name, change, check, mini, tmp_path):
    corpus = tmp_path / "corpus"
    shutil.copytree(mini, corpus)
    assert check in rewritten(corpus, name, change).by_check


def test_every_check_has_a_leak():
    """A check that cannot fail is none."""
    found = set().union(*(checks for _, checks in INJECTED), {check for *_, check in FILES})
    assert found == set(LEAKS)


# The command.


def command(capsys, *words: str) -> tuple[int, str, str]:
    try:
        status = arena.cli.main(["audit", *words])
    except SystemExit as end:
        status = end.code
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_says_what_was_looked_at(mini, tmp_path, capsys):
    file = tmp_path / "report.json"
    given = ("--corpus", str(mini), "--actions", "200", "--seed", "4", "--output", str(file))
    status, out, err = command(capsys, *given)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "Nothing leaked: no findings."
    for word in ("actions", "cutoffs", "papers returned", "ids refused", "sha256 of index bm25"):
        assert word in out
    written = json.loads(file.read_text())
    assert written["clean"] is True
    assert written["settings"]["seed"] == 4
    status, out, _ = command(capsys, *given, "--json")
    assert status == 0
    again = json.loads(out)
    assert again | {"seconds": 0} == written | {"seconds": 0}


def test_engines_are_named_one_by_one(mini, tmp_path, capsys):
    from corpus_builder.index import build_index

    copy = tmp_path / "copy"
    shutil.copytree(mini, copy)
    build_index(copy, "bm25", name="titles", fields=("title",))
    given = ("--retriever", "titles", "--retriever", "bm25", "--retriever", "titles")
    status, out, _ = command(capsys, "--corpus", str(copy), "--actions", "50", "--json", *given)
    assert status == 0
    assert json.loads(out)["settings"]["retrievers"] == ["titles", "bm25"]
    _, out, _ = command(capsys, "--corpus", str(copy), "--actions", "50", "--json")
    assert json.loads(out)["settings"]["retrievers"] == ["bm25"]


def test_a_tool_of_a_file_is_attacked(mini, tmp_path, capsys):
    file = tmp_path / "peek.py"
    file.write_text(f"""
import arena
from arena.tools import Tool
WHOLE = arena.Corpus.open({str(mini)!r}).at("9999-12-31")
def exists(episode, paper_id: str):
    \"\"\"Say whether there is such a paper.

    Args:
        episode: The running episode.
        paper_id: An id.
    \"\"\"
    return {{"known": paper_id in WHOLE}}
peek = Tool.of(exists)
""")
    given = ("--corpus", str(mini), "--actions", "400", "--tool", f"{file}:peek")
    status, out, _ = command(capsys, *given)
    assert status == 1
    assert "indistinguishable" in out and "tools without an oracle" in out
    file.write_text(file.read_text().replace("paper_id in WHOLE", "len(episode.view) / len(WHOLE)"))
    status, out, _ = command(capsys, *given)  # a share of all papers is beyond what is recognised
    assert status == 0
    assert out.splitlines()[-1].startswith("No findings, but exists may leak")


def test_the_command_fails_with_a_line_for_each_finding(mini, capsys, monkeypatch):
    len_counts_all(monkeypatch)
    status, out, err = command(capsys, "--corpus", str(mini), "--actions", "100")
    assert status == 1
    lines = [line for line in out.splitlines() if line.startswith("LEAK ")]
    assert lines
    assert all(line.startswith("LEAK count: Corpus.at(") for line in lines)
    assert out.splitlines()[-1] == f"{len(lines)} findings: count {len(lines)}."
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--actions", "0"), "actions=0"),
        (("--actions", "many"), "many"),
        (("--seed", "-1"), "seed=-1: give an integer from 0"),
        (("--retriever", "bm52"), "Did you mean 'bm25'?"),
        (("--retriever", "dense"), "has no index 'dense'"),
        (("--tool", "serch"), "no tool named 'serch'. Did you mean 'search'"),
        (("--retriever", "bm25", "dense"), "too many words: 'dense'"),
    ],
)
def test_bad_input_is_one_line(words, message, mini, capsys):
    status, out, err = command(capsys, "--corpus", str(mini), *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"actions": True}, "actions=True: give an integer from 1"),
        ({"seed": 1.5}, "seed=1.5: give an integer from 0"),
        ({"seed": -1}, "seed=-1: give an integer from 0"),
        ({"retrievers": "bm25"}, "retrievers='bm25': give a list of names"),
        ({"retrievers": []}, "name at least one of each"),
        ({"environments": []}, "name at least one of each"),
        ({"environments": ["CartPole-v1"]}, "CartPole-v1 cannot be made with corpus="),
        ({"corpus": None}, "corpus=None"),
    ],
    ids=repr,
)
def test_what_is_no_argument_is_refused(argument, message, mini):
    with pytest.raises(DataError, match=re.escape(message)):
        audit(**{"corpus": mini, "actions": 10} | argument)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"checks": "replay"}, "checks='replay': give a list of names"),
    ],
    ids=repr,
)
def test_what_is_no_argument_of_a_check_is_refused(argument, message, mini):
    with pytest.raises(DataError, match=re.escape(message)):
        check_environment(**{"env_id": "arena/Discovery-v0", "corpus": mini} | argument)
