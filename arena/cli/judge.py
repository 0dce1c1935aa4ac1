"""``arena judge``: a language model scores mind-maps, and people's scores check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file, write_json
from arena.cli.app import print_json, print_table, printable, resumable
from arena.errors import DataError

SUMMARY = "Let a language model score mind-maps on a rubric, and compare it with people."
EXAMPLE = "arena judge agreement runs/clustering --human scores.jsonl"


def run(
    run: str,
    *,
    corpus: str,
    rubric: str = "taxobench",
    llm_option: dict[str, Any] | None = None,
    prompt: str | None = None,
    output: str | None = None,
    json: bool = False,
) -> None:
    """Judge the mind-maps of a finished run; the same command resumes after a break.

    Args:
        run (RUN): Directory of a run whose task submits a mind-map.
        corpus (DIR): Corpus that arena-corpus built.
        rubric (NAME): Rubric (`arena list rubrics`).
        llm_option: Option of the model's client: model=NAME (required), base_url=URL, store=FILE
            and so on (docs/llm.md).
        prompt (FILE): Template that replaces the rubric's.
        output (FILE): JSON file to write (default: RUN/judgements/RUBRIC.json).
        json: Print JSON instead of text.

    Example:
        arena judge run runs/clustering --corpus demo/world --llm-option model=gpt-4o
    """
    from arena.judging import judge_run
    from arena.llm import Client

    client = Client.from_options(llm_option or {}, "--llm-option")
    with resumable():
        judgements = judge_run(rubric, run, corpus, client, prompt)
    # In a folder that the hashes of the run do not cover.
    path = Path(output or Path(run, "judgements", f"{judgements.rubric}.json"))
    if not output:
        path.parent.mkdir(exist_ok=True)
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


def agreement(
    judgements: str, *, human: str, rubric: str = "taxobench", json: bool = False
) -> None:
    """Compare a judge's scores with people's: Cohen's kappa and Spearman, with intervals.

    Args:
        judgements (RUN|FILE): Judged run, or a file of judgements.
        rubric (NAME): Rubric by which the run was judged.
        human (FILE): JSON lines such as {"survey": ID, "coverage": 3, ...}.
        json: Print JSON instead of text.

    Example:
        arena judge agreement runs/clustering --human scores.jsonl
    """
    from arena.judging import agreement as compare
    from arena.judging import read_human, read_judgements
    from arena.judging.agreement import STATISTICS

    path = Path(judgements)
    if path.is_dir():
        path = path / "judgements" / f"{rubric}.json"
        if not path.is_file():
            raise DataError(f"{judgements!r} has no {path.name}. Make it with `arena judge run`.")
    judged = read_judgements(path)
    result = compare(judged, read_human(human, judged))
    if json:
        hashes = {"judgements": sha256_file(path), "human": sha256_file(human)}
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
