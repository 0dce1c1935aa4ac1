"""AutoResearchBench's scores: IoU of wide questions, the first candidate of deep ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import comb, fsum
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip
from arena.kit.code import code_sha256
from arena.kit.files import sha256_file, sha256_json
from arena.metrics import evaluate, mean
from arena.suites import Evaluation, OutputPath, chosen, json_lines, suite
from arena.text.identifiers import normal_title
from arena_suites.autoresearchbench.questions import NOBODY, check_question, refuse_bundle
from arena_suites.published import published
from corpus_builder.sources.published import check_record

PASSES = (1, 2, 4, 8, 16)
_WIDE = ("iou", "recall", "precision", *(f"max_iou@{k}" for k in PASSES))
_DEEP = ("accuracy", *(f"pass@{k}" for k in PASSES))
_LINE = {"input_data": dict, "inference_results": list}
_ID = re.compile(r"\d{4}\.\d{4,5}")

BIBTEX = """\
@misc{autoresearchbench2026,
  title = {{AutoResearchBench}: Benchmarking {AI} Agents on Complex Scientific Literature
           Discovery},
  author = {Xiong, Lei and Luo, Kun and Xia, Ziyi and Zhang, Wenbo and Yao, Jin-Ge and
            Liu, Zheng and Shao, Jingying and Chen, Jianlyu and Qian, Hongjin and Yang, Xi and
            Yu, Qian and Li, Hao and Yue, Chen and Du, Xiaan and Wang, Yuyang and Liu, Yesheng and
            Xu, Haiyu and Dou, Zhicheng},
  year = {2026},
  eprint = {2604.25256}, archivePrefix = {arXiv},
  url = {https://arxiv.org/abs/2604.25256}
}
"""


@suite("autoresearchbench", bibtex=BIBTEX)
def score_candidates(*, results: OutputPath, only: tuple[str, ...] | None = None) -> Evaluation:
    """Score AutoResearchBench's lines of inference, never tried on its published files.

    Scores are means over the passes of a question. Of a deep question the first candidate counts,
    by its arXiv id or title: the released code has a model compare titles. A question that nothing
    answers has 1 where the agent said so (state ``none``; without any gold also ``empty``), and any
    other has 0 then. One without a pass has 0, and nothing @k. Systems are compared by question.

    Args:
        results (FILE): JSON lines of ``input_data``, a question, and ``inference_results``, each
            with ``final_candidates`` and ``final_candidate_state``.
        only (IDS): Questions to score, by the ids that ``--json`` prints: the hash of the text,
            since the lines of two systems may be in any order (default: all).

    Example:
        arena evaluate autoresearchbench --results inference.jsonl
    """
    rows, groups = dict[str, dict[str, Any]](), dict[str, str]()
    every = dict[str, tuple[int, dict[str, Any], list[Any]]]()
    refuse_bundle(Path(results))
    for n, text, row in json_lines(results):
        where = f"{Path(results).name} line {n}"
        line = check_record(row or text, where, _LINE, "a line of inference")
        question = check_question(line["input_data"], f"{where}: input_data")
        if (
            not question["arxiv_id"]
            and question["type"] == "wide"
            and question["answer"] not in ([], NOBODY)
        ):
            raise DataError(f"{where}: 'arxiv_id' has no id, by which a wide question is scored.")
        passes = [check_record(p, where, {}, "a pass") for p in line["inference_results"]]
        if (name := sha256_json(question["question"])[:12]) in every:
            raise DataError(f"{where}: a second line of {clip(question['question'])}.")
        every[name] = n, question, passes
    for name, (n, question, passes) in chosen(every, only).items():
        wide = question["type"] == "wide"
        names = _WIDE if wide else _DEEP
        scores = [_score(each, question) for each in passes]
        rows[name] = dict.fromkeys((*_WIDE, *_DEEP)) | {"line": n}
        if not scores:
            rows[name] |= dict.fromkeys(names[: -len(PASSES)], 0.0) | {"reason": "no pass"}
        for i, score in enumerate(zip(*scores, strict=True)):
            rows[name][names[i]] = mean(score)
        best = [score[0] or 0.0 for score in scores]
        rows[name] |= {
            f"{'max_iou' if wide else 'pass'}@{k}": expected_best(best, k)
            for k in PASSES if k <= len(best)
        }  # fmt: skip
        groups[name] = question["type"]
    means = {name: mean(row[name] for row in rows.values()) for name in (*_WIDE, *_DEEP)}
    code = code_sha256("arena_suites.autoresearchbench")
    settings = {"results": sha256_file(results), "code": code}
    return Evaluation(
        means, rows, [], [], settings, groups=groups, published=[*published("autoresearchbench")]
    )


def expected_best(values: Sequence[float], k: int) -> float:
    """Return the expected maximum of k values drawn without replacement, exactly.

    The released code takes the mean of 1,000 draws without a seed.

    >>> expected_best([0.0, 0.0, 0.6], 2)  # 0.6 is in two of the three pairs
    0.4
    """
    ways = ((comb(i, k) - comb(i - 1, k)) for i in range(1, len(values) + 1))
    total = fsum(n * value for n, value in zip(ways, sorted(values), strict=True))
    return round(total / comb(len(values), k), 12)


def _score(result: Mapping[str, Any], question: Mapping[str, Any]) -> list[float | None]:
    """Return IoU, recall and precision of a pass about a wide question; accuracy of a deep one."""
    wide, state, answer = (
        question["type"] == "wide",
        result.get("final_candidate_state"),
        question["answer"],
    )
    said_nobody = state == "none" or (state == "empty" and answer != NOBODY)
    if said_nobody or answer in ([], NOBODY):
        return [float(said_nobody and answer in ([], NOBODY))] * (3 if wide else 1)
    candidates, gold = _candidates(result), _ids(question["arxiv_id"])
    if wide:
        made = [*_ids(each.get("arxiv_id") for each in candidates)]
        names = ("iou", "recall", "precision_returned")
        return [*evaluate(made, dict.fromkeys(gold, 1), names).values()]
    first = next(iter(candidates), {})
    about = first.get("metadata")
    title = first.get("paper_title") or (about.get("title") if isinstance(about, Mapping) else "")
    titles = {normal_title(each) for each in answer} - {""}
    same_id = bool(gold & _ids([first.get("arxiv_id")]))
    return [float(same_id or normal_title(str(title or "")) in titles)]


def _candidates(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = result.get("final_candidates")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _ids(texts: Iterable[Any]) -> set[str]:
    """Return arXiv ids without version; old ones stay as they are."""
    known = [str(text) for text in texts if text]
    return {match[0] if (match := _ID.search(text)) else text for text in known}
