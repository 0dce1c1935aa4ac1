"""Are the statements of reports true? Sections 2.2 and 3.1 of ReportBench, as of a day.

A statement with a citation is compared with the cited paper: a model quotes the evidence, then
decides whether it supports the statement. On a statement without one several models vote. In place
of web pages they read what a `CorpusView` shows, so nothing from after its cutoff.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from arena import metrics
from arena.corpus import Corpus, CorpusView, search_batch
from arena.kit.files import sealed, sha256_json, write_json
from arena.kit.options import checked, parameters_of
from arena.llm import Client, ModelSession, Question
from arena.llm.answers import sum_totals
from arena.llm.client import Model
from arena.papers import MAX_QUERY
from arena.report import PaperFinder, Report, read_report, resolve
from arena_suites._parts import spread
from arena_suites.judging.judge import REPORT, open_finished, verdicts_file
from arena_suites.verification.evidence import (
    LONGEST,
    Page,
    Passage,
    Problems,
    best_passage,
    check_citations,
    choose_claims,
    mark_citations,
    open_questions,
    passages_of,
    pieces,
    vote,
)

HITS = 5  # papers that a search for a statement shows to a voter


@dataclass(frozen=True)
class StatementJudgements:
    """Verdicts on the statements of reports.

    Attributes:
        mean: Mean of every count and rate over the reports; of a rate over those that have one.
        counts: Sums over the reports.
        rates: Rates of these sums; see `rates_of`.
        reports: Id -> ``counts``, ``rates``, ``cited``: a row for each statement and cited
            reference, ``claims``: a row for each statement that was voted on, and ``problems``:
            what a model found in the whole report that could not be used.
        judge: ``client`` and ``voters``: fields of every request; ``votes``, ``max_statements``,
            ``extract``, ``prompts_sha256``; ``total`` of calls, tokens and dollars.
        sha256: Hashes of the corpus, the task set and the run that were judged, and of the code.
    """

    mean: Mapping[str, float | None]
    counts: Mapping[str, int]
    rates: Mapping[str, float | None]
    reports: Mapping[str, dict[str, Any]]
    judge: Mapping[str, Any] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain dicts and lists under the names of the attributes."""
        return sealed(asdict(self))


@checked
def judge_reports(
    reports: Mapping[str, Report | None],
    views: Mapping[str, CorpusView],
    client: Client,
    *,
    voters: Sequence[Client] = (),
    votes: Annotated[int, Ge(0)] = 3,
    max_statements: Annotated[int, Ge(1)] | None = None,
    extract: Literal["auto", "rules", "model"] = "auto",
    prompts: str | Path | None = None,
    unsure: bool = False,
    passages: Annotated[int, Ge(1)] = 1,
    status: Mapping[str, Mapping[str, str]] | None = None,
    pages: Mapping[str, Page] | None = None,
) -> StatementJudgements:
    """Let models judge the statements of reports.

    Answers are kept in the stores of the clients, so the same call continues after a break.

    Args:
        reports: Id -> report, its references resolved; None counts as one without statements.
        views: Id of a report -> the corpus as of its day, with an engine to search it; what a
            report without one cites is read in `pages` alone, and `votes` must be 0.
        client: The model that extracts and compares.
        voters: The models that vote, of distinct names; by default `client`. The paper has two,
            and so six votes.
        votes: Votes of each model on a statement; 0 leaves statements without citations out.
        max_statements: Statements with a citation, and claims, of each report that are judged at
            most, evenly spread over it; None for all.
        extract: Who finds the statements that cite something: ``rules``, by the marks of
            citations; a ``model``; or ``auto``, a model for reports without any mark.
        prompts: Folder with templates that replace the built-in ones.
        unsure: Let a model vote that it is unsure, which counts against a statement.
        passages: Passages of a source that a statement is compared with, those that share most
            with it, in one request.
        status: Id of a report -> paper -> what it is to the topic, as in
            `TaskSet.citation_status`: why a cited paper is not in reach.
        pages: Identifier of a reference -> page, read where the corpus has no text of a paper.
    """
    questions = open_questions(prompts, unsure)
    voters = voters or [client]
    session, asked = ModelSession(client), {each.model: ModelSession(each) for each in voters}
    problems: Problems = defaultdict(list)

    read = {name: report or Report("") for name, report in reports.items()}
    unmarked = {
        name: report
        for name, report in read.items()
        if extract == "model" or (extract == "auto" and not report.cited)
    }
    read |= mark_citations(unmarked, questions["cited"], session, problems)
    sources = _sources(read, views, pages or {})
    cited = _cited_rows(read, sources, passages, max_statements, questions, session, status or {})
    uncited = {name: r for name, r in read.items() if any(not s.citations for s in r.statements)}
    chosen = choose_claims(uncited if votes else {}, questions["claims"], session, problems)
    searches = [
        (name, text) for name, texts in chosen.items() for text in spread(texts, max_statements)
    ]
    decisions = vote(_claims(searches, views, unsure), questions["vote"], asked, votes)
    claims: _Rows = defaultdict(list)
    for (name, text), decision in zip(searches, decisions, strict=True):
        claims[name].append({"statement": text, **decision})

    reported: dict[str, dict[str, Any]] = {}
    for name, report in read.items():
        rows: dict[str, Any] = {"cited": cited[name], "claims": claims[name]}
        rows["problems"] = problems[name]
        counts = _counts(report, **rows)
        reported[name] = {"counts": counts, "rates": rates_of(counts), **rows}
    totals = [each.meter.totals() for each in (session, *asked.values())]
    made_by = {
        "client": client.fields,
        "voters": [each.fields for each in voters],
        "votes": votes,
        "max_statements": max_statements,
        "extract": extract,
        "passages": passages,
        "unsure": unsure,
        "prompts_sha256": sha256_json({n: each.template.text for n, each in questions.items()}),
        "total": sum_totals(totals),
    }
    return _summary(reported, made_by)


