"""The scores of a finished run, and what it searched with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_json
from arena.corpus import Corpus, indexes
from arena.errors import DataError
from arena.mindmap import needs
from arena.mindmap.extractors import make_extractor
from arena.results.comparison.episodes import use_of
from arena.results.experiments.config import Experiment
from arena.results.experiments.grid import Cell
from arena.retrieval import parse_name
from arena.runs import rescore
from arena.runs.directory import OpenedRun
from arena.runs.rescoring import is_of_mind_maps
from arena.runs.results import answers_of
from arena.tasks import stages_of

_LLM = ("calls", "prompt_tokens", "completion_tokens", "dollars")
_HASHES = ("corpus", "tasks", "index", "retrievers", "prompts", "code", "environment")


def score_cell(
    experiment: Experiment, cell: Cell, output: Path, corpus: Corpus, metrics: Sequence[str]
) -> dict[str, Any]:
    """Score a run by the metrics of the tables.

    Args:
        experiment: Names the encoder and the extractor.
        cell: A finished run.
        output: Directory of the experiment.
        corpus: The corpus that it was played on.
        metrics: Names as `arena.rescore` reports them.

    Returns:
        ``mean`` (metric -> value, or None), ``ceiling`` likewise, ``counts`` as in `rescore`,
        ``sha256`` of what the run was made from and of its ``answers``, ``spent`` (sums over
        episodes), ``truncated`` and ``nothing`` (episodes that the budget ended, and that
        submitted nothing at some stage), and, of an agent with a model, ``llm``: calls, tokens,
        dollars (None where unknown), ``failed`` steps and the number of episodes that were
        ``stopped``.
    """
    run = output / cell.directory
    stages = {name: name.partition(".")[2] if "." in name else name for name in metrics}
    scores = rescore(
        run, corpus, list(dict.fromkeys(stages.values())), experiment.encoder, experiment.extractor
    )
    opened = OpenedRun(run)
    hashes = opened.manifest["sha256"]
    return {
        "mean": {name: scores["mean"][name] for name in metrics},
        "ceiling": {name: scores["ceiling"][name] for name in metrics},
        "counts": scores["counts"],
        "sha256": {key: hashes[key] for key in _HASHES if key in hashes}
        | {"answers": scores["sha256"]["answers"], "manifest": sha256_json(opened.manifest)},
        **_effort(opened),
    }


def possible(metrics: Iterable[str], extractor: str) -> list[str]:
    """Return the metrics that can be scored here.

    A metric that finds entities needs packages that not everybody has installed.
    """
    kept = []
    for name in metrics:
        base = name.rpartition(".")[2]
        if is_of_mind_maps(base) and "extractor" in needs(base):
            try:
                make_extractor(extractor, {})
            except DataError:
                continue
        kept.append(name)
    return kept


def _effort(run: OpenedRun) -> dict[str, Any]:
    spent: dict[str, int] = {}
    llm: dict[str, Any] = dict.fromkeys(_LLM, 0) | {"failed": 0, "stopped": 0}
    truncated, nothing, asked = 0, 0, False
    stages = stages_of(run.task)
    for record in run.episodes():
        answers = answers_of(record)
        nothing += any(_is_empty(answers.get(stage)) for stage, _ in stages)
        for name, value in record["spent"].items():
            spent[name] = spent.get(name, 0) + value
        truncated += record["truncated"]
        use, notes = use_of(record["notes"]), record["notes"].get("llm")
        if use is None:
            continue
        asked = True
        for name in _LLM:
            value = getattr(use, name)
            llm[name] = None if value is None or llm[name] is None else llm[name] + value
        llm["failed"] += use.failed or 0
        llm["stopped"] += notes.get("stopped") is not None
    effort = {"spent": spent, "truncated": truncated, "nothing": nothing}
    return effort | ({"llm": llm} if asked else {})


def _is_empty(answer: Any) -> bool:
    """Return whether this ranking has no paper, or this mind-map no heading below its root."""
    return not answer if answer is None or isinstance(answer, list) else not answer.size


def described(corpus: Corpus, retriever: str) -> str:
    """Return a description of a retriever: its index, or its parts, with their encoders."""
    name = parse_name(retriever)

    def leaves(part: Any) -> list[str]:
        return [part.name] if not part.parts else [leaf for p in part.parts for leaf in leaves(p)]

    descriptions = indexes.describe_indexes(corpus.directory, leaves(name))
    if not name.parts:
        return descriptions[name.name]
    return f"{name} of {'; '.join(descriptions.values())}"
