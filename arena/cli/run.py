"""``arena run``, ``replay``, ``score`` and ``rescore``: runs of agents and of other systems."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from arena.cli.app import print_json, print_table, resumable
from arena.dates import GUESS_MARK, guess_note, undated_mark
from arena.errors import DataError
from arena.text.display import count, plural, printable


def run(
    *,
    corpus: str,
    task: str,
    agent: str,
    output: str,
    topics: str | None = None,
    where: str | None = None,
    tasks: str | None = None,
    seed: int = 0,
    repeats: int = 1,
    success: str | None = None,
    agent_option: dict[str, Any] | None = None,
    retriever: str | None = None,
    retriever_option: dict[str, Any] | None = None,
    reward: str | None = None,
    reward_option: dict[str, Any] | None = None,
    encoder: str | None = None,
    env_option: dict[str, Any] | None = None,
    metric: list[str] | None = None,
    jobs: int = 1,
    parallel: int | None = None,
    isolate: bool = False,
    executor: str = "local",
    timed: bool = False,
    overwrite: bool = False,
    no_check: bool = False,
    json: bool = False,
) -> None:
    """Let an agent play every topic of a corpus. Repeat the command to resume.

    Your own agent, task, retriever, reward, metric or tool can be named as FILE.py:NAME.

    Args:
        agent (NAME): Agent (`arena list agents`), or oracle, which knows the labels.
        output (RUN): Directory for the run.
        topics (IDS|N|FILE): Topic ids with commas, or the first N, or a file of `arena-corpus
            freeze` (default: all).
        tasks (TASKS): Directory of `arena-corpus tasks`, to play its papers instead of topics.
        seed: Seed of the run.
        repeats: Episodes of each topic: mean, best and, with --success, pass@k of them.
        success (METRIC>=X): What a successful episode reaches, such as recall@100>=.3.
        agent_option: Option of the agent.
        retriever (NAME): Search engine (default: bm25).
        retriever_option: One of the setting `retriever_options`.
        reward (NAME): The setting `reward`.
        reward_option (NAME={...}): One of the setting `reward_options`.
        encoder (NAME): The setting `encoder`.
        metric (NAME): Metric to report besides the task's, such as map or f1@10 (`arena list
            metrics`).
        jobs: Episodes to play at once, each in a process, for agents that compute; the files are
            the same.
        parallel: Episodes to play at once in threads, for agents that wait for a model; the files
            are the same (default: 8 for agents that ask a model, else 1).
        isolate: Play each episode in a new process, in which the agent knows of no other.
        executor (NAME): local, or ray to play on the machines of a Ray cluster; the files are the
            same.
        timed: Write the seconds that the run takes into timing.json, for comparisons.
        overwrite: Replace a run in RUN.

    Example:
        arena run --corpus demo/synthetic --task discovery --agent title --output runs/title
    """
    from arena.corpus import Corpus
    from arena.envs import EnvConfig
    from arena.envs.config import merged
    from arena.llm.outcomes import describe_answers
    from arena.runs import run as play
    from arena.runs.trajectories import TRAJECTORIES, read_episodes
    from arena.tasks import TaskSet

    started = time.monotonic()
    opened = Corpus.open(corpus, check=not no_check, tasks=tasks)
    settings = {
        "task": task, "retriever": retriever, "retriever_options": retriever_option,
        "reward": reward, "reward_options": reward_option, "encoder": encoder,
    }  # fmt: skip
    settings = merged(settings, env_option)
    episodes = Path(output) / TRAJECTORIES
    before = episodes.stat().st_size if episodes.is_file() and not overwrite else None
    with resumable():
        summary = play(
            opened,
            EnvConfig(**settings),
            agent,
            output,
            agent_options=agent_option or {},
            topics=parse_topics(topics, TaskSet(opened).topics, where),
            metrics=metric or (),
            seed=seed,
            repeats=repeats,
            success=success,
            jobs=jobs,
            parallel=parallel,
            isolate=isolate,
            executor=executor,
            timed=timed,
            overwrite=overwrite,
        )
    if json:
        print_json(summary)
        return
    print_summary(summary, summary["agent"])
    answers = describe_answers((r["topic_id"], r["notes"]) for r in read_episodes(episodes))
    for line in (*_refused(episodes), *(printable(each, 400) for each in answers)):
        print(line)
    if before == episodes.stat().st_size:
        print("The run was finished before: no episode was played.")
    print(f"{time.monotonic() - started:.1f} s; files in {output}")


def _refused(episodes: Path) -> Iterator[str]:
    """Yield how many actions were refused, and the commonest reasons."""
    from arena.runs.trajectories import read_episodes

    steps, refused, kinds = 0, Counter[str](), dict[str, str]()
    for step in chain.from_iterable(record["steps"] for record in read_episodes(episodes)):
        steps += 1
        if "error" in step:
            kind = re.sub("'[^']*'", "", step["error"])
            refused[kind] += 1
            kinds.setdefault(kind, step["error"])
    if refused:
        yield f"{refused.total()} of {count(steps, 'action')} were refused, for example:"
    for kind, times in refused.most_common(3):
        yield f"{count(times, 'time'):>12}: {printable(kinds[kind], 150)}"


def rescore(
    run: str,
    *,
    corpus: str,
    tasks: str | None = None,
    metric: list[str] | None = None,
    encoder: str | None = None,
    extractor: str = "spacy",
    extractor_option: dict[str, Any] | None = None,
    json: bool = False,
) -> None:
    """Score the submissions of a run by other metrics, without acting.

    Args:
        run (RUN): Directory of a run.
        metric (NAME): Metric such as ndcg@20 (default: the task's; `arena list metrics`).
        encoder (NAME): Encoder that compares headings of mind-maps (default: the run's).
        extractor (NAME): Extractor of the entities in headings (`arena list extractors`).
        extractor_option: Option of the extractor, such as model=ner.pt.

    Example:
        arena rescore runs/title --corpus demo/synthetic --metric ndcg@20 --metric recall@50
    """
    from arena.runs import rescore as score_again

    summary = score_again(run, corpus, metric, encoder, extractor, tasks, extractor_option)
    if json:
        print_json(summary)
        return
    print_summary(summary, summary["agent"])
    for remark in summary["remarks"]:
        print(remark)


def score(
    run_file: str,
    *,
    corpus: str,
    task: str,
    tasks: str | None = None,
    topics: str | None = None,
    where: str | None = None,
    metrics: tuple[str, ...] | None = None,
    json: bool = False,
) -> None:
    """Score a TREC run of any system (topic Q0 paper rank score tag).

    Args:
        run_file (RUN.trec): TREC run.
        task (NAME): Task whose answer is a ranking.
        topics (IDS|N): Topic ids with commas, or the first N (default: those that a run of
            `arena run` played; all for another file).
        metrics (NAMES): Names with commas, such as recall@20,mrr (default: the task's).

    Example:
        arena score --corpus demo/synthetic --task selection runs/title/run.trec
    """
    from arena.corpus import Corpus
    from arena.runs import score as score_run
    from arena.tasks import TaskSet

    opened = Corpus.open(corpus, tasks=tasks)
    chosen = parse_topics(topics, TaskSet(opened).topics, where)
    summary = score_run(opened, task, run_file, chosen, metrics)
    if json:
        print_json(summary)
    else:
        print_summary(summary, "run")


def parse_topics(
    text: str | None, known: Any, where: str | None = None
) -> Sequence[str] | int | None:
    """Return ids, a number, comparisons or None, from the texts of ``--topics`` and ``--where``.

    The ids may be `FrozenTopics`, of a file.
    """
    from arena.tasks.frozen import SUFFIX, FrozenTopics

    if where is not None and text is not None:
        raise DataError("--topics and --where both choose topics: give one of them.")
    if text is None:
        return where
    if text.endswith(SUFFIX):
        return FrozenTopics.read(text)
    if text.isascii() and text.isdigit() and text not in known:
        return int(text)
    return [part.strip() for part in text.split(",") if part.strip()]


def print_summary(summary: dict[str, Any], name: str) -> None:
    """Print mean and ceiling of every metric, and what they are the mean of."""
    from arena.llm.outcomes import UNREAD, is_unread
    from arena.mindmap import FLOORS_NOTE
    from arena.results.comparison.clusters import clusters_of, in_clusters

    unit = summary.get("unit", "topic")
    floors = summary.get("floors", {})
    values = floors.get("predicted", {}) | summary["mean"]
    name += f" {UNREAD}" * is_unread(summary)
    columns = [values, *(floors[kind] for kind in floors and ("other_topics", "random"))]
    columns.append(summary["ceiling"])
    titles = ("other topics", "random map") if floors else ()
    if repeats := summary["counts"].get("repeats"):
        columns.insert(1, _intervals(summary))
        titles = ("95 % interval", *titles)
    print_table(
        [(metric, *(column.get(metric) for column in columns)) for metric in values],
        (summary["task"] + undated_mark(unit), name, *titles, "ceiling"),
    )
    if repeats:
        print(f"Each {unit} was played {repeats} times; intervals are over {plural(unit)}.")
    if profile := summary.get("profile"):
        print(
            f"{profile['success']}: never on {count(profile['never'], unit)}, sometimes on "
            f"{profile['sometimes']}, always on {profile['always']}. Only the middle ones have "
            "unequal rewards to learn from."
        )
    if floors:
        print(FLOORS_NOTE)
        if changed := floors["merged"]["gold"]:
            print(
                f"{changed} of the surveys' own mind-maps have headings that were merged with a "
                "sibling of the same label, or left out as blank."
            )
    counts, guessed = summary["counts"], summary.get("dates_guessed")
    lacking, left_out = _missing(summary), summary.get("left_out", 0)
    gold, listed, cited = (counts[n] for n in ("gold", "references", "references_total"))
    total, clusters = counts["topics"] + left_out, {*clusters_of(summary["per_topic"]).values()}
    over = in_clusters(total, len(clusters) + left_out, unit)
    lost, unknown = listed - gold, counts.get("unknown", 0)
    whys = {"not in the corpus": unknown, "undated, surveys or too late": lost - unknown}
    parts = " and ".join(f"{number:,} {why}" for why, number in whys.items() if number)
    why = f" ({listed:,} listed{f', of these {parts}' if parts else ''})" if gold < cited else ""
    print(
        f"Mean over {counts['scored']} of {over}{GUESS_MARK * bool(guessed)} "
        f"({counts['not_scored'] + left_out} without {lacking}). In reach: {gold:,} of "
        f"{count(cited, 'reference')}{why}."
    )
    if task_set := summary.get("task_set"):
        print(f"Topics of {task_set['name']} ({task_set['sha256'][:12]}).")
    if guessed:
        print(guess_note(guessed))
    if "papers" in summary:
        print(f"Every episode began with the {summary['papers']}.")
    for remark in _remarks(summary, lacking):
        print(remark)


def _intervals(summary: dict[str, Any]) -> dict[str, str]:
    """Return metric -> the interval of its mean over topics, as `arena compare` takes it."""
    from numpy import array

    from arena.results.comparison.clusters import clusters_of, numbered
    from arena.results.comparison.paired import bootstrap

    found, inside = {}, clusters_of(summary["per_topic"])
    for name in summary["mean"]:
        rows = {s: [r[name]] for s, r in summary["per_topic"].items() if r[name] is not None}
        groups = numbered(inside[topic] for topic in rows)
        values = array([*rows.values()]).reshape(-1, 1)
        ((low, high),) = bootstrap(values, 0.95, groups)
        found[name] = "-" if low is None else f"{low:.4f} to {high:.4f}"
    return found


def _remarks(summary: dict[str, Any], lacking: str) -> Iterator[str]:
    """Yield what a reader of the means must know."""
    from arena.answers import remarked
    from arena.tasks import open_task

    counts, entries = summary["counts"], summary["per_topic"].values()
    unit = summary.get("unit", "topic")
    if (empty := summary.get("empty_gold")) and empty["topics"]:
        spent = "" if empty["searches"] is None else f", {empty['searches']:.2f} searches spent"
        yield (
            f"Left out: {count(empty['topics'], unit)} without gold. An answer without papers: "
            f"{empty['abstained']:.1%} of them; on average {empty['papers']:.2f} papers submitted"
            f"{spent}."
        )
    for metric, number in counts.get("scored_by", {}).items():
        if number < counts["scored"]:
            which = "the labels of the others have nothing that it counts"
            yield f"{metric}: over {number} of them; {which}."
    task = open_task(summary["task"])
    wanted = [entry for entry in entries if not empty or entry["gold"]]
    for nothing in task.nothing_submitted(wanted) if "missing" not in counts else ():
        yield f"Warning: the agent submitted {nothing}"
    if summary.get("unseen"):
        yield f"{summary['unseen']:.1%} of the submitted ids were in no result of their episode."
    yield from remarked(entries)
    if cut_off := sum(entry.get("truncated", False) for entry in entries):
        yield (
            f"{count(cut_off, 'episode was', 'episodes were')} cut off by the budget "
            "before the last answer; "
            "trajectories.jsonl has every action and its error."
        )
    digests = [entry["digests"] for entry in entries if "digests" in entry]
    if missing := sum(counted["missing"] for counted in digests):
        read = missing + sum(counted["shown"] for counted in digests)
        yield f"{missing} of {count(read, 'paper')} read had no digest: the abstract was shown."
    if failed := counts.get("failed"):
        first = next(entry["failed"] for entry in entries if "failed" in entry)
        yield (
            f"{count(failed, 'answer')} failed to be scored, left out of every mean. "
            f"The first: {first}."
        )
    elif not counts["scored"]:
        yield f"No {unit} can be scored: none has {lacking}. See `arena-corpus info`."
    if counts.get("missing"):
        yield f"The run leaves out {count(counts['missing'], unit)}, scored 0."
    if counts.get("not_visible"):
        yield (
            f"{count(counts['not_visible'], 'ranked paper is', 'ranked papers are')} "
            f"not visible at the {unit}'s cutoff."
        )


def _missing(summary: dict[str, Any]) -> str:
    """Return what a topic that is not scored lacks."""
    from arena.tasks import open_task

    stages, words = open_task(summary["task"]).stages, dict[str, None]()
    for stage, counted in zip(stages, summary.get("headlines", [None] * len(stages)), strict=True):
        # The last of several headlines needs no more than other labels do.
        usual = counted in (None, stage.headlines[-1].name)
        words[stage.answer.labels if usual else f"labels that {counted} counts"] = None
    return " or ".join(words)
