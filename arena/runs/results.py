"""The result files of a run, made from its trajectories."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from arena import trec
from arena._internal.files import atomic_write, write_json
from arena.errors import DataError, clip
from arena.mindmap import read_mind_map
from arena.runs.pictures import write_pictures
from arena.runs.summary import Answers, summarize
from arena.runs.trajectories import TRAJECTORIES, read_episodes
from arena.tasks import ENCODER, TASKS, TaskSet, evaluate_answers, stages_of


def write_results(
    output: Path, manifest: dict[str, Any], tasks: TaskSet
) -> tuple[dict[str, Any], list[str]]:
    """Write what was handed in and ``metrics.json``; return that and the names of all files."""
    answers: dict[str, Answers] = {}
    told = {}
    for record in read_episodes(output / TRAJECTORIES):
        answers[record["survey"]] = answers_of(record)
        told[record["survey"]] = record["spent"] | {
            "return": math.fsum(step["reward"] for step in record["steps"]),
            "truncated": record["truncated"],
        }
    task = manifest["task"]
    encoder = manifest["environment"].get("encoder", ENCODER)
    summary = summarize(
        task,
        TASKS.get(task).metrics,
        tasks,
        answers,
        lambda found, survey_id: evaluate_answers(task, found, tasks, survey_id, encoder),
    )
    for survey_id, entry in told.items():
        summary["per_survey"][survey_id] |= entry
    summary |= {key: manifest[key] for key in ("task", "agent", "retriever", "seed", "sha256")}
    names = [*_write_answers(output, task, manifest["agent"], answers, tasks)]
    names += _write_qrels(output, task, tasks, answers)
    write_json(output / "metrics.json", summary)
    return summary, [*names, "metrics.json", TRAJECTORIES]


def answers_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return what an episode handed in: stage -> a ranking or a `MindMap`.

    Raises:
        DataError: if an answer is none that the task takes.
    """
    wanted = {stage: specification.answer for stage, specification in stages_of(record["task"])}
    for stage, answer in record["answers"].items():
        if wanted.get(stage) != ("ranking" if isinstance(answer, list) else "mind_map"):
            raise DataError(
                f"survey {record['survey']!r}: the answer to {clip(stage)} is none that the task "
                f"{record['task']!r} takes. Run it again."
            )
    try:
        return {
            stage: answer if isinstance(answer, list) else read_mind_map(answer)[0]
            for stage, answer in record["answers"].items()
        }
    except DataError as error:
        raise DataError(f"survey {record['survey']!r}: {error}") from None


def _write_answers(
    output: Path, task: str, tag: str, answers: dict[str, Answers], tasks: TaskSet
) -> list[str]:
    """Write a TREC run for each stage that wants a ranking, and the mind-maps with pictures."""
    stages = stages_of(task)
    names = []
    for stage, specification in stages:
        handed_in = {s: found[stage] for s, found in answers.items() if stage in found}
        if specification.answer == "ranking":
            names.append("run.trec" if len(stages) == 1 else f"run.{stage}.trec")
            trec.write_run(output / names[-1], handed_in, tag)
        else:
            names.append("mind_maps.jsonl")
            rows = [{"survey": s, "mind_map": m.to_json()} for s, m in handed_in.items()]
            atomic_write(output / names[-1], "".join(json.dumps(row) + "\n" for row in rows))
            gold = {survey_id: tasks.mind_map(survey_id) for survey_id in handed_in}
            names += write_pictures(output, handed_in, gold)
    return names


def _write_qrels(output: Path, task: str, tasks: TaskSet, answers: dict[str, Answers]) -> list[str]:
    if all(specification.answer != "ranking" for _, specification in stages_of(task)):
        return []
    qrels = {s: gains for s in answers if (gains := tasks.gold(s).gains)}
    if qrels:
        trec.write_qrels(output / "qrels.trec", qrels)
    else:  # no survey can be scored; the file is there all the same
        atomic_write(output / "qrels.trec", b"")
    return ["qrels.trec"]
