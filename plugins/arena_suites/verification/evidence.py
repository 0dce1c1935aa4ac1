"""Statements of a report, and models' decisions: statements, evidence, verdicts and votes.

A model only points at sentences: what it returns counts as the sentence of the report that has most
of its terms, so that nothing is judged that the report does not say.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import CorpusView
from arena.errors import DataError, clip
from arena.llm import Failure, Fields, ParseError, Question, as_json, unfenced, without_thoughts
from arena.llm.client import Model
from arena.llm.prompts import load_templates
from arena.report import Reference, Report, Statement, read_report
from arena.suites import json_lines
from arena.text import analyze, tokenize
from arena_suites._parts import chunks
from arena_suites.reports.addresses import address_ids

CHUNK = 12_000  # characters of a report in one request; a longer sentence has one of its own
LONGEST = 1_500  # characters of the longest passage
TEMPERATURE = 1.0  # temperature of votes, which would be equal at 0
NOT_FOUND = "NOT_FOUND"
_SAME = 0.8  # share of the terms of what a model returns that its sentence must have

Reports = Mapping[str, Report]
Problems = dict[str, list[str]]
"""Id of a report -> what a model returned that could not be used, and why."""
Row = dict[str, str]


def mark_citations(
    reports: Reports, question: Question[list[Row]], model: Model, problems: Problems
) -> dict[str, Report]:
    """Return reports whose statements cite what a model says (A.2.1 of ReportBench).

    An address or mark that no reference of a report has becomes an unresolved reference.
    """
    found = _extract(reports, question, model, problems)
    marked = {}
    for name, report in reports.items():
        cited: dict[Statement, dict[str, None]] = defaultdict(dict)
        new: dict[str, Reference] = {}
        for statement, row in found[name]:
            key = _key(row["url"], report.references)
            new[key] = Reference(key, key)
            cited[statement][key] = None
        statements = tuple(s._replace(citations=tuple(cited[s])) for s in report.statements)
        known = {reference.key: reference for reference in report.references}
        marked[name] = report._replace(
            statements=statements, references=tuple((new | known).values())
        )
    return marked


def choose_claims(
    reports: Reports, question: Question[list[Row]], model: Model, problems: Problems
) -> dict[str, list[str]]:
    """Return the distinct statements without a citation that a model wants checked (A.2.2)."""
    return {
        name: list(dict.fromkeys(each.text for each, _ in rows if not each.citations))
        for name, rows in _extract(reports, question, model, problems, known=True).items()
    }


def _extract(
    reports: Reports,
    question: Question[list[Row]],
    model: Model,
    problems: Problems,
    known: bool = False,
) -> dict[str, list[tuple[Statement, Row]]]:
    """Return the rows of the answers, and the sentence of the report that each means.

    With `known` the model also sees which statements cite something.
    """
    parts = [(name, *chunk) for name in reports for chunk in chunks(reports[name], CHUNK)]
    many = []
    for _, text, statements in parts:
        many.append({"report": text})
        if known:
            cited = "\n".join(f"- {each.text}" for each in statements if each.citations)
            many[-1]["cited_statements"] = cited or "(none)"
    answers = question.ask(model, many)
    found: dict[str, list[tuple[Statement, Row]]] = {name: [] for name in reports}
    for (name, _, statements), answer in zip(parts, answers, strict=True):
        if isinstance(answer, Failure):
            problems[name].append(answer.reason)
            continue
        terms = [frozenset(analyze(each.text)) for each in statements]
        for row in answer:
            wanted = frozenset(analyze(row["statement"]))
            # The shortest of the sentences that share most.
            shared = [(len(wanted & of_text), -len(of_text)) for of_text in terms]
            if wanted and shared and max(shared)[0] >= _SAME * len(wanted):
                found[name].append((statements[shared.index(max(shared))], row))
            else:
                problems[name].append(f"not in the report: {clip(row['statement'])}")
    return found


def _read_rows(keys: Sequence[str], text: str) -> list[Row]:
    found = as_json(text)
    if isinstance(found, dict):  # a list under some name, or a single row
        found = next((value for value in found.values() if isinstance(value, list)), [found])
    if not all(isinstance(row, dict) and type(row.get(k)) is str for row in found for k in keys):
        raise ParseError(f"It is not a JSON list of objects with texts under {', '.join(keys)}.")
    return list(found)


def _key(mark: str, references: Sequence[Reference]) -> str:
    """Return the key of the reference that an address or a mark of a citation means."""
    bare = mark.strip("[]()^@ ")
    named = read_report(f"See [it](<{bare}>).").references
    ids = set(named[0].ids) if named else set()
    of = (each.key for each in references if each.key in (mark, bare) or ids & set(each.ids))
    return next(of, bare)


class Passage(NamedTuple):
    """At most `LONGEST` characters of a section, or, headed ``Abstract``, of a paper's abstract."""

    title: str
    heading: str
    text: str


