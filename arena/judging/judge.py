"""Let a language model score texts on a rubric; an answer that cannot be read counts as missing."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_json
from arena.errors import DataError
from arena.judging.rubric import RUBRICS, Rubric
from arena.llm import Client, Failed, Session, ask_many


@dataclass(frozen=True)
class Judgements:
    """Scores by a judge.

    Attributes:
        rubric: Name of the rubric.
        dimensions: Their names, in the rubric's order.
        scale: Lowest and highest score.
        mean: Mean score of each dimension and their ``average``, over the items that have scores;
            None without any.
        counts: ``items``; of these ``judged`` by the model, ``empty`` (nothing to judge, lowest
            scores without a request) and ``missing`` (no readable answer, no scores).
        items: Id -> ``scores`` and ``reasons`` by dimension; or ``scores`` and ``empty``; or
            ``failed``, why the judgement is missing.
        judge: Fields of every request, the model's name among them; ``prompt_sha256``; ``total`` of
            calls, tokens and dollars.
        sha256: Hashes of the corpus, the task set and the run that were judged, and of the code.
    """

    rubric: str
    dimensions: Sequence[str]
    scale: tuple[int, int]
    mean: Mapping[str, float | None]
    counts: Mapping[str, int]
    items: Mapping[str, dict[str, Any]]
    judge: Mapping[str, Any] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain dicts and lists under the names of the attributes."""
        return asdict(self)


def read_judgements(path: str | Path) -> Judgements:
    """Return the judgements in a JSON file of `Judgements.to_json`.

    Raises:
        DataError: The file holds something else.
    """
    try:
        return Judgements(**json.loads(Path(path).read_bytes()))
    except (ValueError, TypeError):
        problem = "holds no judgements. Name a file that `arena judge run` wrote."
        raise DataError(f"{str(path)!r} {problem}") from None


def judge(
    rubric: Rubric | str,
    items: Mapping[str, Mapping[str, str] | None],
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model score items on a rubric.

    A readable answer has a whole score in range for every dimension. After any other answer the
    model is asked once more; if that fails too, or the server refuses the request, the item counts
    as missing. Answers are kept in the store of `client`, so the same call continues after a break.

    Args:
        rubric: A rubric, or the name of a registered one.
        items: Id -> text of each field of the rubric; None where there is nothing to judge, which
            earns the lowest score.
        client: The model; its temperature is 0 by default.
        prompt: File with a template that replaces the rubric's.

    Raises:
        UnknownNameError: There is no such rubric.
        DataError: The template cannot be used, or an item lacks a field.
        LLMError: The model could not be asked.
    """
    rubric = RUBRICS.get(rubric) if isinstance(rubric, str) else rubric
    template, session = rubric.template(prompt), Session(client)
    asked = {name: values for name, values in items.items() if values is not None}
    requests = [template.messages(**values) for values in asked.values()]
    answers = dict(zip(asked, ask_many(session, requests, rubric.read), strict=True))
    rows: dict[str, dict[str, Any]] = {}
    for name in items:
        answer = answers.get(name)
        if answer is None:
            lowest = dict.fromkeys(rubric.dimensions, rubric.scale[0])
            rows[name] = {"scores": lowest, "empty": True}
        elif isinstance(answer, Failed):
            rows[name] = {"failed": answer.reason}
        else:
            scores, reasons = ({d: pair[i] for d, pair in answer.items()} for i in (0, 1))
            rows[name] = {"scores": scores, "reasons": reasons}
    scored = [row["scores"] for row in rows.values() if "scores" in row]
    columns = {name: [scores[name] for scores in scored] for name in rubric.dimensions}
    columns["average"] = [score for scores in scored for score in scores.values()]
    empty = len(rows) - len(asked)
    counts = {"items": len(rows), "judged": len(scored) - empty, "empty": empty}
    counts["missing"] = len(rows) - len(scored)
    made_by = client.fields | {"prompt_sha256": sha256_json(template.text)}
    made_by["total"] = session.meter.totals()
    mean = {name: statistics.fmean(column) if column else None for name, column in columns.items()}
    return Judgements(rubric.name, rubric.dimensions, rubric.scale, mean, counts, rows, made_by)
