"""Score submitted answers: those of a run as it ends or later, and TREC runs of any system."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena import trec
from arena.corpus import Corpus
from arena.encoders import ENCODERS
from arena.errors import DataError, clip, did_you_mean
from arena.failures import scoring_failure
from arena.kit.code import code_sha256
from arena.kit.files import sha256_json
from arena.kit.options import check_options
from arena.kit.workdir import read_manifest_of
from arena.llm.outcomes import count_answers
from arena.metrics import ENCODER, EXTRACTOR, Metric, ScoreContext, mean
from arena.mindmap import identity
from arena.mindmap.extractors import EXTRACTORS
from arena.mindmap.metrics import kept
from arena.plugins import load
from arena.runs.directory import RUN, OpenedRun
from arena.runs.repeats import merge, read_success
from arena.runs.trajectories import TRAJECTORIES, answers_of, seen_of
from arena.tasks import EXPERT_PAPERS, Task, TaskSet, choose_topics, needs_of, open_task
from arena.text.display import count

Answers = Mapping[str, Any]
"""Stage -> a ranking (list of ids), a `MindMap`, or the Markdown of a report."""


class Scorer:
    """Scores answers to a task by its metrics, by others, or by both.

    Metrics are by default the task's own; each scores the stages whose answers it takes. The scores
    have the names of `Task.columns`.

    Attributes:
        task: The task, with the headlines that the labels allow.
        metrics: Name of each score -> its metric; None for the mean of the stages' headlines.
    """

    def __init__(
        self,
        task: Task,
        tasks: TaskSet,
        metrics: Sequence[Metric] | None = None,
        *,
        besides: Sequence[Metric] = (),
        encoder: str = ENCODER,
        extractor: str = EXTRACTOR,
        extractor_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.task, self._tasks = task.on(tasks), tasks
        self._extractor = extractor, extractor_options
        self._own = metrics is None
        known = {metric.name: metric for metric in task.own_metrics}
        own = task.metrics if self._own else ()
        columns = task.columns([*(metrics or ()), *besides])
        self._columns = {name: column for name, column in columns.items() if name not in own}
        self.metrics: dict[str, Metric | None] = {name: known.get(name) for name in own}
        self.metrics |= {name: metric for name, (_, metric) in self._columns.items()}
        self._used = [*(task.own_metrics if self._own else ())]
        self._used += [metric for _, metric in self._columns.values()]
        self._needs = needs_of(self._used) & {"encoder", "extractor"}
        made: Any = kept("extractor", *self._extractor) if "extractor" in self._needs else extractor
        self._context = ScoreContext(encoder, made, tasks=tasks)

    @property
    def directions(self) -> dict[str, bool | None]:
        """Name of each score -> `Metric.lower_is_better`."""
        return {
            name: False if metric is None else metric.lower_is_better
            for name, metric in self.metrics.items()
        }

    def __call__(
        self,
        submitted: Answers,
        topic_id: str,
        seen: Set[str] | None = None,
        own: Mapping[str, float] | None = None,
    ) -> dict[str, float | None]:
        """Return name -> score of the answers to one topic; what has no labels is absent.

        A score is None where the labels, or a report, have nothing that the metric counts. `own`
        are the scores by the task's metrics, if the episode recorded them.
        """
        context = replace(self._context, topic_id=topic_id, seen=seen)
        scores: dict[str, float | None] = {}
        if self._own:
            if self.task.can_score(self._tasks, topic_id):
                scores |= dict.fromkeys(self.task.metrics)
            scores |= self.task.evaluate(submitted, context) if own is None else own
        for stage in self.task.stages:
            named = {n: m for n, (of, m) in self._columns.items() if of.name == stage.name}
            found = stage.score(submitted.get(stage.name), named.values(), context) if named else {}
            scores |= {n: found[m.name] for n, m in named.items() if m.name in found}
        return scores

    def summary(
        self,
        answers: Mapping[str, Answers],
        episodes: Mapping[str, dict[str, Any]] = MappingProxyType({}),
        *,
        stated: bool = False,
    ) -> dict[str, Any]:
        """Score the answers to topics, by id, and report what was reachable at all.

        `episodes` are the records of a run, by topic. If `stated`, the scores that they state are
        taken, or why one has none, to score nothing twice; and rows have what they spent.

        Returns:
            What ``metrics.json`` has of scores, from ``mean`` to ``floors``, see docs/runs.md.
        """
        per_topic: dict[str, dict[str, Any]] = {}
        scored, ceilings = [], []
        for topic_id in sorted(answers):
            gold, record = self._tasks.gold(topic_id), episodes.get(topic_id, {})
            own = record if stated else {}
            scores: dict[str, float | None] = {}
            failed, remark = own.get("failed"), ""
            try:
                if failed is None:
                    scores = self(answers[topic_id], topic_id, seen_of(record), own.get("metrics"))
                    remark = self._remark(answers[topic_id], topic_id) if scores else ""
            except Exception as error:
                failed = scoring_failure(error)
            if len(scores) == len(self.metrics):
                scored.append(scores)
                ceilings.append(self(self.task.ideal(self._tasks, topic_id), topic_id))
            per_topic[topic_id] = dict.fromkeys(self.metrics) | {
                **scores,
                **({} if failed is None else {"failed": failed}),
                **self._tasks.groups(topic_id),
                **({"remark": remark} if remark else {}),
                "gold": len(gold.gains),
                "references": gold.references,
                "references_total": gold.references_total,
                "submitted": {
                    stage.name: stage.answer.size(answers[topic_id][stage.name])
                    for stage in self.task.stages
                    if stage.name in answers[topic_id]
                },
            }
            if own:
                _add_spent(per_topic[topic_id], own)
        failed_topics = sum("failed" in row for row in per_topic.values())
        guessed = [each for each in per_topic if self._tasks.topic(each).date_guessed]
        scored_by = {name: sum(s[name] is not None for s in scored) for name in self.metrics}
        return {
            "unit": self._tasks.unit,
            "mean": self._means(scored),
            "ceiling": self._means(ceilings),
            "per_topic": per_topic,
            "counts": {
                "topics": len(per_topic),
                "scored": len(scored),
                "not_scored": len(per_topic) - len(scored) - failed_topics,
                **({"failed": failed_topics} if failed_topics else {}),
                "unknown": sum(
                    why == "unknown"
                    for topic_id in per_topic
                    for why in self._tasks.references(topic_id).values()
                ),
                **({"scored_by": scored_by} if min(scored_by.values()) < len(scored) else {}),
                **{
                    key: sum(entry[key] for entry in per_topic.values())
                    for key in ("gold", "references", "references_total")
                },
            },
            **({"headlines": [s.headlines[0].name for s in self.task.stages]} if self._own else {}),
            **({"dates_guessed": guessed} if guessed else {}),
            **({"papers": EXPERT_PAPERS} if self._tasks.expert else {}),
            **(self._floors(answers) if self._own else {}),
        }

    def _remark(self, submitted: Answers, topic_id: str) -> str:
        answers = ((each.answer, submitted.get(each.name)) for each in self.task.stages)
        said = (a.remark(of, self._tasks, topic_id) for a, of in answers if of is not None)
        return "; ".join(filter(None, said))

    def _floors(self, answers: Mapping[str, Answers]) -> dict[str, Any]:
        """Return ``{"floors": ...}`` of the first stage whose kind of answer has floors."""
        for stage in self.task.stages:
            of_stage = {topic: answers[topic].get(stage.name) for topic in sorted(answers)}
            names = [metric.name for metric in stage.metrics]
            if found := stage.answer.floors(of_stage, self._tasks, names, self._context.encoder):
                return {"floors": found}
        return {}

    def _means(self, scored: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
        """Return the mean of each metric over the topics that it scored, exactly rounded."""
        return {name: mean(scores[name] for scores in scored) for name in self.metrics}

    def encoder(self) -> dict[str, Any] | None:
        """Return what compares the headings; None where none is compared."""
        if not self._needs:
            return None
        extractor = self._extractor if "extractor" in self._needs else ()
        return identity(self._context.encoder, *extractor)

    def code_sha256(self) -> str:
        """Return the hash of the code that makes the scores."""
        plug_ins: list[Any] = [ENCODERS.get(self._context.encoder)] if self._needs else []
        plug_ins += [EXTRACTORS.get(self._extractor[0])] if "extractor" in self._needs else []
        plug_ins += [reader for kind in self.task.kinds for reader in kind.readers()]
        return code_sha256("arena.runs.scoring", *(each.score for each in self._used), *plug_ins)


def _add_spent(row: dict[str, Any], record: Mapping[str, Any]) -> None:
    row |= record["spent"] | {
        "return": math.fsum(step["reward"] for step in record["steps"]),
        "truncated": record["truncated"],
        "unseen": record.get("unseen"),
        **({"digests": record["digests"]} if "digests" in record else {}),
    }
    if defects := [step["defect"] for step in record["steps"] if "defect" in step]:
        said = f"{count(len(defects), 'action')} could not be read, by {defects[0]}"
        row["remark"] = "; ".join(filter(None, [row.get("remark"), said]))


def abstention(rows: Mapping[str, Mapping[str, Any]], stages: int) -> dict[str, Any]:
    """Return what was done on the topics of ``per_topic`` without gold, whose metrics are left out.

    ``topics`` is their number; ``abstained`` the share of their episodes in which each of the
    `stages` got an answer without papers, ``papers`` and ``searches`` the means of what was
    submitted all the same, and spent. A mean is None without topics or numbers.
    """
    empty = [row for row in rows.values() if not row["gold"]]
    sizes = [each for row in empty for each in row.get("submitted_each", [row["submitted"]])]
    return {
        "topics": len(empty),
        "abstained": mean(len(each) == stages and not any(each.values()) for each in sizes),
        "papers": mean(sum(each.values()) for each in sizes),
        "searches": mean(row.get("searches") for row in empty),
    }


def limits(
    run: OpenedRun, tasks: TaskSet, topics: Container[str], besides: Sequence[Metric] = ()
) -> dict[str, Any]:
    """Return ``ceiling`` and ``floors`` of a run over some of its topics, see `Scorer.summary`."""
    encoder = run.manifest["environment"].get("encoder") or ENCODER
    scorer = Scorer(run.task, tasks, besides=[*run.besides, *besides], encoder=encoder)
    records = [record for record in run.episodes() if record["topic_id"] in topics]
    summary, _ = merged(
        scorer, run.manifest | {"repeats": 1, "success": None}, records, stated=True
    )
    return {"ceiling": summary["ceiling"], "floors": summary.get("floors")}


def merged(
    scorer: Scorer, manifest: Mapping[str, Any], records: Sequence[dict[str, Any]], *, stated: bool
) -> tuple[dict[str, Any], list[dict[str, Answers]]]:
    """Return the summary of a run's episodes, see `Scorer.summary`, and the answers of each repeat.

    A topic that lacks a repeat is left out.
    """
    repeats, success = manifest.get("repeats", 1), manifest.get("success")
    times = Counter(record["topic_id"] for record in records)
    summaries, every = [], list[dict[str, Answers]]()
    for number in range(repeats):
        these = {
            r["topic_id"]: r
            for r in records
            if r.get("repeat", 0) == number and times[r["topic_id"]] == repeats
        }
        every.append({s: answers_of(record, scorer.task) for s, record in these.items()})
        summaries.append(scorer.summary(every[-1], these, stated=stated))
    bound = success and read_success(success, scorer.metrics)
    summary = merge(summaries, scorer.directions, bound)
    if manifest["environment"].get("empty_gold"):
        summary["empty_gold"] = abstention(summary["per_topic"], len(scorer.task.stages))
    if counts := count_answers(record["notes"] for record in records):
        summary["model"] = counts
    return summary, every


def checked_metrics(metrics: Sequence[str] | None, task: Task) -> list[Metric] | None:
    """Return the metrics that a user names, which a task can be scored by; None stays None."""
    if metrics is None:
        return None
    if not metrics or isinstance(metrics, str):
        raise DataError(f"metrics={clip(metrics)}: give a list of names such as 'recall@10'.")
    found = task.find_metrics(metrics)
    task.columns(found)
    return found


def rescore(
    run: str | Path,
    corpus: Corpus | str | Path,
    metrics: Sequence[str] | None = None,
    encoder: str | None = None,
    extractor: str = EXTRACTOR,
    tasks: str | Path | None = None,
    extractor_options: Mapping[str, Any] | None = None,
    *,
    plugins: Sequence[str | Path] = (),
) -> dict[str, Any]:
    """Score the recorded answers of a run; no environment, engine or agent is needed.

    Args:
        run: Directory of a run, finished or not; an incomplete last line is skipped.
        corpus: The corpus of the run, or its directory.
        metrics: Metrics, see `Scorer`; by default the task's own.
        encoder: Encoder by which headings are compared; by default that of the run.
        extractor: Extractor of the entities in headings, for metrics that count them.
        tasks: Directory of the task set that the run played, if any.
        extractor_options: Options of the extractor.
        plugins: Files of plug-ins to load first, see `arena.plugins`.

    Returns:
        What `arena.run` returns, except what an episode spent: ``mean``, ``ceiling``,
        ``per_topic`` and ``counts``; ``task``, ``agent``, ``encoder`` (None where no heading is
        compared; names the extractor too where entities are counted), ``remarks``, and ``sha256``
        of corpus, tasks, ``answers`` and code. In a task of several stages the metrics in
        `metrics` are called ``STAGE.METRIC``. ``model`` counts the answers of the agent's
        language model, see `arena.llm.outcomes`. Among the counts is ``not_visible``, the number of
        papers in rankings that are not visible.
    """
    load(plugins)
    recorded = OpenedRun(run)
    if encoder is None:
        encoder = str(recorded.manifest["environment"].get("encoder", ENCODER))
        recorded.check_name(ENCODERS, encoder)
    encoder, extractor = ENCODERS.resolve(encoder), EXTRACTORS.resolve(extractor)
    ENCODERS.get(encoder)
    check_options(f"extractor {extractor}", EXTRACTORS.get(extractor), extractor_options or {})
    names = checked_metrics(metrics, recorded.task)  # an unknown one is reported first
    corpus, task_set = recorded.open_corpus(corpus, tasks)
    if recorded.files is not None:
        recorded.refuse_changed(TRAJECTORIES)
    scorer = Scorer(recorded.task, task_set, names, encoder=encoder, extractor=extractor,
                    extractor_options=extractor_options)  # fmt: skip
    records = list(recorded.episodes(every=True))
    manifest = recorded.manifest if metrics is None else recorded.manifest | {"success": None}
    summary, every = merged(scorer, manifest, records, stated=False)
    summary["counts"]["not_visible"] = sum(
        not_visible(recorded.task, corpus, task_set, a) for a in every
    )
    return summary | {
        "task": recorded.task.name,
        "agent": recorded.manifest["agent"],
        "encoder": scorer.encoder(),
        "remarks": recorded.remarks(len(records)),
        "sha256": {
            "corpus": corpus.sha256,
            "tasks": task_set.sha256,
            "answers": sha256_json(
                [
                    [topic_id, [stage.name, stage.answer.to_json(answers[topic_id][stage.name])]]
                    for answers in every
                    for topic_id in sorted(answers)
                    for stage in recorded.task.stages
                    if stage.name in answers[topic_id]
                ]
            ),
            "code": scorer.code_sha256(),
        },
    }


def score(
    corpus: Corpus | str | Path,
    task: str,
    run_file: str | Path,
    topics: Sequence[str] | int | None = None,
    metrics: Sequence[str] | None = None,
    *,
    plugins: Sequence[str | Path] = (),
) -> dict[str, Any]:
    """Score a run file (``topic Q0 paper rank score tag``) on a task.

    Papers are ranked by score, ties by document order; the rank column is ignored, and so is what
    is ranked below the `depth` of the task's answers. A topic that the run leaves out scores as an
    empty ranking and counts in the mean. A paper that is not visible at the topic's cutoff keeps
    its rank and is not relevant.

    Args:
        corpus: A built corpus, or its directory.
        task: A registered task that is answered by a ranking, such as ``selection``.
        run_file: The run.
        topics: Ids of topics to score, or how many in order; by default those that a run by
            `run` over this corpus played, else all of the corpus.
        metrics: Names of metrics; by default those of the task.
        plugins: Files of plug-ins to load first, see `arena.plugins`.

    Returns:
        What `Scorer.summary` returns, with ``missing`` (scored topics that the run lacks) and
        ``not_visible`` (papers in the run that are not visible) among the counts, ``task``, and
        ``sha256`` of corpus, tasks, run and code.
    """
    load(plugins)
    corpus = Corpus.resolve(corpus)
    opened = open_task(task)
    if opened.parts or not opened.stages[0].answer.fits([]):
        raise DataError(
            f"the task {opened.name!r} is not answered by one ranking, so a TREC run cannot be "
            "scored on it. `arena rescore` scores the answers of a run."
        )
    chosen_metrics = checked_metrics(metrics, opened)  # an unknown one is reported first
    tasks, path = TaskSet(corpus), Path(run_file)
    run, played = _read(path, corpus)
    for topic_id in run:
        if topic_id not in tasks.topics:
            raise DataError(
                f"{str(path)!r} ranks papers for topic {clip(topic_id)}, which this corpus "
                f"does not have.{did_you_mean(topic_id, tasks.topics)}"
            )
    chosen = choose_topics(tasks, played if topics is None else topics)
    number = corpus.document_number
    depth = opened.stages[0].answer.depth
    rankings = {s: trec.order(run.get(s, []), number)[:depth] for s in chosen}
    stage = opened.stages[0].name
    answers = {topic_id: {stage: ranking} for topic_id, ranking in rankings.items()}
    scorer = Scorer(opened, tasks, chosen_metrics)
    summary = scorer.summary(answers)
    rows = summary["per_topic"]
    summary["counts"]["missing"] = sum(s not in run and None not in rows[s].values() for s in rows)
    summary["counts"]["not_visible"] = not_visible(opened, corpus, tasks, answers)
    return summary | {
        "task": opened.name,
        "sha256": {
            "corpus": corpus.sha256,
            "tasks": tasks.sha256,
            "run": sha256_json(rankings),  # as they were scored: the file may be a pipe
            "code": scorer.code_sha256(),
        },
    }


def not_visible(task: Task, corpus: Corpus, tasks: TaskSet, answers: Mapping[str, Answers]) -> int:
    """Return the number of papers in rankings that are not visible at their topic's cutoff."""
    total = 0
    names = [stage.name for stage in task.stages if stage.answer.fits([])]
    for topic_id, submitted in answers.items():
        view = corpus.at(tasks.topic(topic_id).date, exclude=[topic_id])
        rankings = [submitted[name] for name in names if name in submitted]
        total += sum(paper_id not in view for ranking in rankings for paper_id in ranking)
    return total


def _read(
    path: Path, corpus: Corpus
) -> tuple[dict[str, list[tuple[str, float]]], list[str] | None]:
    """Return the content of a run file and, if `run` wrote it, the topics played."""
    manifest = read_manifest_of(path.parent, RUN) or {"sha256": {}}
    if path.name != "run.trec" or manifest["sha256"].get("corpus") != corpus.sha256:
        return trec.read_run(path), None
    # If nothing was submitted it is empty; elsewhere an empty file is a mistake.
    return trec.read_run(path) if path.stat().st_size else {}, manifest["topics"]