class Page(NamedTuple):
    """A web page; `is_paper` is whether it is that of a scholarly paper."""

    title: str
    text: str
    is_paper: bool


def read_pages(path: str | Path) -> dict[str, Page]:
    """Read pages as JSON lines of ``url``, ``title``, ``text`` and ``is_paper`` (default: true).

    Returns:
        Identifier of an address, as a `Reference` has it -> page.

    Raises:
        DataError: If a line is not such an object.
    """
    pages: dict[str, Page] = {}
    for number, text, record in json_lines(path):
        url, title, content = ((record or {}).get(key, "") for key in ("url", "title", "text"))
        is_paper = (record or {}).get("is_paper", True)
        texts = isinstance(url, str) and isinstance(title, str) and isinstance(content, str)
        if not (texts and url) or type(is_paper) is not bool:
            raise DataError(
                f"{Path(path).name} line {number}: {clip(text)} is not a page. Write an object "
                "with url, title, text and is_paper."
            )
        pages |= dict.fromkeys(address_ids(url), Page(title, content, is_paper))
    return pages


def passages_of(view: CorpusView, paper: str | None) -> list[Passage]:
    """Return the passages of a paper, the abstract's first; none if `view` has no text.

    Passages are runs of whole paragraphs of the abstract or of one section.
    """
    if not paper or paper not in view:
        return []
    found = view.paper(paper)
    texts = [("Abstract", found.abstract)]
    texts += [(section.heading, section.text) for section in view.sections(paper)]
    return [
        Passage(found.title, heading, part)
        for heading, text in texts
        for part in pieces(text, LONGEST)
    ]


def best_passage(passages: Sequence[Passage], statement: str, k: int = 1) -> Passage | None:
    """Return the `k` passages that share most with a statement, as one in their order, or None.

    The score of one is the sum, over the distinct terms that it shares with the statement, of
    ``log(1 + n / df)``: `n` is the number of passages and `df` that of those with the term. Ties go
    to the earlier passage.
    """
    if not passages:
        return None
    terms = [frozenset(analyze(passage.text)) for passage in passages]
    frequency = Counter(term for of_passage in terms for term in of_passage)
    wanted = frozenset(analyze(statement))
    scores = [
        math.fsum(math.log(1 + len(passages) / frequency[term]) for term in of_passage & wanted)
        for of_passage in terms
    ]
    best = sorted(sorted(range(len(scores)), key=lambda place: -scores[place])[:k])
    chosen = [passages[place] for place in best]
    headings = dict.fromkeys(passage.heading for passage in chosen)
    text = "\n\n[...]\n\n".join(passage.text for passage in chosen)
    return Passage(passages[0].title, "; ".join(headings), text)


def pieces(text: str, longest: int) -> Iterator[str]:
    """Yield runs of whole paragraphs of at most `longest` characters; longer ones are cut."""
    run = ""
    for paragraph in filter(None, map(str.strip, text.split("\n\n"))):
        if run and len(run) + len(paragraph) + 2 > longest:
            yield run
            run = ""
        run = f"{run}\n\n{paragraph}" if run else paragraph
        while len(run) > longest:
            ends = (run.rfind(blank, 1, longest + 1) for blank in "\n ")
            cut = next((end for end in ends if end > 0), longest)
            yield run[:cut]
            run = run[cut:].strip()
    if run:
        yield run


def check_citations(
    pairs: Sequence[tuple[str, Passage | None]],
    questions: Mapping[str, Question[Any]],
    model: Model,
) -> list[dict[str, Any]]:
    """Let a model compare statements with passages of the papers that they cite.

    The model quotes the evidence (A.2.3 of ReportBench), then decides on the quotation alone
    whether it supports the statement (A.2.4), by the questions ``evidence`` and ``verdict``. Of a
    statement whose passage is None nothing is asked.

    Returns:
        For each ``outcome``: ``match``, ``mismatch``, ``not_found`` (no evidence), ``unreachable``
        (no passage) or ``failed`` (no readable answer); and as far as it comes ``passage``,
        ``evidence``, ``verbatim`` (whether it is in the passage word for word) and ``reason``.
    """
    rows: list[dict[str, Any]] = [{"outcome": "unreachable"} for _ in pairs]
    read = [(row, *pair) for row, pair in zip(rows, pairs, strict=True) if pair[1]]
    many = [{"statement": text, "title": p.title, "passage": p.text} for _, text, p in read if p]
    found = []
    quotations = questions["evidence"].ask(model, many)
    for (row, statement, passage), evidence in zip(read, quotations, strict=True):
        assert passage is not None
        row["passage"] = passage._asdict()
        if isinstance(evidence, Failure):
            row |= {"outcome": "failed", "reason": evidence.reason}
        elif evidence == NOT_FOUND:
            row["outcome"] = "not_found"
        else:
            row |= {"evidence": evidence, "verbatim": _plain(evidence) in _plain(passage.text)}
            found.append((row, {"statement": statement, "evidence": evidence}))
    verdicts = questions["verdict"].ask(model, (values for _, values in found))
    for (row, _), verdict in zip(found, verdicts, strict=True):
        if isinstance(verdict, Failure):
            row |= {"outcome": "failed", "reason": verdict.reason}
        else:
            row |= {"outcome": "match" if verdict[0] else "mismatch", "reason": verdict[1]}
    return rows


