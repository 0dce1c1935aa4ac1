"""Bloom-Eval: on which tier of Bloom's taxonomy does a generated survey fail?

"Bloom-Eval: A Hierarchical Evaluation Benchmark for Automatic Survey Generation Based on Bloom's
Taxonomy", section 3.2. docs/bloom-eval.md names every number, and every difference from the
released code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from arena.corpus import layout
from arena.errors import DataError, clip, did_you_mean
from arena.kit.code import code_sha256
from arena.kit.files import sha256_file
from arena.kit.terminal import progress
from arena.llm import Client
from arena.llm.answers import sum_totals
from arena.metrics import METRICS, mean
from arena.mindmap import identity
from arena.report import Reference
from arena.runs.directory import read_timing
from arena.suites import OutputPath, folder_sha256, suite
from arena_suites._library import Library
from arena_suites.bloom_eval.article import Article, Work
from arena_suites.bloom_eval.base import (
    Finding,
    SurveyComparison,
    SurveyMetric,
    SurveyPair,
    compare,
    survey_metrics,
)
from arena_suites.bloom_eval.data import read_surveys
from arena_suites.bloom_eval.tables import SurveyEvaluation, made_otherwise
from arena_suites.published import published

FIELDS = {"cs": "Computer Science", "gs": "General Science"}
"""The fields of the paper's topics, by the beginning of their names (figures 5 to 12)."""
_OTHERWISE = (
    "By {}, where the paper has nomic-embed-text-v1, BERTopic and gpt-5-mini, for cf gpt-4o: do "
    "not compare these with its numbers (--matcher judge, --clusters bertopic, --encoder minilm)."
)


BIBTEX = """\
@misc{zhang2026bloomeval,
  title = {{Bloom-Eval}: A Hierarchical Evaluation Benchmark for Automatic Survey Generation
           Based on {Bloom's} Taxonomy},
  author = {Zhang, Fei and Zhao, Zhe and Wen, Haibin and Wei, Tianshuo and Zhang, Zaixi and
            Yang, Chao and Wei, Ye},
  year = {2026},
  url = {https://github.com/feizhang18/Bloom-Eval}
}
"""


@suite("bloom-eval", bibtex=BIBTEX)
def score_surveys(
    *,
    human: str,
    generated: OutputPath,
    only: tuple[str, ...] | None = None,
    metrics: tuple[str, ...] | None = None,
    official: bool = False,
    llm_option: dict[str, Any] | None = None,
    encoder: str = "static",
    matcher: Literal["embedding", "judge"] = "embedding",
    threshold: float = SurveyComparison.threshold,
    clusters: Literal["linkage", "bertopic"] = "linkage",
    prompts: str | None = None,
    max_statements: int | None = None,
    no_abstract: Literal["unsupported", "left-out"] = "unsupported",
    corpus: str | None = None,
) -> SurveyEvaluation:
    """Score generated surveys beside those that experts wrote, on the six tiers of Bloom.

    A topic without a readable survey on both sides has no scores and does not count in the means.

    Args:
        human (DIR): Folder with the experts' surveys: Bloom-Eval's data, or TOPIC.md.
        generated (DIR): Folder with the generated surveys in the same form.
        only (TOPICS): Topics to score (default: all of the experts').
        metrics: Metrics to compute (default: all that need no judge, and with one all).
        official: Count as the released code does.
        llm_option: Option of the judge, a language model, such as model=NAME.
        encoder (NAME): Encoder of headings, titles and entities.
        matcher: Who pairs headings, entities and themes: embeddings, one-to-one, or the judge, as
            in the paper.
        threshold: Least cosine of a pair.
        clusters: Who groups references into themes; bertopic is the paper's.
        prompts (DIR): Templates that replace the built-in ones.
        max_statements: Statements of each survey whose citations are judged (default: all).
        no_abstract: What a cited work without an abstract does for a statement.
        corpus (DIR): Corpus that knows the papers that reports cite, their abstracts and, by its
            own links, their citations.

    Example:
        arena evaluate bloom-eval --human bloom_eval --generated surveys --page surveys.html
    """
    judge = Client.from_options(llm_option, "--llm-option") if llm_option else None
    comparison = SurveyComparison(
        encoder=encoder, matcher=matcher, threshold=threshold,
        clusters=clusters, judge=judge, prompts=prompts,
        max_statements=max_statements,
        official=official, no_abstract=no_abstract,
    )  # fmt: skip
    for option, names in {"only": only, "metrics": metrics}.items():
        if names == ():
            raise DataError(f"--{option} names none: leave it out for all.")
    known = _in_order(metrics)
    experts, made, unread = _read(human, generated, only, official, corpus)
    rows, details, spent = dict[str, dict[str, Any]](), dict[str, dict[str, Any]](), []
    for topic in progress(unread, desc="compare", unit="topic"):
        pair = None
        if not unread[topic]:
            pair = SurveyPair(experts[topic], made[topic], comparison)
        rows[topic], details[topic] = {}, {}
        for name, row in compare(pair, known, unread[topic]).items():
            found: Finding = row.pop("finding")
            rows[topic] |= {known[name].column_name(c): each for c, each in found.scores.items()}
            cells = [list(each) for each in found.rows]
            shown = {"reason": found.reason, **row, "headers": [*found.headers], "rows": cells}
            details[topic][name] = shown
        if pair is not None and pair.session is not None:
            spent.append(pair.session.meter.totals())
    columns = [name for metric in known.values() for name in metric.names()]
    reports, seconds = [*Path(generated).glob("reports/*")], read_timing(Path(generated))
    of_each = ("matcher", "threshold", "clusters", "max_statements", "no_abstract")
    settings: dict[str, Any] = {
        "human": folder_sha256(human), "generated": folder_sha256(generated), "official": official,
        "corpus": corpus and sha256_file(Path(corpus) / "manifest.json"),
        "seconds": round(seconds / len(reports), 1) if reports and seconds is not None else None,
        **identity(encoder), **{name: getattr(comparison, name) for name in of_each},
        "code": code_sha256("arena_suites.bloom_eval"),
    }  # fmt: skip
    if judge is not None:
        settings["judge"] = {
            "client": judge.fields,
            "prompts_sha256": comparison.prompts_sha256(), "total": sum_totals(spent),
        }  # fmt: skip
    problems = _problems(details)
    marked = made_otherwise(settings)
    if by := dict.fromkeys(each for name in known for each in marked.get(name, ())):
        problems.append(_OTHERWISE.format(", ".join(by)))
    if settings["seconds"]:
        problems.append(f"The run took {settings['seconds']} s a survey.")
    return SurveyEvaluation(
        {name: mean(row[name] for row in rows.values()) for name in columns},
        rows,
        [topic for topic in rows if topic not in made],
        problems,
        settings,
        lower_is_better={name: METRICS.get(name).lower_is_better for name in columns},
        groups={topic: FIELDS[topic[:2]] for topic in rows if topic[:2] in FIELDS},
        details=details,
        needs={
            name: "a judge"
            for metric in known.values()
            if "judge" in metric.needs and judge is None
            for name in metric.names()
        },
        published=[next(published("Bloom-Eval"))],
    )


