"""``arena judge``: a language model scores mind-maps and reports; people's scores check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from arena._internal.files import sha256_file, write_json
from arena._internal.workdir import exclusive_lock
from arena.cli.app import print_json, print_table, resumable
from arena.text.display import printable


def run(
    run: str,
    *,
    corpus: str,
    rubric: str,
    tasks: str | None = None,
    llm_option: dict[str, Any] | None = None,
    prompt: str | None = None,
    output: str | None = None,
    json: bool = False,
) -> None:
    """Judge the mind-maps of a finished run; the same command resumes after a break.

    Args:
        run (RUN): Directory of a run whose task submits a mind-map.
        rubric (NAME): Rubric (`arena list rubrics`).
        prompt (FILE): Template that replaces the rubric's.
        output (FILE): JSON file to write (default: RUN/judgements/RUBRIC.json).

    Example:
        arena judge run runs/clustering --corpus demo/world --rubric taxobench --llm-option model=M
    """
    from arena.corpus import Corpus
    from arena.judging import RUBRICS, judge_run
    from arena.llm import Client

    client = Client.from_options(llm_option or {}, "--llm-option")
    opened = Corpus.open(corpus, tasks=tasks)
    path = Path(output or _default(run, RUBRICS.get(rubric).name))
    with resumable(), exclusive_lock(path.with_name(f".{path.name}.lock"), path):
        judgements = judge_run(rubric, run, opened, client, prompt)
        write_json(path, judgements.to_json())
    if json:
        print_json(judgements.to_json())
        return
    (low, high), counts = judgements.scale, judgements.counts
    print_table(list(judgements.mean.items()), (judgements.rubric, f"mean, {low} to {high}"))
    print(
        f"{counts['judged']} of {counts['items']} judged by {judgements.judge['model']} in "
        f"{judgements.judge['total']['calls']} calls; {counts['empty']} empty, which score {low}; "
        f"{counts['missing']} missing, which are in no mean."
    )
    for name, row in judgements.items.items():
        if "failed" in row:
            print(printable(f"missing {name}: {row['failed']}", 160))
    print(f"{path}: every score and reason")


def _default(run: str, name: str) -> Path:
    """Return a file in a folder that the hashes of the run do not cover; make the folder."""
    folder = Path(run, "judgements")
    folder.mkdir(exist_ok=True)
    return folder / f"{name}.json"


def statements(
    run: str,
    *,
    corpus: str,
    tasks: str | None = None,
    llm_option: dict[str, Any] | None = None,
    voters: tuple[str, ...] | None = None,
    votes: int = 3,
    most: int | None = None,
    extract: Literal["auto", "rules", "model"] = "auto",
    prompts: str | None = None,
    schemas: bool = False,
    json: bool = False,
) -> None:
    """Judge the statements of the reports of a finished run, as ReportBench does.

    Args:
        run (RUN): Directory of a run whose task submits a report.
        llm_option: Option of the models' client: model=NAME (required), base_url=URL, store=FILE
            and so on (docs/llm.md).
        voters (MODELS): Models that vote on statements without a citation (default: the model).
        votes: Votes of each of these models; 0 judges only statements with a citation.
        most: Statements with a citation, and without, of each report that are judged at most.
        extract: Who finds what is cited: the marks of citations (rules), a model, or a model only
            in reports without any mark (auto).
        prompts (DIR): Folder with templates that replace the built-in ones.
        schemas: Send JSON schemas, which many servers force a model to follow.

    Example:
        arena judge statements runs/digest --corpus demo/world --llm-option model=gpt-4o
    """
    from arena.corpus import Corpus
    from arena.judging import record_statements

    settings = (llm_option or {}) | {
        "voters": voters, "votes": votes, "most": most, "extract": extract, "prompts": prompts,
        "schemas": schemas,
    }  # fmt: skip
    with resumable():
        opened = Corpus.open(corpus, tasks=tasks)
        found = record_statements(run, opened, settings, "--llm-option")
    if json:
        print_json(found.to_json())
        return
    rows = [(name, found.rates[name], found.mean[name]) for name in found.rates]
    print_table(rows, ("", "over all", "mean of reports"))
    print_table(list(found.counts.items()), ("", "number"))
    total, failed = found.judge["total"]["calls"], found.counts["failed"]
    print(f"{len(found.reports)} reports in {total} calls; {failed} verdicts are missing.")
    print(f"{_default(run, 'statements')}: every verdict with its evidence and reason")


def agreement(judgements: str, *, human: str, json: bool = False) -> None:
    """Compare a judge's scores with people's: Cohen's kappa and Spearman, with intervals.

    Args:
        judgements (FILE): Judgements of a run, RUN/judgements/RUBRIC.json, or match.json for
            statements of reports.
        human (FILE): JSON lines such as {"survey": ID, "coverage": 3, ...}.

    Example:
        arena judge agreement judgements.json --human scores.jsonl
    """
    from arena import judging
    from arena.judging.agreement import STATISTICS

    judged = judging.read_judgements(judgements)
    result = judging.agreement(judged, judging.read_human(human, judged))
    if json:
        hashes = {"judgements": sha256_file(judgements), "human": sha256_file(human)}
        print_json(result | {"judge": judged.judge, "sha256": hashes})
        return
    rows = {**result["dimensions"], "overall": result["overall"], "mean": result["mean"]}
    cells = []
    for name, row in rows.items():
        cells.append([name, row.get("pairs"), row.get("equal")])
        for key in STATISTICS:
            cells[-1] += [row[key], _ends(row[f"{key}_interval"])]
    headers = ("kappa", "95 %", "quadratic", "95 %", "Spearman", "95 %")
    print_table(cells, ("", "pairs", "equal", *headers))
    if only := result["missing"] + result["empty"]:
        print(f"{only} more have scores by people, but none by the model.")


def _ends(interval: list[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"
