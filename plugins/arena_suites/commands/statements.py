"""``arena judge statements``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from arena.cli.app import print_json, print_table, resumable
from arena.cli.commands import command
from arena.text.display import count


@command("judge.statements")
def statements(
    run: str,
    *,
    corpus: str,
    tasks: str | None = None,
    llm_option: dict[str, Any] | None = None,
    voters: tuple[str, ...] | None = None,
    votes: int = 3,
    max_statements: int | None = None,
    extract: Literal["auto", "rules", "model"] = "auto",
    prompts: str | None = None,
    unsure: bool = False,
    passages: int = 1,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Judge the statements of the reports of a finished run, as ReportBench does.

    Args:
        run (RUN): Directory of a run whose task submits a report.
        llm_option: Option of the models' client: model=NAME (required), base_url=URL, store=FILE
            and so on (docs/llm.md).
        voters (MODELS): Models that vote on statements without a citation (default: the model).
        votes: Votes of each of these models; 0 judges only statements with a citation.
        max_statements: Statements with a citation, and without, of each report that are judged at
            most.
        extract: Who finds what is cited: the marks of citations (rules), a model, or a model only
            in reports without any mark (auto).
        prompts (DIR): Folder with templates that replace the built-in ones.
        unsure: Let a model vote that it is unsure, which counts against a statement.
        passages: Passages of a cited paper, of 1,500 characters, that a statement is compared with.

    Example:
        arena judge statements runs/digest --corpus demo/synthetic --llm-option model=gpt-4o
    """
    from arena.corpus import Corpus
    from arena_suites.verification.statements import judge_statements, record_statements

    settings = (llm_option or {}) | {
        "voters": voters, "votes": votes, "max_statements": max_statements,
        "extract": extract, "prompts": prompts,
        "unsure": unsure, "passages": passages,
    }  # fmt: skip
    opened = Corpus.open(corpus, tasks=tasks)
    if dry_run:
        judge_statements(run, opened, settings, "--llm-option")
        return
    with resumable():
        found = record_statements(run, opened, settings, "--llm-option")
    if json:
        print_json(found.to_json())
        return
    rows = [(name, found.rates[name], found.mean[name]) for name in found.rates]
    print_table(rows, ("", "over all", "mean of reports"))
    print_table(list(found.counts.items()), ("", "number"))
    total, failed = found.judge["total"]["calls"], found.counts["failed"]
    reports, calls = count(len(found.reports), "report"), count(total, "call")
    print(f"{reports} in {calls}; {count(failed, 'verdict is', 'verdicts are')} missing.")
    print(f"{Path(run, 'judgements', 'statements.json')}: verdicts, evidence and reasons")
