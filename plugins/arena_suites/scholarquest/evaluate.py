"""ScholarQuest's scores of rankings, by the rules of its leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip
from arena.kit.code import code_sha256
from arena.kit.files import check_target, sha256_file, write_json
from arena.metrics import evaluate, mean
from arena.suites import Evaluation, OutputPath, chosen, json_lines, suite
from arena.text.identifiers import arxiv_key
from arena_suites.published import published
from corpus_builder.sources.published import check_record

INTENTS = ("method", "setting", "scope", "comparison")
_SCORES = {
    "r25": "recall@25", "r100": "recall@100", "rall": "recall", "ndcg50": "ndcg@50",
    "p50": "precision_returned@50", "r50": "recall@50",
}  # fmt: skip
NAMES = (*_SCORES, "tokens", "calls")
_KEYS = {"id": str, "intent": str, "gold": list}
_SPENT: dict[str, Any] = {"tokens": int | float | None, "calls": int | float | None}
_MOST = 10**15  # tokens or calls

BIBTEX = """\
@misc{scholarquest2026,
  title = {{ScholarQuest}: A Taxonomy-Guided Benchmark for Agentic Academic Paper Search in
           Open Literature Environments},
  author = {Pan, Tingyue and Cheng, Mingyue and Wang, Daoyu and Zhou, Yitong and Ouyang, Jie and
            Liu, Qi and Chen, Enhong},
  year = {2026},
  eprint = {2606.20235}, archivePrefix = {arXiv},
  url = {https://arxiv.org/abs/2606.20235}
}
"""


@suite("scholarquest", bibtex=BIBTEX)
def score_rankings(
    *, data: str, results: OutputPath, only: tuple[str, ...] | None = None, entry: str | None = None
) -> Evaluation:
    """Score rankings by ScholarQuest's rules, never tried on its files, which are not public.

    Ids are those of arXiv in any spelling, without version; of one that is listed twice the first
    counts. A question that failed, or without a line, is left out of the means, as on the
    leaderboard; each system has its own questions, so look at their number.

    Args:
        data (FILE): JSON lines of ``id``, ``intent`` (method, setting, scope or comparison) and
            ``gold``, arXiv ids.
        results (FILE): JSON lines of ``id`` and ``ranking``, arXiv ids, best first; with ``tokens``
            of the planner, ``calls``, and ``failed`` where they are known.
        only (IDS): Questions to score (default: all).
        entry (FILE): Write a system's and a model's object of the leaderboard's results.json, too.

    Example:
        arena evaluate scholarquest --data questions.jsonl --results results.jsonl
    """
    if entry is not None:
        check_target(entry)
    every = {}
    for number, text, record in json_lines(data):
        row = check_record(record or text, f"{Path(data).name} line {number}", _KEYS, "a question")
        if row["intent"] not in INTENTS or not row["gold"] or not _are_texts(row["gold"]):
            raise DataError(
                f"{Path(data).name} line {number}: 'intent' is {clip(row['intent'])} and 'gold' "
                f"{clip(row['gold'])}: expected {', '.join(INTENTS)}, and at least one id."
            )
        if row["id"] in every:
            raise DataError(f"{Path(data).name} line {number}: a second {clip(row['id'])}.")
        every[row["id"]] = row
    made, problems = dict[str, dict[str, Any]](), []
    for number, _, record in json_lines(results):
        name = str((record or {}).get("id"))
        if record is None or name not in every or name in made:
            problems.append(f"line {number}: no question has this id, or it has a line before.")
        else:
            where = f"{Path(results).name} line {number}"
            made[name] = check_record(record, where, _SPENT, "a result")
            ids, spent = record.get("ranking"), [record.get(key) or 0 for key in _SPENT]
            if isinstance(ids, list) and not _are_texts(ids):
                raise DataError(f"{where}: 'ranking' is {clip(ids)}: expected ids, texts.")
            if not all(0 <= number <= _MOST for number in spent):
                raise DataError(f"{where}: {', '.join(_SPENT)} are {clip(spent)}: expected counts.")
    rows, failed = dict[str, dict[str, Any]](), set[str]()
    questions = chosen(every, only)
    for name, question in questions.items():
        record = made.get(name, {"failed": "no line"})
        if record.get("failed") or not isinstance(record.get("ranking"), list):
            rows[name] = dict.fromkeys(NAMES) | {
                "reason": str(record.get("failed") or "no ranking")
            }
            failed.add(name)
            continue
        scores = score(record["ranking"], question["gold"])
        rows[name] = scores | {key: record.get(key) for key in ("tokens", "calls")}
    means = {name: mean(row[name] for row in rows.values()) for name in NAMES}
    settings = {
        "data": sha256_file(data), "results": sha256_file(results),
        "code": code_sha256("arena_suites.scholarquest"),
    }  # fmt: skip
    if failed:
        problems.append(f"{len(failed)} of {len(rows)} questions failed and count nowhere.")
    found = Evaluation(
        means, rows, [name for name in rows if name not in made], problems, settings,
        lower_is_better={"tokens": True, "calls": True}, left_out=failed,
        groups={name: question["intent"] for name, question in questions.items()},
        published=[*published("scholarquest")],
    )  # fmt: skip
    if entry is not None:
        write_json(entry, as_entry(found, Path(results).stem))
    return found


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def score(ranking: Sequence[str], gold: Sequence[str]) -> dict[str, float | None]:
    """Return the scores of one ranking.

    Recall at 25, 50, 100 and of all that was returned; nDCG@50 with gains of 1; precision over the
    first 50, or over all that was returned.

    >>> score(["a", "a", "x"], ["a", "b"])["p50"], score(["a", "x"], ["a", "b"])["rall"]
    (0.5, 0.5)
    """
    wanted, found = ([arxiv_key(paper) or paper for paper in papers] for papers in (gold, ranking))
    gains = dict.fromkeys(wanted, 1)
    scores = evaluate([*dict.fromkeys(found)], gains, _SCORES.values())
    return dict(zip(_SCORES, scores.values(), strict=True))


def as_entry(found: Evaluation, name: str) -> dict[str, Any]:
    """Return the objects that the leaderboard's results.json has of a system and of a model."""
    left_out = [topic for topic in found.topics if topic in found.left_out]
    valid = [topic for topic in found.topics if topic not in found.left_out]
    means = {group: row["mean"] | {"valid": row["topics"]}
             for group, row in found.group_means().items() if row["topics"]}  # fmt: skip
    means["overall"] = {**found.mean, "valid": len(valid)}
    of_system, of_model = (
        {side: {key: row[key] for key in keys} for side, row in means.items()}
        for keys in (("r25", "r100", "rall"), ("rall", "valid", "tokens", "ndcg50", "p50", "r50"))
    )
    excluded = [{"query_id": each, "reason": found.topics[each]["reason"]} for each in left_out]
    about = {"id": name, "name": name, "kind": "agent"}
    return {
        "system": {**about, "environment": "local", "runs": None, "scores": of_system},
        "model": {
            **about, "valid": len(valid), "tokens": found.mean["tokens"], "r50": found.mean["r50"],
            "scores": of_model, "behavior": {"calls": found.mean["calls"]},
            "evaluation_queries": {"valid_ids": valid, "excluded": excluded},
        },
    }  # fmt: skip
