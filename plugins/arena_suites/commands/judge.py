"""``arena judge``: a language model scores mind-maps and reports; people's scores check it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from arena.cli.app import print_json, print_table, resumable
from arena.cli.commands import command
from arena.kit.files import sha256_file, write_json
from arena.kit.workdir import exclusive_lock
from arena.text.display import count, printable


@command("judge.run")
def run(
    run: str,
    *,
    corpus: str,
    rubric: str,
    tasks: str | None = None,
    llm_option: dict[str, Any] | None = None,
    prompt: str | None = None,
    output: str | None = None,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Judge the mind-maps of a finished run; the same command resumes after a break.

    Args:
        run (RUN): Directory of a run whose task submits a mind-map.
        rubric (NAME): Rubric (`arena list rubrics`).
        prompt (FILE): Template that replaces the rubric's.
        output (FILE): JSON file to write (default: RUN/judgements/RUBRIC.json).

    Example:
        arena judge run runs/clustering --corpus demo/synthetic --rubric taxobench --llm-option
        model=M
    """
    from arena.corpus import Corpus
    from arena.llm import Client
    from arena_suites.judging import RUBRICS, judge_run
    from arena_suites.judging.judge import verdicts_file

    client = Client.from_options(llm_option or {}, "--llm-option")
    opened = Corpus.open(corpus, tasks=tasks)
    if dry_run:
        judge_run(rubric, run, opened, client, prompt)
        return
    path = Path(output or verdicts_file(run, RUBRICS.find(rubric).name))
    with resumable(), exclusive_lock(path.with_name(f".{path.name}.lock"), path):
        judgements = judge_run(rubric, run, opened, client, prompt)
        write_json(path, judgements.to_json())
    if json:
        print_json(judgements.to_json())
        return
    (low, high), counts = judgements.scale, judgements.counts
    headers = [judgements.rubric, f"mean, {low} to {high}"]
    rows: list[tuple[Any, ...]] = list(judgements.mean.items())
    if (low, high) == (0, 1):
        headers.append("95 %")
        rows = [(name, each, _ends(judgements.interval(name))) for name, each in rows]
    print_table(rows, headers)
    scores = f"which score {low}" if RUBRICS.find(rubric).empty_is_lowest else "which have no score"
    print(
        f"{counts['judged']} of {counts['items']} judged by {judgements.judge['model']} in "
        f"{count(judgements.judge['total']['calls'], 'call')}; {counts['empty']} empty, {scores}; "
        f"{counts['missing']} missing, which are in no mean."
    )
    for name, row in judgements.items.items():
        if "failed" in row:
            print(printable(f"missing {name}: {row['failed']}", 160))
    print(f"{path}: every score and reason")


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


@command("judge.sample")
def sample(
    sources: list[str] | None = None,
    *,
    what: str,
    output: str,
    corpus: str | None = None,
    tasks: str | None = None,
    rubric: str | None = None,
    figures: str | None = None,
    abstracts: str | None = None,
    n: int = 50,
    seed: int = 7,
    per_run: int | None = None,
    overwrite: bool = False,
) -> None:
    r"""Draw decisions of a machine for people to check, without its answers.

    Args:
        sources (PATH): Judged runs, for mind-maps and statements; for matches and themes what
            `arena evaluate bloom-eval --json` printed.
        what (KIND): Mind-maps, statements, matches, themes, extracted (mind-maps of a corpus),
            selected (topics of a corpus) or domains (of topics of a corpus).
        output (FILE): CSV file to write; people fill in its last column. FILE.key.json has the
            answers.
        rubric (NAME): Rubric by which the mind-maps were judged.
        figures (DIR): Folder of the figures that extracted mind-maps were read from, for the page
            FILE.html beside the sheet.
        abstracts (FILE): JSON lines of id and abstract: those of topics, which no corpus has.
        n: Decisions to draw, or mind-maps that were extracted, each with two decisions.
        seed: Seed of the choice and the order.
        per_run: In place of --n, mind-maps to draw of each run, each with all its dimensions.
        overwrite: Replace FILE although people have answered in it.

    Example:
        arena judge sample runs/clustering --what mind-maps --rubric taxobench \
            --corpus demo/synthetic --output sheet.csv
    """
    from arena.corpus import Corpus
    from arena_suites.judging import RUBRICS
    from arena_suites.judging.samples import Wanted, draw, read_abstracts

    opened = None if corpus is None else Corpus.open(corpus, tasks=tasks)
    rubric = rubric and RUBRICS.resolve(rubric)
    known = read_abstracts(abstracts) if abstracts else {}
    wanted = Wanted(sources or (), opened, rubric, figures, known)
    key = draw(what, wanted, output, n, seed, overwrite, per_run)
    path = Path(output)
    print(
        f"{path}: {key.counts['items']} of {count(key.counts['decided'], 'decision')}, "
        "to be answered"
    )
    print(f"{path.with_suffix('.key.json')}: the answers; keep it from the raters")