def _read(
    human: str, generated: str, topics: Sequence[str] | None, official: bool, corpus: str | None
) -> tuple[dict[str, Article], dict[str, Article], dict[str, str]]:
    """Return the surveys of both sides by topic; and topic -> why it cannot be compared, or ""."""
    know = _library(corpus)
    experts, why = read_surveys(human, "human", (), official, know)
    every = {**experts, **why}
    for topic in topics or ():
        if topic not in every:
            raise DataError(f"experts wrote nothing on {clip(topic)}.{did_you_mean(topic, every)}")
    unread = dict.fromkeys(topics or every, "")
    made, why_not = read_surveys(generated, "llm", [*unread], official, know)
    for side, articles, faults in (("human", experts, why), ("generated", made, why_not)):
        if not articles.keys() & unread.keys():
            raise DataError(f"nothing to compare: {faults[next(iter(unread))]}")
        for topic in unread.keys() - articles.keys():
            unread[topic] = f"{unread[topic]} {side}: {faults[topic]}".strip()
    return experts, made, unread


def _in_order(names: Sequence[str] | None) -> dict[str, SurveyMetric]:
    """Return metrics by name, those of Table 3 in its order; by default all."""
    known = survey_metrics(names)
    printed = next(published("Bloom-Eval"))["columns"]
    order = [*(column.partition("_")[0] for column in printed), *survey_metrics()]
    return {name: known[name] for name in sorted(known, key=order.index)}


def _library(corpus: str | None) -> Callable[[Reference], Work | None]:
    """Return what finds papers of a corpus by reference; its papers' links are the citations."""
    if corpus is None:
        return lambda _: None
    import pyarrow.parquet as pq

    library = Library(corpus)
    table = pq.read_table(Path(corpus) / layout.PAPERS, columns=["id", "abstract"])
    ids, abstracts = (column.to_pylist() for column in table.columns)
    citing = np.diff(np.load(Path(corpus) / layout.CITING_STARTS)).tolist()
    times = citing if any(citing) else [None] * len(ids)  # a corpus may have no links
    papers = dict(zip(ids, zip(abstracts, times, strict=True), strict=True))

    def know(reference: Reference) -> Work | None:
        if (found := library.find(reference)) is None:
            return None
        abstract, cited = papers.get(found.name.id, ("", None))
        return Work(found.name.title, abstract, cited, paper=found.name.id)

    return know


def _problems(details: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """Return a sentence for each reason why metrics have no score."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for topic, metrics in details.items():
        reasons: dict[str, list[str]] = defaultdict(list)
        for name in sorted(metrics):
            if metrics[name]["reason"]:
                reasons[metrics[name]["reason"]].append(name)
        for reason, same in reasons.items():
            found[reason, tuple(same)].append(topic)
    problems = []
    for (reason, names), topics in found.items():
        what = "every metric" if len(names) == len(metrics) > 1 else ", ".join(names)
        where = ", ".join(topics) if len(topics) < 4 else f"{len(topics)} topics"
        problems.append(f"{where}: {what}: {reason}")
    return problems
