"""The commands ``arena export``, ``report-card`` and ``train``."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any, Literal

import arena
from arena.cli.app import print_json, print_table
from arena.cli.commands import command
from arena.cli.run import parse_topics
from arena.cli.testing import print_audit
from arena.errors import DataError
from arena.kit.files import atomic_write, check_target, write_json
from arena.text.display import count, printable


@command("export.inspect")
def inspect(
    run: str, *, corpus: str, output: str, tasks: str | None = None, answers: str | None = None
) -> None:
    """Write a run as a log that inspect view of inspect_ai opens.

    Args:
        run (RUN): Directory of a finished run.
        output (FILE): File to write, FILE.eval or FILE.json.

    Example:
        arena export inspect runs/title --corpus demo/synthetic --output logs/title.eval
    """
    from arena_integrations._inspect_log import write_inspect_log

    Path(output).parent.mkdir(parents=True, exist_ok=True)
    number = write_inspect_log(run, arena.Corpus.open(corpus, tasks=tasks), output, answers)
    print(f"{output}: {count(number, 'sample')}")


@command("export.results")
def results(
    run: str, *, corpus: str, output: str, format: Literal["eee", "hf", "inspect"],
    tasks: str | None = None, answers: str | None = None, date: str | None = None,
    model: str | None = None, dataset: str | None = None,
) -> None:  # fmt: skip
    """Write the scores of a run in a form that others read, after checking them by the labels.

    Args:
        run (RUN): Directory of a finished run.
        output (PATH): Folder for eee, FILE.yaml for hf, FILE.eval or FILE.json for inspect.
        format: Every Eval Ever 0.3.0; `.eval_results` of a model on Hugging Face; a log of
            inspect_ai, as `arena export inspect` writes it.
        date (DAY): For eee and hf: day of the export, YYYY-MM-DD (default: today).
        model (ID): For eee: DEVELOPER/NAME of the model (default: the run's own, or its agent).
        dataset (ID): For hf: OWNER/NAME of the corpus on the hub.

    Example:
        arena export results runs/title --corpus demo/synthetic --format eee --output results
    """
    from arena_integrations._results import write_eee, write_hf

    taken = {"eee": "answers date model", "hf": "dataset date", "inspect": "answers"}[format]
    given = {"answers": answers, "dataset": dataset, "date": date, "model": model}
    for name, value in given.items():
        if value is not None and name not in taken.split():
            raise DataError(f"--{name} says nothing for --format {format}. Leave it out.")
    if format == "inspect":
        inspect(run, corpus=corpus, output=output, tasks=tasks, answers=answers)
        return
    opened, day = arena.Corpus.open(corpus, tasks=tasks), date or datetime.date.today().isoformat()
    if format == "hf":
        print(f"{output}: {write_hf(run, opened, Path(output), day, dataset)}")
        return
    path, number = write_eee(run, opened, Path(output), day, model, answers)
    print(f"{path}: {count(number, 'sample')} beside it")


@command("export.messages")
def messages(
    run: str, *, corpus: str, output: str, tasks: str | None = None, answers: str | None = None,
    reward: bool = False, text_arguments: bool = False, credit: bool = False,
) -> None:  # fmt: skip
    """Write a run as chat messages with tool calls, a row an episode, for supervised training.

    Args:
        run (RUN): Directory of a finished run.
        output (FILE): File to write, FILE.jsonl or FILE.parquet.
        reward: Add the sum of each episode's rewards, which depends on labels.
        text_arguments: Write arguments of calls as JSON text, as OpenAI's API takes them (default:
            as objects, which chat templates take).
        credit: Add what each call was worth, as `arena credit` wrote it, which depends on labels.

    Example:
        arena export messages runs/title --corpus demo/synthetic --output sft.jsonl --reward
    """
    from arena_integrations._messages import write_messages

    Path(output).parent.mkdir(parents=True, exist_ok=True)
    options = {"reward": reward, "text_arguments": text_arguments, "credit": credit}
    number = write_messages(run, arena.Corpus.open(corpus, tasks=tasks), output, answers, **options)
    print(f"{output}: {count(number, 'episode')}")


@command("export.trackio")
def trackio(
    runs: list[str], *, corpus: str, project: str = "arena", tasks: str | None = None,
    answers: str | None = None,
) -> None:  # fmt: skip
    """Write runs into trackio's local store, beside the runs of trainers: a step an episode.

    Args:
        runs (RUN): Directory of a run, or NAME=DIR; or what an integration recorded.
        project (NAME): Project of trackio; a run of the same name in it is replaced.

    Example:
        arena export trackio runs/title runs/scout --corpus demo/synthetic --project topics
    """
    from arena_integrations._trackio_log import write_trackio

    written, alarm = write_trackio(runs, arena.Corpus.open(corpus, tasks=tasks), project, answers)
    for name, number in written.items():
        print(f"{printable(name)}: {count(number, 'episode')}")
    print(f"Look at them: trackio show --project {project}")
    if alarm:
        print(alarm, file=sys.stderr)


@command("export.examples")
def examples(*, corpus: str, output: str, before: str, n: int = 2, seed: int = 0) -> None:
    """Write few-shot's prompt with sampled mind-maps of earlier topics, and say what to play.

    Args:
        output (DIR): Folder for the prompt, for --agent-option prompts=DIR.
        before (DAY): Examples are dated before it; a run must play topics from it on alone.
        n: Number of examples.
        seed: Seed of the sample.

    Example:
        arena export examples --corpus demo/synthetic --before 2014-01-01 --output prompts
    """
    from arena_integrations._requests import write_examples

    for what, topics in write_examples(corpus, output, before, n, seed).items():
        print(f"{what}: {','.join(topics)}")


@command("export.requests")
def requests(
    *, corpus: str, output: str, tasks: str | None = None, topics: str | None = None,
    where: str | None = None, prompt: str = "any", prompts: str | None = None,
) -> None:  # fmt: skip
    """Write what a system outside of the gym is asked for, with the rules, as JSON lines.

    Args:
        output (FILE): File to write: id, request, cutoff and domain of each topic.
        topics (IDS|N): Only these topics, ids with commas or the first N.
        prompt (LEVEL): Level of the prompts, any for the most detailed one, or title.
        prompts (DIR): Folder with a template request.txt that replaces the built-in one.

    Example:
        arena export requests --corpus demo/synthetic --prompt title --output requests.jsonl
    """
    from arena.tasks import TaskSet
    from arena_integrations._requests import write_requests

    opened = arena.Corpus.open(corpus, tasks=tasks)
    number = write_requests(
        opened, output, topics=parse_topics(topics, TaskSet(opened).topics, where),
        prompt=prompt, templates=prompts,
    )  # fmt: skip
    print(f"{output}: {count(number, 'request')}")


@command("report-card")
def report_card(
    environments: list[str] | None = None,
    *,
    corpus: str,
    output: str,
    actions: int = 500,
    seed: int = 0,
    topics: int = 10,
    retriever: list[str] | None = None,
    tasks: str | None = None,
    env_option: dict[str, Any] | None = None,
    json: bool = False,
) -> None:
    """Audit environments, and write what agents and hacks earn in them as a page.

    The exit status is 1 if the audit has a finding.

    Args:
        environments (ENV_ID): Ids, those of another distribution as module:id (default: those of
            all tasks).
        output (FILE): Page to write, FILE.html, with the same as JSON beside it.
        actions: Actions that the audit sends.
        seed: Seed of the actions.
        topics: Topics that are played.
        retriever (NAME): Engine to search with; the first one is the environments' own (default:
            bm25).
        tasks (TASKS): Directory of `arena-corpus tasks`, to play its papers instead of topics.
        env_option: Argument of the environments, such as reward=cost.

    Example:
        arena report-card arena/Discovery-v0 --corpus demo/synthetic --output card.html
    """
    from arena.retrieval import parse_name
    from arena.testing import audit
    from arena_integrations import _report_card as cards

    page = check_target(output)
    if topics < 1:
        raise DataError(f"--topics {topics}: give 1 or more.")
    engines, ids = [str(parse_name(name)) for name in retriever or ["bm25"]], environments or None
    report = audit(corpus, actions, seed, engines, ids, (), tasks, env_option)
    opened = arena.Corpus.open(corpus, tasks=tasks)
    card = cards.report_card(opened, report, ids, topics, env_option)
    atomic_write(page, cards.as_page(card))
    write_json(page.with_suffix(".json"), card, sort_keys=False)
    if json:
        print_json(report.to_json() | {"report_card": card})
    else:
        print_audit(report)
        print("\n".join([card["question"], *card["answers"]]))
        print_table((shown := cards.table(card)).rows, shown.header)
    if not report.clean:
        raise SystemExit(1)


@command("train.ranker")
def ranker(
    *,
    corpus: str,
    tasks: str,
    output: str,
    choose: str | None = None,
    test: str | None = None,
    max_tasks: int | None = None,
    trees: int = 400,
    leaves: int = 15,
    seed: int = 0,
    retriever: str = "bm25",
    without: tuple[str, ...] = (),
    json: bool = False,
) -> None:
    """Train a ranker for agents that follow links, on what the papers of a corpus cite.

    Args:
        tasks (TASKS): Directory of a task set, which `arena-corpus tasks` wrote, to learn from.
        output (FILE): File to write, for --agent-option ranker=FILE of title and scout.
        choose (DATE): Tasks from this day on decide how many trees there are (default: the latest
            fifth); those before are learned from.
        test (DATE): Tasks from this day on are only measured (default: none).
        max_tasks: Learn from the latest tasks, this many (default: all).
        trees: Most trees.
        leaves: Leaves of a tree.
        seed: Seed of the samples.
        without: Features not to learn from, such as age,age_of_best.

    Example:
        arena train ranker --corpus demo/synthetic --tasks demo/tasks --output ranker.json
    """
    from arena_integrations._train_ranker import train_ranker

    made = train_ranker(
        arena.Corpus.open(corpus, tasks=tasks), output, choose=choose, test=test,
        max_tasks=max_tasks, trees=trees, leaves=leaves, seed=seed, retriever=retriever,
        without=without,
    )  # fmt: skip
    if json:
        print_json(made)
        return
    rows = [
        (part, made["tasks"][part], by, *scores.values())
        for part, of_part in made["measured"].items()
        for by, scores in of_part.items()
    ]
    print_table(rows, ("tasks", "n", "ranked by", "recall@10", "recall@100", "recall of the pool"))
    print(f"\nlearned from {count(made['tasks']['train'], 'task')}; written to {output}")