def _summary(
    reports: Mapping[str, dict[str, Any]], made_by: Mapping[str, Any]
) -> StatementJudgements:
    sums = {key: sum(row["counts"][key] for row in reports.values()) for key in _NONE}
    every = [row["counts"] | row["rates"] for row in reports.values()]
    mean = {key: metrics.mean(row[key] for row in every) for key in NUMBERS}
    return StatementJudgements(mean, sums, rates_of(sums), reports, made_by)


_Rows = dict[str, list[dict[str, Any]]]


def _cited_rows(
    reports: Mapping[str, Report],
    sources: Mapping[tuple[str, str], Sequence[Passage]],
    passages: int,
    max_statements: int | None,
    questions: Mapping[str, Question[Any]],
    model: Model,
    status: Mapping[str, Mapping[str, str]],
) -> _Rows:
    cited: list[tuple[str, dict[str, Any]]] = [
        (name, {"sentence": number, "statement": each.text, "reference": key, "paper": papers[key]})
        for name, report in reports.items()
        for papers in [{each.key: each.paper for each in report.references}]
        for number, each in spread(
            [(n, each) for n, each in enumerate(report.statements, 1) if each.citations],
            max_statements,
        )
        for key in each.citations
    ]
    pairs = [
        (
            row["statement"],
            best_passage(sources[name, row["reference"]], row["statement"], passages),
        )
        for name, row in cited
    ]
    rows: _Rows = {name: [] for name in reports}
    for (name, row), verdict in zip(cited, check_citations(pairs, questions, model), strict=True):
        rows[name].append({"id": f"{name}/{len(rows[name]) + 1}", **row, **verdict})
        if verdict["outcome"] == "unreachable":
            known = status.get(name, {}).get(row["paper"] or "", "")
            rows[name][-1]["why"] = _WHY.get(known, "no_text") if row["paper"] else "unknown"
    return rows


def _sources(
    reports: Mapping[str, Report], views: Mapping[str, CorpusView], pages: Mapping[str, Page]
) -> dict[tuple[str, str], list[Passage]]:
    """Return (report, key of a reference) -> the passages of its paper, or else of its page."""
    found = {}
    for name, report in reports.items():
        for each in report.cited:
            page = next((pages[key] for key in each.ids if key in pages), Page("", "", False))
            parts = [Passage(page.title, "Page", part) for part in pieces(page.text, LONGEST)]
            view = views.get(name)
            found[name, each.key] = (passages_of(view, each.paper) if view else []) or parts
    return found


_WHY = {"late": "late", "undated": "late", "survey": "forbidden", "itself": "forbidden"}
WHY = ("unknown", "late", "forbidden", "no_text")
"""Why nothing was read of a cited paper: the corpus has none, it is too late, it is a topic or the
survey itself, or it has no text (ReportBench, section 4)."""


def _claims(
    searches: Sequence[tuple[str, str]], views: Mapping[str, CorpusView], unsure: bool
) -> list[dict[str, str]]:
    """Return what voters read for each (report, statement): the papers that a search finds."""
    hits = search_batch([(views[name], text[:MAX_QUERY], HITS) for name, text in searches])
    third = ', and "unsure" if neither can be said' if unsure else ""
    claims = []
    for (name, text), of_claim in zip(searches, hits, strict=True):
        papers = [views[name].paper(hit.id) for hit in of_claim]
        shown = "\n\n".join(f"{p.title} ({p.date[:4]})\n{p.abstract[:LONGEST]}" for p in papers)
        about = {"statement": text, "passages": shown or "(none)"}
        claims.append(about | {"cutoff": views[name].cutoff, "unsure": third})
    return claims


