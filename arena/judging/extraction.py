"""Statements that a model finds in a report: those that cite something, and claims that do not.

A model only points at sentences: what it returns counts as the sentence of the report that has most
of its terms, so that nothing is judged that the report does not say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from arena.errors import clip
from arena.judging.verdicts import Ask
from arena.llm import Failed, ParseError, as_json
from arena.report import Reference, Report, Statement, chunks, read_report
from arena.text import analyze

CHUNK = 12_000
"""Characters of a report in one request; a longer sentence has one of its own."""
_SAME = 0.8  # share of the terms of what a model returns that its sentence must have

Reports = Mapping[str, Report]
Problems = dict[str, list[str]]
"""Id of a report -> what a model returned that could not be used, and why."""
Row = dict[str, str]


def mark_citations(reports: Reports, ask: Ask, problems: Problems) -> dict[str, Report]:
    """Return reports whose statements cite what a model says (A.2.1 of ReportBench).

    An address or mark that no reference of a report has becomes an unresolved reference.
    """
    found = _extract(reports, ask, "cited", ("statement", "url"), problems)
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


def choose_claims(reports: Reports, ask: Ask, problems: Problems) -> dict[str, list[str]]:
    """Return the distinct statements without a citation that a model wants checked (A.2.2)."""
    return {
        name: list(dict.fromkeys(each.text for each, _ in rows if not each.citations))
        for name, rows in _extract(reports, ask, "claims", ("statement",), problems).items()
    }


def _extract(
    reports: Reports, ask: Ask, prompt: str, keys: Sequence[str], problems: Problems
) -> dict[str, list[tuple[Statement, Row]]]:
    """Return rows with texts under `keys`, and the sentence of the report that each means."""
    parts = [(name, *chunk) for name in reports for chunk in chunks(reports[name], CHUNK)]
    many = []
    for _, text, statements in parts:
        many.append({"report": text})
        if prompt == "claims":
            cited = "\n".join(f"- {each.text}" for each in statements if each.citations)
            many[-1]["cited_statements"] = cited or "(none)"
    answers: list[list[Row] | Failed] = ask(prompt, many, lambda text: _read_rows(text, keys))
    found: dict[str, list[tuple[Statement, Row]]] = {name: [] for name in reports}
    for (name, _, statements), answer in zip(parts, answers, strict=True):
        if isinstance(answer, Failed):
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


def _read_rows(text: str, keys: Sequence[str]) -> list[Row]:
    found = as_json(text)
    if isinstance(found, dict):  # a list under some name, or a single row
        found = next((value for value in found.values() if isinstance(value, list)), [found])
    if not all(isinstance(row, dict) and type(row.get(k)) is str for row in found for k in keys):
        raise ParseError(f"It is no JSON list of objects with texts under {', '.join(keys)}.")
    return list(found)


def _key(mark: str, references: Sequence[Reference]) -> str:
    """Return the key of the reference that an address or a mark of a citation means."""
    bare = mark.strip("[]()^@ ")
    named = read_report(f"See [it](<{bare}>).").references
    ids = set(named[0].ids) if named else set()
    of = (each.key for each in references if each.key in (mark, bare) or ids & set(each.ids))
    return next(of, bare)
