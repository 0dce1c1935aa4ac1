"""Systems without a run: files of answers, scored on the task and the topics of a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from arena.answers import file_name
from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import sha256_json
from arena.kit.workdir import read_manifest_of
from arena.metrics import ENCODER
from arena.results.comparison.opening import ComparedRun, Effort, PlayedEpisode, has_reader
from arena.runs.directory import RUN
from arena.runs.repeats import is_of_repeats
from arena.runs.scoring import Scorer, not_visible
from arena.text.display import count

_NONE = Effort(0, None, None, None, None, None, None)


def is_rival(place: str | Path) -> bool:
    """Return whether a place has answers of another system, and no run or experiment."""
    path = Path(place)
    if has_reader(place):
        return False
    if os.path.isfile(place):  # noqa: PTH113 - `Path.is_file` raises for a name that is too long
        return True
    ours = (path / "experiment.json").is_file() or read_manifest_of(path, RUN) is not None
    return any(path.glob("*.md")) and not ours


def read_rival(name: str, place: str | Path, beside: ComparedRun, corpus: Corpus) -> ComparedRun:
    """Score a file of answers as the run `beside` it, by its metrics.

    A topic without an answer scores as an empty one; other topics are left out.

    Raises:
        DataError: The task has several stages, or no topic of the file is one of the run's topics.
    """
    path, (run, task) = Path(place), (beside.opened, beside.task)
    assert run is not None and task is not None
    if len(task.stages) > 1:
        raise DataError(
            f"{str(path)!r}: the task {task.name} has several stages, a file one answer."
        )
    (stage,) = task.stages
    topics, tasks = beside.metrics["per_topic"], run.open_corpus(corpus)[1]
    known = {tasks.topic(topic).text: topic for topic in topics}
    known |= {file_name(topic): topic for topic in topics} | {s: s for s in topics}
    found = stage.answer.read_file(path, corpus.document_number)
    made = {known[topic]: answer for topic, answer in found.items() if topic in known}
    if not made:
        raise DataError(
            f"{str(path)!r} answers none of the {count(len(topics), tasks.unit)} of the runs; it "
            f"has {', '.join([*found][:3]) or 'no topic'}."
        )
    read = {topic: answer for topic, answer in made.items() if answer is not None}
    answers = {s: {stage.name: read[s]} if s in read else {} for s in topics}
    columns = [n for n in beside.metrics["mean"] if n not in task.metrics and not is_of_repeats(n)]
    encoder = run.manifest["environment"].get("encoder") or ENCODER
    scorer = Scorer(task, tasks, besides=task.find_metrics(columns), encoder=encoder)
    shown = {s: {n: stage.answer.to_json(a) for n, a in of.items()} for s, of in answers.items()}
    manifest: dict[str, Any] = dict(beside.manifest) | {
        "agent": path.name, "agent_options": {}, "seed": "", "arena": "",
        "environment": {"retriever": ""},
        "sha256": {k: beside.manifest["sha256"].get(k) for k in ("corpus", "tasks")}
        | {"answers": sha256_json(shown)},
    }  # fmt: skip
    episodes = {s: PlayedEpisode((0.0,), shown[s], _NONE) for s in topics}
    counts = {
        "that no run played, left out": len(found) - len(made),
        "that cannot be read, scored as nothing submitted": len(made) - len(read),
    }
    remarks = [f"{name}: {count(n, tasks.unit)} {what}." for what, n in counts.items() if n]
    if unseen := not_visible(task, corpus, tasks, answers):
        papers = count(unseen, "ranked paper is", "ranked papers are")
        remarks.append(f"{name}: {papers} not visible at the {tasks.unit}'s cutoff.")
    return ComparedRun(
        name, manifest, scorer.summary(answers), episodes, _NONE, "it is a file of answers", path,
        task, remarks=tuple(remarks),
    )  # fmt: skip
