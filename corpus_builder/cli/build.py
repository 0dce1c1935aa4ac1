"""``arena-corpus build`` and ``download``: a corpus from a source, the files of a source."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from arena.cli.app import (
    add_argument,
    add_command,
    add_group,
    parse_size,
    print_json,
    resumable,
)
from arena.cli.run import parse_topics
from arena.kit.lazy import load
from arena.kit.options import Option, options_of, parameters_of
from arena.text.display import count, printable
from corpus_builder.cli.info import print_card

_OPTION = inspect.Parameter.KEYWORD_ONLY
SUMMARY = "Fetch the files of a release; killed at any moment, the same command continues."


def show_s2orc(report: dict[str, Any], _: Mapping[str, Any]) -> None:
    """Say what of a release is complete, and what was fetched now."""
    files = count(sum(report["datasets"].values()), "file is", "files are")
    now = f"{report['files']:,} fetched now ({format_bytes(report['bytes'])})"
    print(f"release {report['release']}: {files} complete; {now}.")


def printer(quiet: bool) -> Callable[[str], None]:
    """Return what prints a line above the bar, if there is one; nothing if `quiet`."""
    from tqdm import tqdm

    def say(line: str) -> None:
        if not quiet:
            tqdm.write(printable(line, 1000))
            sys.stdout.flush()

    return say


def format_bytes(count: float) -> str:
    """Return a number of bytes as text.

    >>> format_bytes(999), format_bytes(64_250_000_000)
    ('999 B', '64.2 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.95:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


_LOST = {"rejected": "rejected", "flaws": "flaws", "skipped": "passed over"}
_MOST = 4  # reasons that a line names, the most frequent ones
_MOST_ROWS = 9  # of a corpus, beside warnings; one more line is on the time of the build


def add_asked(
    commands: Any,
    asked: Collection[str] | None,
    name: str,
    function: Callable[..., Any],
    summary: str = "",
    **more: Any,
) -> None:
    """Add a command; one that the words `asked` do not name is listed in the help and no more.

    The options of all commands take longer to declare than a small corpus takes to build.
    """
    summary = summary or (inspect.getdoc(function) or "").partition("\n")[0]
    if asked is None or name in asked:
        add_command(commands, name, function, summary=summary, **more)
    else:
        commands.add_parser(name, help=summary)


def add_work(
    commands: Any,
    asked: Collection[str] | None,
    name: str,
    place: str,
    show: Callable[[dict[str, Any], Mapping[str, Any]], None],
    summary: str,
    word: str = "",
) -> None:
    """Add a command with the options of the function that does its work, at ``module:name``.

    `show` prints what the function has returned, from that and the options, unless JSON is asked
    for. `word` is the parameter that has no option's name; ``surveys`` are ids or a number.
    """
    if asked is not None and name not in asked:
        commands.add_parser(name, help=summary)
        return
    module, _, function = place.partition(":")
    work = getattr(load(module, "this command"), function)
    known = parameters_of(work)

    def command(*, json: bool, **given: Any) -> None:
        say = {"on_message": printer(json)} if "on_message" in known else {}
        if "surveys" in given:
            given["surveys"] = _surveys(given["surveys"], given[word])
        with resumable():
            report = work(**given, **say)
        if json:
            print_json(report)
        else:
            show(report, given)

    shown = [each for each in known.values() if each.name != "on_message"]
    options = [
        each.replace(kind=each.POSITIONAL_OR_KEYWORD if each.name == word else each.KEYWORD_ONLY)
        for each in [*shown, inspect.Parameter("json", _OPTION, default=False, annotation=bool)]
    ]
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__doc__ = work.__doc__
    add_command(commands, name, command, summary=summary)


def _surveys(text: str | None, corpus: str) -> Any:
    from arena.tasks import TaskSet

    is_number = text is not None and text.isdigit() and Path(corpus).is_dir()
    return parse_topics(text, TaskSet(corpus).topics if is_number else ())


def add_build(commands: Any, asked: Collection[str] | None) -> None:
    """Add ``build`` with one command for each registered source."""
    from corpus_builder.release import Release
    from corpus_builder.sources import SOURCES

    summary = "Build a corpus from a source; the directory appears whole or not at all."
    sources = add_group(commands, "build", summary, "SOURCE")
    for name, text in SOURCES.describe().items():
        if asked is not None and name not in asked:
            sources.add_parser(name, help=text)
            continue
        source = SOURCES.get(name)
        shown = getattr(source, "example", "")
        add_command(
            sources,
            name,
            _build_release if issubclass(source, Release) else _build,
            summary=text,
            example=" ".join(["arena-corpus build", name, *shown.split(), "--output DIR"]),
            more=partial(_add_arguments, source),
            computed={
                "source_name": lambda _, name=name: name,  # type: ignore[misc]
                "source": partial(_make_source, name, source),
            },
        )


def _options(source: Any) -> list[Option]:
    """Return the parameters of the constructor of a source; only one before ``/`` is a word."""
    return [
        each
        if each.parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        else each._replace(parameter=each.parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        for each in options_of(source)
        if each.parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    ]


def _add_arguments(source: Any, parser: Any) -> None:
    if hasattr(source, "add_arguments"):
        source.add_arguments(parser)
    else:
        for option in _options(source):
            add_argument(parser, option)


def _make_source(name: str, source: Any, arguments: Any) -> Any:
    """Make a source from its options."""
    if hasattr(source, "from_arguments"):
        return source.from_arguments(arguments)
    words, options = [], {}
    for option in _options(source):
        value = getattr(arguments, option.name)
        if option.parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            words.append(value)
        else:
            options[option.name] = value
    return source(*words, **options)


def _build(
    *,
    source_name: str,
    source: Any,
    output: str,
    fields: tuple[str, ...] = ("title", "abstract", "fulltext"),
    engines: tuple[str, ...] = ("bm25",),
    prompts: str | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Build a corpus and print its card.

    Args:
        output (DIR): A new directory.
        fields (NAMES): Indexed fields.
        engines (NAMES): Retrievers to index for, with commas.
        prompts (FILE): Prompts and domains of surveys, from `arena-corpus prompts`.
        overwrite: Replace a corpus in DIR.
    """
    from corpus_builder.build import build

    if prompts is not None:
        from corpus_builder.prompt_writing import PromptedSource

        source = PromptedSource(source, prompts)
    started = time.monotonic()
    manifest = build(source, output, engines=engines, fields=fields, overwrite=overwrite)
    if json:
        print_json(manifest)
        return
    print_card(manifest, output, _MOST_ROWS)
    print(f"built in {time.monotonic() - started:.1f} s")


def _build_release(
    *,
    source_name: str,
    source: Any,
    output: str,
    config: str | None = None,
    set: dict[str, Any] | None = None,
    stage: str | None = None,
    memory: str = "4GB",
    workers: int | None = None,
    executor: str = "local",
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Build a corpus from a release, stage by stage, and print its card.

    Args:
        output (DIR): A new directory.
        config (FILE): Configuration of the stages, such as configs/s2orc.yaml.
        set (KEY=VALUE): Change of the configuration, such as surveys.judge=llm.
        stage (NAME): Run this stage only: parse, surveys, references, mind-maps, index, card.
        memory (SIZE): Memory of all processes.
        workers: Processes (default: one a processor).
        executor (NAME): Executor of the tasks: local or ray.
        overwrite: Replace a corpus in DIR.
    """
    from arena.corpus import layout
    from corpus_builder.stages import plan, read_config, run_stages

    started = time.monotonic()
    build = plan(
        source_name, source, output, read_config(config, set or {}), workers=workers,
        memory=parse_size("--memory", memory), executor=executor, overwrite=overwrite,
    )  # fmt: skip

    def say(line: str) -> None:
        if not json:
            print(f"{time.monotonic() - started:8.1f} s  {line}", flush=True)

    def on_stage(stage: str, report: dict[str, Any], now: bool) -> None:
        say(f"{stage} is done" if now else f"{stage} was done before")
        for line in stage_lines(stage, report):
            if not json:
                print(f"{'':12}{printable(line, 1000)}", flush=True)

    with resumable():
        reports = run_stages(build, stage, on_stage, lambda stage: say(f"{stage} begins"))
    if json:
        print_json(reports)
    elif stage in (None, "index", "card"):
        print_card(layout.read_manifest(Path(output)), output, _MOST_ROWS)


def stage_lines(stage: str, report: Mapping[str, Any]) -> list[str]:
    """Return lines on a stage that is done, if any: how much it made, what it lost and why."""
    if stage == "parse":
        return list(_parse(report))
    if stage == "surveys":
        verdicts = report["verdicts"]
        return [
            f"{count(report['candidates'], 'candidate')}, judged by {report['judge']}: "
            f"{count(verdicts['survey'], 'survey')}, {count(verdicts['other'], 'other')}, "
            f"{verdicts['unread']:,} could not be judged"
        ]
    if stage == "references":
        kept, dropped = report["surveys"]["kept"], report["surveys"]["dropped"]
        return [
            count(kept, "survey is a task", "surveys are tasks")
            + (f"; dropped {_counts(dropped)}" if dropped else ""),
            f"{count(report['links'], 'reference')} linked, {report['dangling_references']:,} to "
            "papers that are not here",
        ]
    if stage == "mind-maps" and report["figures"]:
        rejected = f"; rejected {_counts(report['rejected'])}" if report["rejected"] else ""
        return [
            f"{count(report['surveys'], 'survey')}, {report['surveys_with_figures']:,} with figures"
            f", {report['picked']:,} with a taxonomy, "
            f"{count(report['mind_maps'], 'mind-map')}{rejected}"
        ]
    return ["no figures were given"] if stage == "mind-maps" else []


def _parse(report: Mapping[str, Any]) -> Iterator[str]:
    for name, dataset in report["datasets"].items():
        records, shards = count(dataset["lines"], "record"), count(dataset["shards"], "shard")
        parts = [f"{name}: {records} in {shards}"]
        if dataset["damaged"]:
            parts.append(f"{dataset['damaged']:,} of them DAMAGED")
        parts += [f"{said} {_counts(dataset[key])}" for key, said in _LOST.items() if dataset[key]]
        yield "; ".join(parts)
    if duplicates := report["duplicate_ids"]:
        yield f"duplicate ids, the first record counts: {_counts(duplicates)}"
    parts = [count(report["papers"], "paper")]
    if report["without_full_text"]:
        parts.append(f"{report['without_full_text']:,} left out, without full text")
    if report["texts_without_paper"]:
        parts.append(f"{count(report['texts_without_paper'], 'full text')} of no paper")
    yield "; ".join(parts)


def _counts(of: Mapping[str, int]) -> str:
    largest = sorted(of.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{name} {number:,}" for name, number in largest[:_MOST])
    rest = sum(number for _, number in largest[_MOST:])
    return f"{named}, others {rest:,}" if rest else named