def rates_of(counts: Mapping[str, int]) -> dict[str, float | None]:
    """Return the rates of `StatementJudgements.counts`, each in [0, 1]; None without anything.

    Returns:
        ``match_rate``: matches among the pairs whose passage was read, as in ReportBench's code;
        ``match_rate_all``: among all pairs, as section 4 of the paper counts a citation that leads
        nowhere; ``evidence_rate``: pairs with evidence among those that were read;
        ``match_rate_found``: matches among these; ``statement_match_rate``: statements with a match
        among the judged ones, and ``statement_match_rate_all`` if a statement without a citation
        has none; ``factual_accuracy``: true ones among the claims; ``official_factual_accuracy``:
        the same if an unreadable vote is against a claim, too, and
        ``official_factual_accuracy_without_ties`` without the ties. What has no readable answer is
        in no rate, except those called official.
    """
    c = counts
    found = c["match"] + c["mismatch"]
    parts = {
        "match_rate": (c["match"], found + c["not_found"]),
        "match_rate_all": (c["match"], c["pairs"] - c["failed"]),
        "evidence_rate": (found, found + c["not_found"]),
        "match_rate_found": (c["match"], found),
        "statement_match_rate": (
            c["supported_statements"], c["judged_statements"] - c["undecided_statements"]
        ),
        "statement_match_rate_all": (
            c["supported_statements"] * c["cited_statements"],
            (c["judged_statements"] - c["undecided_statements"])
            * (c["cited_statements"] + c["uncited_statements"]),
        ),
        "factual_accuracy": (c["true"], c["claims"] - c["failed_claims"]),
        "official_factual_accuracy": (c["official_true"], c["claims"]),
        "official_factual_accuracy_without_ties": (
            c["official_true"], c["official_true"] + c["official_false"]
        ),
    }  # fmt: skip
    return {name: part / whole if whole else None for name, (part, whole) in parts.items()}


def _counts(
    report: Report, cited: Sequence[Any], claims: Sequence[Any], problems: Sequence[str]
) -> dict[str, int]:
    pairs = Counter(row["outcome"] for row in cited)
    decided = Counter(row["outcome"] for row in claims)
    official = Counter(row["official"] for row in claims)
    supported = {row["sentence"] for row in cited if row["outcome"] == "match"}
    failed = {row["sentence"] for row in cited if row["outcome"] == "failed"}
    citing = sum(bool(each.citations) for each in report.statements)
    classes = ("match", "mismatch", "not_found", "unreachable", "failed")
    return {
        "cited_statements": citing,
        "judged_statements": len({row["sentence"] for row in cited}),
        "supported_statements": len(supported),
        "undecided_statements": len(failed - supported),
        "pairs": len(cited),
        **{name: pairs[name] for name in classes},
        **{f"unreachable_{why}": sum(row.get("why") == why for row in cited) for why in WHY},
        "not_verbatim": sum(not row.get("verbatim", True) for row in cited),
        "uncited_statements": len(report.statements) - citing,
        "claims": len(claims),
        **{name: decided[name] for name in ("true", "false", "tie")},
        "failed_claims": decided["failed"],
        "official_true": official["true"],
        "official_false": official["false"],
        "failed_votes": sum("failed" in vote for row in claims for vote in row["votes"]),
        "problems": len(problems),
    }


_NONE = _counts(Report(""), [], [], [])
RATES = tuple(rates_of(_NONE))
NUMBERS = (*_NONE, *RATES)
"""Names of all counts and rates of `StatementJudgements`."""


def record_statements(
    run: str | Path, corpus: Corpus | str | Path, options: Mapping[str, Any], option: str
) -> StatementJudgements:
    """Do as `judge_statements`, and write the verdicts into the folder of the run.

    Writes ``judgements/statements.json``, which the hashes of the run do not cover.
    """
    found = judge_statements(run, corpus, options, option)
    write_json(verdicts_file(run, "statements"), found.to_json())
    return found


def read_options(options: Mapping[str, Any], option: str) -> tuple[Client, dict[str, Any]]:
    """Return the client and the settings of `judge_reports` that options name, checked."""
    known = set(parameters_of(judge_reports)) - {"reports", "views", "client", "status", "pages"}
    asked = {name: value for name, value in options.items() if name not in known}
    settings = {name: value for name, value in options.items() if name in known}
    voters = settings.pop("voters", None) or ()
    voters = voters.split(",") if isinstance(voters, str) else voters
    client = Client.from_options(asked, option)
    settings["voters"] = [Client.from_options(asked | {"model": name}, option) for name in voters]
    open_questions(settings.get("prompts"), unsure=False)  # refused now
    return client, settings


def judge_statements(
    run: str | Path, corpus: Corpus | str | Path, options: Mapping[str, Any], option: str
) -> StatementJudgements:
    """Judge the statements of the reports of a finished run.

    What a report cites by id is looked up in the whole corpus, and read as of the topic's date.
    `options` are those of the judge's `Client` and of `judge_reports`, where ``voters`` are names
    of models that get the same options; a command line calls them `option`.
    """
    client, settings = read_options(options, option)
    played = open_finished(run, corpus, REPORT)
    finder = PaperFinder(played.tasks.paper_names())
    reports, views, status = {}, {}, {}
    for topic_id, text in played.answers.items():
        read = None if text is None else resolve(read_report(text, ["pandoc"]), finder)
        date = played.tasks.topic(topic_id).date
        reports[topic_id] = read
        papers = [each.paper for each in read.references if each.paper] if read else []
        status[topic_id] = played.tasks.citation_status(topic_id, papers)
        views[topic_id] = played.corpus.at(date, exclude=[topic_id])
    found = judge_reports(reports, views, client, status=status, **settings)
    return replace(found, sha256=played.sha256)
