"""The result files of a run, written from its trajectories."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena import trec
from arena._internal.files import atomic_write, write_json
from arena.runs.scoring import Answers, Scorer
from arena.runs.trajectories import TRAJECTORIES, answers_of, read_episodes, seen_of
from arena.tasks import ENCODER, TaskSet, kinds_of_answers, ranking_of, stages_of

if TYPE_CHECKING:
    from arena.mindmap import MindMap

PICTURES = "pictures"
"""Folder of the pictures of mind-maps."""

REPORTS = "reports"
"""Folder of the submitted reports."""

_LONGEST = 120
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_DIGITS = 16
_HASHED = re.compile(rf"(?:.*-)?[0-9a-f]{{{_DIGITS}}}")  # what a name with a hash looks like


def write_results(
    output: Path, manifest: dict[str, Any], tasks: TaskSet
) -> tuple[dict[str, Any], list[str]]:
    """Write the answers and ``metrics.json``; return the metrics and the names of all files."""
    answers: dict[str, Answers] = {}
    costs, seen = {}, {}
    for record in sorted(read_episodes(output / TRAJECTORIES), key=itemgetter("survey")):
        answers[record["survey"]] = answers_of(record)
        seen[record["survey"]] = seen_of(record)
        costs[record["survey"]] = record["spent"] | {
            "return": math.fsum(step["reward"] for step in record["steps"]),
            "truncated": record["truncated"],
            **({"digests": record["digests"]} if "digests" in record else {}),
        }
    task = manifest["task"]
    scorer = Scorer(
        task,
        tasks,
        besides=manifest.get("metrics", {}).get("names", ()),
        encoder=manifest["environment"].get("encoder", ENCODER),
    )
    summary = scorer.summary(answers, seen)
    for survey_id, entry in costs.items():
        summary["per_survey"][survey_id] |= entry
    summary |= {key: manifest[key] for key in ("task", "agent", "retriever", "seed", "sha256")}
    names = [*_write_answers(output, task, manifest["agent"], answers, tasks)]
    names += _write_qrels(output, task, tasks, answers)
    write_json(output / "metrics.json", summary)
    return summary, [*names, "metrics.json", TRAJECTORIES]


def _write_answers(
    output: Path, task: str, tag: str, answers: dict[str, Answers], tasks: TaskSet
) -> list[str]:
    """Write the TREC run of each ranking and each report, the mind-maps and the reports."""
    stages = stages_of(task)
    names = []
    for stage, specification in stages:
        submitted = {s: of_survey[stage] for s, of_survey in answers.items() if stage in of_survey}
        if specification.answer != "mind_map":
            names.append("run.trec" if len(stages) == 1 else f"run.{stage}.trec")
            rankings = {survey_id: ranking_of(answer) for survey_id, answer in submitted.items()}
            trec.write_run(output / names[-1], rankings, tag)
        if specification.answer == "report":
            names.append("reports.jsonl")
            rows = [{"survey": s, "report": text} for s, text in submitted.items()]
            atomic_write(output / names[-1], "".join(json.dumps(row) + "\n" for row in rows))
            (output / REPORTS).mkdir(exist_ok=True)
            for survey_id, text in submitted.items():
                names.append(f"{REPORTS}/{file_name(survey_id)}.md")
                atomic_write(output / names[-1], text.encode())
        elif specification.answer == "mind_map":
            names.append("mind_maps.jsonl")
            rows = [{"survey": s, "mind_map": m.to_json()} for s, m in submitted.items()]
            atomic_write(output / names[-1], "".join(json.dumps(row) + "\n" for row in rows))
            gold = {survey_id: tasks.mind_map(survey_id) for survey_id in submitted}
            names += write_pictures(output, submitted, gold)
    return names


def _write_qrels(output: Path, task: str, tasks: TaskSet, answers: dict[str, Answers]) -> list[str]:
    if kinds_of_answers(task) == {"mind_map"}:
        return []
    qrels = {s: gains for s in answers if (gains := tasks.gold(s).gains)}
    if qrels:
        trec.write_qrels(output / "qrels.trec", qrels)
    else:  # no survey can be scored; the file exists all the same
        atomic_write(output / "qrels.trec", b"")
    return ["qrels.trec"]


def write_pictures(
    output: Path, submitted: Mapping[str, MindMap], gold: Mapping[str, MindMap | None]
) -> list[str]:
    """Write ``pictures/SURVEY.svg``: the submitted map, beside the survey's own if it has one.

    Args:
        output: Directory of the run.
        submitted: Survey id -> mind-map.
        gold: Survey id -> the survey's own mind-map, None where it has none.

    Returns:
        The names of the files, relative to `output`.
    """
    from arena.mindmap import beside, render

    names = []
    for survey_id, tree in submitted.items():
        names.append(f"{PICTURES}/{file_name(survey_id)}.svg")
        own = gold[survey_id]
        if own is None:
            picture = render(tree, "svg")
        else:
            picture = beside(tree, own, captions=("submitted", "the survey's own"))
        (output / PICTURES).mkdir(exist_ok=True)
        atomic_write(output / names[-1], picture)
    return names


def file_name(survey_id: str) -> str:
    """Return a name that every file system takes, a different one for every survey.

    >>> file_name("2101.01507")
    '2101.01507'
    >>> file_name("../doi:10.1/x")
    'doi-10.1-x-482f66e24c040c43'
    """
    name = _UNSAFE.sub("-", survey_id).strip(".-")[:_LONGEST]
    # A name with capitals gets a hash, since some file systems take A.svg and a.svg for one file;
    # so does an id that looks like a name with a hash.
    if name == survey_id and name == name.lower() and not _HASHED.fullmatch(name):
        return name
    digest = hashlib.sha256(survey_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{name}-{digest}" if name else digest
