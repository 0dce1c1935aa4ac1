"""SAGE's scores of texts: exact match of short answers, weighted recall of open ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from arena.errors import clip
from arena.kit.code import code_sha256
from arena.kit.files import sha256_file
from arena.metrics import METRICS, mean
from arena.suites import Evaluation, OutputPath, chosen, folder_sha256, json_lines, suite
from arena_suites.published import published
from arena_suites.sage.questions import FOLDERS, read_kind
from corpus_builder.sources.published import check_record

_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_KEYS = {"id": str, "answer": str}

BIBTEX = """\
@misc{sage2026,
  title = {{SAGE}: Benchmarking and Improving Retrieval for Deep Research Agents},
  author = {Hu, Tiansheng and Zhao, Yilun and Zhang, Canyu and Cohan, Arman and Zhao, Chen},
  year = {2026},
  eprint = {2602.05975}, archivePrefix = {arXiv},
  url = {https://arxiv.org/abs/2602.05975}
}
"""


@suite("sage", bibtex=BIBTEX)
def score_answers(
    *, data: str, answers: OutputPath, only: tuple[str, ...] | None = None
) -> Evaluation:
    """Score texts that answer SAGE's questions, never tried on its published files.

    Title and text are compared in lower case, all but letters a to z and digits as one blank;
    thoughts in <think> do not count. A question without an answer scores 0, and one with a title
    in another script has no score.

    Args:
        data (DIR): Folder with Sage_Short_Form_Questions and Sage_Open_Ended_Questions.
        answers (FILE): JSON lines of ``id`` (as sage:short:healthcare:0) and ``answer``.
        only (IDS): Questions to score (default: those of each kind that is answered).

    Example:
        arena evaluate sage --data sage --answers answers.jsonl
    """
    made, problems = dict[str, str](), []
    for number, text, row in json_lines(answers):
        given = check_record(row or text, f"{Path(answers).name} line {number}", _KEYS, "an answer")
        if given["id"] in made:
            problems.append(f"line {number}: a second answer to {clip(given['id'])}.")
        made.setdefault(given["id"], given["answer"])
    kinds = [k for k in FOLDERS if any(f":{k}:" in name for name in made)] or ["short"]
    every = {row.id: row for kind in kinds for row in read_kind(Path(data), kind)}
    problems += [f"no question has the id {name!r}." for name in made if name not in every]
    rows, groups = dict[str, dict[str, Any]](), dict[str, str]()
    for name, question in chosen(every, only).items():
        text, titles = plain(made.get(name, "")), [plain(paper.title) for paper in question.gold]
        gains = {str(place): 1 + (place in question.best) for place in range(len(titles))}
        found = [place for place, title in zip(gains, titles, strict=True) if title in text]
        recall, short = METRICS.get("weighted_recall")(found, gains), ":short:" in name
        rows[name] = {
            "exact_match": recall if short else None,
            "weighted_recall": None if short else recall,
        }
        if not all(titles):  # in another script, of which no letter is compared
            rows[name] = dict.fromkeys(rows[name]) | {"unread": "a title has no letter from a to z"}
        elif name not in made:
            rows[name]["reason"] = "no answer"
        groups[name] = question.labels["domain"]
    names = ("exact_match", "weighted_recall")
    means = {name: mean(row[name] for row in rows.values()) for name in names}
    settings = {
        "data": [folder_sha256(Path(data, FOLDERS[kind])) for kind in kinds],
        "answers": sha256_file(answers),
        "code": code_sha256("arena_suites.sage"),
    }
    missing = [name for name in rows if name not in made]
    return Evaluation(
        means, rows, missing, problems, settings, groups=groups, published=[*published("sage")]
    )


def plain(text: str) -> str:
    """Return letters a to z and digits in lower case, all else as one blank.

    >>> plain("<think>A?</think>Toy-Nets, 2nd")
    'toy nets 2nd'
    """
    return re.sub("[^a-z0-9]+", " ", _THOUGHTS.sub("", text).lower()).strip()