@command("judge.agreement")
def agreement(judgements: str, *, human: list[str], json: bool = False) -> None:
    """Compare a judge's scores with people's: accuracy, kappas, Spearman, alpha, with intervals.

    Args:
        judgements (FILE): The key of a sample, SHEET.key.json of `arena judge sample`.
        human (FILE): One person's answers: the sheet, filled in.

    Example:
        arena judge agreement sheet.key.json --human anna.csv --human ben.csv
    """
    from arena_suites import judging
    from arena_suites.judging.agreement import STATISTICS

    judged = judging.read_judgements(judgements)
    raters = {path: judging.read_human(path, judged) for path in human}
    result = judging.agreement(judged, *raters.values())
    if len(raters) > 1:
        result["raters"] = {
            path: judging.agreement(judged, each)["overall"] for path, each in raters.items()
        }
    if json:
        hashes = {"judgements": sha256_file(judgements)}
        hashes |= {path: sha256_file(path) for path in raters}
        print_json(result | {"judge": judged.judge, "sha256": hashes})
        return
    rows = {**result["dimensions"], "overall": result["overall"], "mean": result["mean"]}
    rows |= result.get("raters", {})
    binary = ("precision", "recall") if [*judged.scale] == [0, 1] else ()
    names = ("equal", *binary, *STATISTICS, *["alpha"] * (len(raters) > 1))
    cells = []
    for name, row in rows.items():
        cells.append([printable(name, 40), row.get("pairs")])
        for key in names:
            cells[-1] += [row.get(key), _ends(row.get(f"{key}_interval"))]
    headers = [each for key in names for each in (key.replace("_kappa", ""), "95 %")]
    print_table(cells, ("", "pairs", *headers))


@command("judge.compare")
def compare(judges: list[str], *, metric: str, parity: float = 0.5, json: bool = False) -> None:
    """Compare several judges, or people, who scored the same topics by one metric.

    Args:
        judges (NAME=FILE): What `arena evaluate --json` printed for a judge; or people's scores,
            {"TOPIC": {"METRIC": number}}.
        metric (NAME): The score to compare, such as fap.
        parity: The score that is as good as the experts'.

    Example:
        arena judge compare large=large.json small=small.json --metric fap
    """
    from arena.results.comparison.opening import split_name
    from arena_suites.judging.agreement import compare_judges, read_scores

    named = {name or str(path): path for name, path in map(split_name, judges)}
    found = compare_judges({n: read_scores(path, metric) for n, path in named.items()}, parity)
    if json:
        print_json(found)
        return
    rows = [(name, *row.values()) for name, row in found["judges"].items()]
    print_table(rows, (count(found["topics"], "topic"), "mean", "sd", f"at least {parity:g}"))
    print()
    pairs = [(" and ".join(row.pop("judges")), *row.values()) for row in found["pairs"]]
    print_table(pairs, ("judges", "same direction", "pearson", "spearman"))


def _ends(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"
