"""The audit: clean where nothing leaks, and for each of its checks a leak that it finds."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from audit_leaks import (
    FILES,
    INJECTED,
    OF_DRAFTS,
    a_list_without_end,
    in_results,
    len_counts_all,
    one_paper_too_many,
    rewritten,
)

import arena.cli
from arena.corpus import Corpus
from arena.envs import ResearchEnv
from arena.envs._episode import ScoredEpisode
from arena.envs._results import PaperPool
from arena.kit.code import code_sha256
from arena.testing import CHECKS, AuditReport, audit
from arena.testing.auditor import audited_envs
from arena.testing.checked import CheckedEnv
from arena.testing.contract import CONTRACT, check_contract
from arena.testing.stored import StoredCorpus
from arena.tools import ToolResult

pytestmark = pytest.mark.usefixtures("read_once")


def alike(env_id: str, corpus: Path) -> list:
    """The environments of an id that an audit attacks."""
    return audited_envs([env_id], {"corpus": str(corpus)}, StoredCorpus(corpus))


@pytest.fixture
def attack(monkeypatch):
    """A function that attacks environments, without their contract."""
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)

    def run(corpus: Path, actions: int, audited: list | None = None, **options) -> AuditReport:
        if audited is not None:
            monkeypatch.setattr("arena.testing.auditor.audited_envs", lambda *_: audited)
        return audit(corpus, actions, **options)

    return run


# Without a leak.


@pytest.mark.slow
def test_a_synthetic_is_clean_and_everything_is_tried(synthetic):
    report = audit(synthetic, actions=3_000)
    assert report.findings == []
    assert report.clean
    assert report.by_check == {}
    assert 3_000 <= report.counts["actions"] < 3_100
    assert report.counts["contract checks"] == 8 * len(CONTRACT)
    assert sum(report.tools.values()) == sum(report.environments.values())
    assert set(report.tools) == {
        "search", "read", "references", "citations", "select", "submit", "organize", "finish",
        "write", "submit_report", "malformed",
    }  # fmt: skip
    assert {name.split()[0] for name in report.environments} == {
        "arena/Discovery-v0", "arena/Selection-v0", "arena/Organization-v0", "arena/Pipeline-v0",
        "arena/Report-v0", "arena/Question-v0", "arena/Review-v0", "arena/Screening-v0",
    }  # fmt: skip
    assert sum("vector of 4" in name for name in report.environments) == 10 + 7  # with a pool
    assert report.counts["topics"] == 8
    assert report.counts["cutoffs"] > 200
    for counted in ("scores compared", "papers returned"):
        assert report.counts[counted] > 20_000
    for counted in ("texts compared", "decoys compared", "ids refused"):
        assert report.counts[counted] > 50


def test_a_corpus_of_every_kind_of_record_is_clean(mini, attack):
    report = attack(mini, actions=1_500, seed=3)
    assert report.findings == []
    assert report.counts["topics"] == 3


@pytest.mark.slow
def test_the_real_papers_are_clean(real_corpus):
    report = audit(real_corpus, actions=1_500)
    assert report.findings == []
    assert report.counts["topics"] > 40


def test_two_audits_are_the_same(mini, attack):
    one, two, other = (attack(mini, 300, seed=seed).to_json() for seed in (5, 5, 6))
    for report in (one, two, other):
        assert report.pop("seconds") > 0
    assert one == two
    assert one["counts"] != other["counts"]
    assert json.loads(json.dumps(one)) == one
    assert set(one["hashes"]) == {"corpus", "tasks", "index bm25", "code"}
    assert one["hashes"]["code"] == code_sha256("arena.testing")
    assert one["hashes"]["corpus"] == Corpus.open(mini).sha256


def test_an_engine_without_a_second_reading_says_so(synthetic, tmp_path, attack):
    from corpus_builder.index import build_index

    copy = tmp_path / "copy"
    shutil.copytree(synthetic, copy)
    build_index(copy, "dense")
    build_index(copy, "bm25", name="titles", fields=("title",))
    report = attack(copy, 500, retrievers=["titles", "hybrid(bm25,dense)"])
    assert report.findings == []
    assert report.settings["scores_not_compared"] == ["hybrid(bm25,dense)"]
    assert report.counts["scores compared"] > 400
    assert set(report.hashes) == {
        "corpus", "tasks", "index titles", "index hybrid(bm25,dense)", "code",
    }  # fmt: skip


def test_an_update_of_what_is_new_is_clean(synthetic, attack):
    stored = StoredCorpus(synthetic)
    dates = sorted(
        stored.by_id[row["reference"]].date or ""
        for topic in stored.topics.values() for row in topic.references if row["status"] == "gold"
    )  # fmt: skip
    options = {"since": dates[len(dates) // 2]}
    names = ["arena/Discovery-v0", "arena/Review-v0"]
    report = attack(synthetic, 400, environments=names, options=options)
    assert report.findings == []
    assert sum(report.tools.values()) >= 400


def test_options_and_papers_that_a_run_found(synthetic, attack):
    """Episodes that begin with later papers, topics and ids that never were show none of them."""
    stored = StoredCorpus(synthetic)
    ids = ["nowhere", *(paper.id for paper in stored.papers)]
    options = {"references": "run", "start_from": dict.fromkeys(stored.topics, ids)}
    report = attack(synthetic, 200, environments=["arena/Organization-v0"], options=options)
    assert report.findings == []
    assert {"start_from=" in name for name in report.environments} == {True}


def test_results_that_are_cut_are_no_findings(synthetic, attack):
    options = {"max_result_characters": 700}
    report = attack(synthetic, 90, environments=["arena/Discovery-v0"], options=options)
    assert [str(each) for each in report.findings] == []


def test_a_reward_that_reads_results_is_audited_without_a_pool(synthetic, attack):
    options = {"reward": "ranker"}
    report = attack(synthetic, 60, environments=["arena/Discovery-v0"], options=options)
    assert report.findings == []
    assert report.environments and not any("pool" in name for name in report.environments)


# With one.


@pytest.mark.parametrize("leak", [one_paper_too_many, a_list_without_end])
def test_more_than_the_experts_papers_is_found(leak, synthetic, monkeypatch, attack):
    given = [e for e in alike("arena/Organization-v0", synthetic) if e.references == "expert"]
    assert [env.vector for env in given] == [0, 4]
    assert attack(synthetic, 200, given).findings == []
    leak(monkeypatch)
    assert "leak.paper" in attack(synthetic, 200, given).by_check


@pytest.mark.parametrize(("leak", "checks"), INJECTED, ids=[leak.__name__ for leak, _ in INJECTED])
def test_a_leak_is_found_and_named(leak, checks, synthetic, monkeypatch, attack):
    # Organization with its references, Topic alone and as a vector; the others are alike.
    organization = alike("arena/Organization-v0", synthetic)[0]
    topic, *_, pipeline_vector = alike("arena/Pipeline-v0", synthetic)
    leak(monkeypatch)
    if checks <= set(CONTRACT):
        report = AuditReport()
        for name in ("arena/Pipeline-v0", "arena/Organization-v0"):
            check_contract(CheckedEnv(name, {"corpus": synthetic}), report, checks)
    else:
        report = attack(synthetic, 600, [organization, topic, pipeline_vector])
    assert not report.clean
    assert checks <= set(report.by_check)
    assert {finding.check for finding in report.findings} == set(report.by_check)
    assert sum(report.by_check.values()) >= len(report.findings) > 0
    assert all(finding.where and finding.what for finding in report.findings)


@pytest.mark.parametrize(
    ("leak", "checks"), OF_DRAFTS, ids=[leak.__name__ for leak, _ in OF_DRAFTS]
)
def test_a_draft_that_leaks_is_found(leak, checks, synthetic, monkeypatch, attack):
    audited = alike("arena/Report-v0", synthetic)[:1]
    assert attack(synthetic, 600, audited).clean
    leak(monkeypatch)
    assert checks <= set(attack(synthetic, 600, audited).by_check)


def test_a_pool_that_shows_a_hidden_paper_is_found(synthetic, monkeypatch, attack):
    audited = [
        each for each in alike("arena/Discovery-v0", synthetic) if "observation='p" in each.name
    ]
    assert len(audited) == 2 and attack(synthetic, 100, audited).clean
    real, hidden = PaperPool.result, StoredCorpus(synthetic).papers[-1]

    def with_it(self, *given):
        text, papers = real(self, *given)
        whole = json.loads(text)
        return ToolResult(
            json.dumps({**whole, "papers": [*whole["papers"], {"id": hidden.id}]}), papers
        )

    monkeypatch.setattr(PaperPool, "result", with_it)
    assert "leak.paper" in attack(synthetic, 100, audited).by_check


def test_a_budget_that_is_not_kept_is_found(synthetic, monkeypatch, attack):
    audited = [
        each for each in alike("arena/Discovery-v0", synthetic) if "max_reads" in each.arguments
    ]
    real = ResearchEnv.__init__

    def init(self, *args, max_reads=100, **options):
        real(self, *args, max_reads=max_reads + 1, **options)

    monkeypatch.setattr(ResearchEnv, "__init__", init)
    report = attack(synthetic, 30, audited)
    assert set(report.by_check) == {"answer.budget"}
    assert "it begins with" in report.findings[0].what
    monkeypatch.setattr(ResearchEnv, "__init__", real)
    show = ScoredEpisode._show

    def generous(self, shown):
        show(self, shown)
        self._state.budget["characters"] += 1

    monkeypatch.setattr(ScoredEpisode, "_show", generous)
    report = attack(synthetic, 30, audited)
    assert set(report.by_check) == {"answer.budget"}
    assert "are left, and should be" in report.findings[0].what


@pytest.mark.parametrize("odd", [None, "text", {"a": [1]}, [[{}]]], ids=repr)
def test_a_result_of_another_shape_is_a_finding_and_no_crash(odd, synthetic, monkeypatch, attack):
    """Whatever value of JSON stands under each key of a result."""

    @in_results
    def leak(play, result):
        result.update(dict.fromkeys(result.keys() - {"message", "error"}, odd))

    audited = alike("arena/Pipeline-v0", synthetic)[:1]
    leak(monkeypatch)
    assert attack(synthetic, 300, audited).by_check["answer.result"]


@pytest.mark.parametrize(
    ("name", "change", "check"), FILES, ids=lambda p: getattr(p, "__name__", p)
)
def test_files_that_break_a_rule(name, change, check, mini, tmp_path):
    corpus = tmp_path / "corpus"
    shutil.copytree(mini, corpus)
    assert check in rewritten(corpus, name, change).by_check


def test_every_check_has_a_leak():
    """A check that cannot fail proves nothing."""
    from test_env_contract import BROKEN

    found = set().union(*(checks for _, checks in INJECTED), {check for *_, check in FILES})
    found |= {f"contract.{check}" for check, _ in BROKEN.values()} | {"answer.budget"}
    assert found == CHECKS
    assert len(INJECTED) + len(FILES) == 67


def test_the_page_says_what_a_finding_of_each_check_means():
    page = (Path(__file__).parents[2] / "docs" / "auditing.md").read_text(encoding="utf-8")
    page = page.partition("## The report card")[0]
    assert set(re.findall(r"^\| `([a-z]+\.[a-z-]+)` \| .+ \|$", page, re.MULTILINE)) == CHECKS


# The command.


def command(capsys, *words: str) -> tuple[int, str, str]:
    try:
        status = arena.cli.main(["audit", *words])
    except SystemExit as end:
        status = end.code
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_says_what_was_looked_at(mini, tmp_path, capsys, monkeypatch):
    file = tmp_path / "report.json"
    given = ("arena/Discovery-v0", "--corpus", str(mini), "--actions", "200", "--seed", "4")
    status, out, err = command(capsys, *given, "--output", str(file))
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "Nothing leaked: no findings."
    for word in ("actions", "cutoffs", "papers returned", "ids refused", "sha256 of index bm25"):
        assert word in out
    written = json.loads(file.read_text())
    assert written["clean"] is True
    assert written["settings"]["seed"] == 4
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    status, out, _ = command(capsys, *given, "--json", "--env-option", "max_steps=7")
    assert status == 0
    assert json.loads(out)["settings"]["options"] == {"max_steps": 7}


def test_the_command_fails_with_a_line_for_each_finding(mini, capsys, monkeypatch, attack):
    len_counts_all(monkeypatch)
    status, out, err = command(capsys, "--corpus", str(mini), "--actions", "100")
    assert status == 1
    lines = [line for line in out.splitlines() if line.startswith("FOUND ")]
    assert lines
    assert all(line.startswith("FOUND answer.count: Corpus.at(") for line in lines)
    assert out.splitlines()[-1] == f"{len(lines)} findings: answer.count {len(lines)}."
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seed", "-1"), "seed=-1: give an integer >= 0"),
        (("--retriever", "bm52"), "Did you mean 'bm25'?"),
        (("--tool", "serch"), "no tool named 'serch'. Did you mean 'search'"),
        (("arena/Discovry-v0",), "Did you mean 'arena/Discovery-v0'"),
        (("no_such_module:x/Y-v0",), "ModuleNotFoundError: No module named 'no_such_module'"),
        (("json:x/Y-v0",), "there is no environment 'json:x/Y-v0'"),
        (("--env-option", "max_stepz=3"), "max_stepz"),
        (("--env-option", "corpus=x"), "corpus cannot be an option here"),
    ],
)
def test_bad_input_is_one_line(words, message, mini, capsys):
    status, out, err = command(capsys, "--corpus", str(mini), *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