def vote(
    claims: Sequence[Mapping[str, str]],
    question: Question[tuple[Any, str]],
    voters: Mapping[str, Model],
    votes: int,
) -> list[dict[str, Any]]:
    """Let models vote on statements (A.2.5 and section 3.1 of ReportBench).

    `claims` are the values of the template for each statement. Vote `i` from 1 has the seed `i`, so
    that each of the `votes` of a model is a request of its own, and the temperature `TEMPERATURE`.

    Returns:
        For each ``outcome``: ``true`` if more than half of the readable votes are for it, four of
        six, ``false`` if fewer than half are, ``tie``, or ``failed`` if none can be read: "unsure"
        is a vote against it; ``confidence``: the share of the votes that say the same, a half at a
        tie; ``official``: the outcome if an unreadable vote is against it, too; ``votes``, each
        with ``model``, and ``decision`` (true, false or "unsure") and ``reason``, or else
        ``failed``.
    """
    cast: list[list[dict[str, Any]]] = [[] for _ in claims]
    for name, model in voters.items():
        for seed in range(1, votes + 1):
            answers = question.ask(model, claims, seed=seed, temperature=TEMPERATURE)
            for row, answer in zip(cast, answers, strict=True):
                if isinstance(answer, Failure):
                    row.append({"model": name, "failed": answer.reason})
                else:
                    row.append({"model": name, "decision": answer[0], "reason": answer[1]})
    return [_count(row) for row in cast]


def _count(votes: list[dict[str, Any]]) -> dict[str, Any]:
    decisions = [vote["decision"] for vote in votes if "decision" in vote]
    for_it = decisions.count(True)
    outcome = _majority(for_it, len(decisions) - for_it)
    agreeing = max(for_it, len(decisions) - for_it)
    return {
        "outcome": outcome if decisions else "failed",
        "confidence": agreeing / len(decisions) if decisions else None,
        "official": _majority(for_it, len(votes) - for_it),
        "votes": votes,
    }


def _majority(votes_for: int, votes_against: int) -> str:
    if votes_for == votes_against:
        return "tie"
    return "true" if votes_for > votes_against else "false"


_BOOLEANS: dict[str, Any] = {"true": True, "false": False}


def _read_evidence(text: str) -> str:
    found = unfenced(without_thoughts(text)).strip('"“” \n')
    if not found:
        raise ParseError(f"It is empty. Quote the passage, or answer {NOT_FOUND}.")
    return NOT_FOUND if NOT_FOUND in found.upper().replace(" ", "_") else found


def _read(key: str, known: Mapping[str, Any], text: str) -> tuple[Any, str]:
    found = as_json(text)
    value = str(found.get(key)).strip().lower() if isinstance(found, dict) else ""
    if value not in known:
        raise ParseError(f'It is not a JSON object whose "{key}" is {" or ".join(known)}.')
    return known[value], " ".join(str(found.get("reason", "")).split())


def _plain(text: str) -> str:
    return f" {' '.join(tokenize(text))} "


_QUESTIONS: dict[str, tuple[Fields, Callable[[str], Any]]] = {
    "cited": (Fields(("report",)), partial(_read_rows, ("statement", "url"))),
    "claims": (Fields(("report", "cited_statements")), partial(_read_rows, ("statement",))),
    "evidence": (Fields(("statement", "passage"), ("title",)), _read_evidence),
    "verdict": (Fields(("statement", "evidence")), partial(_read, "match", _BOOLEANS)),
    "vote": (
        Fields(("statement", "passages"), ("cutoff", "unsure")),
        partial(_read, "decision", _BOOLEANS),
    ),
}


def open_questions(prompts: str | Path | None, unsure: bool) -> dict[str, Question[Any]]:
    """Return the questions by name; files ``NAME.txt`` in `prompts` replace the templates.

    The paper's vote is true or false; with `unsure` a model may also vote that.
    """
    wanted = {name: fields for name, (fields, _) in _QUESTIONS.items()}
    templates = load_templates(wanted, Path(__file__).parent / "prompts", prompts)
    readers = {name: read for name, (_, read) in _QUESTIONS.items()}
    if unsure:
        readers["vote"] = partial(_read, "decision", _BOOLEANS | {"unsure": "unsure"})
    return {name: Question(templates[name], read) for name, read in readers.items()}
