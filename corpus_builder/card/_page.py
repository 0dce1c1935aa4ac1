"""The page of a card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from corpus_builder.card import _losses
from corpus_builder.card._again import command
from corpus_builder.card._complexity import Complexity
from corpus_builder.card._facts import Facts
from corpus_builder.card._figures import Figure
from corpus_builder.card._words import fenced, number, table, words

_SIZES = (("1K", 10**3), ("10K", 10**4), ("100K", 10**5), ("1M", 10**6), ("10M", 10**7),
          ("100M", 10**8), ("1B", 10**9))  # fmt: skip
_SOURCE_ROWS = 60
_PAPER = (
    "The figures are those of figure 4 in H. Kang and C. Xiong, *ResearchArena: Benchmarking LLMs' "
    "Ability to Collect and Organize Information as Research Agents*, arXiv:2406.10291, section 4, "
    "drawn for this corpus."
)


def page(
    manifest: Mapping[str, Any], facts: Facts, found: Complexity, figures: Sequence[Figure]
) -> str:
    """Return the card as Markdown.

    Args:
        manifest: of the corpus. Nothing is told of its indexes, which may be added at any time.
        facts: as counted.
        found: mind-maps as counted.
        figures: dates, then (a) to (d).
    """
    counts, source = manifest["counts"], manifest["source"]
    dates, *four = figures
    titles = ("Disciplines of the corpus", "Disciplines of the surveys", "Reference coverage of "
              "the surveys", "Complexity of the mind-maps")  # fmt: skip
    parts = [
        _front(manifest),
        f"# Corpus {manifest['content_sha256'][:12]}",
        "Papers in the order of their publication, with abstracts, full texts and citations, and "
        "survey tasks with what each survey cites and how it orders it, as a corpus of "
        "ResearchArena. This card holds statistics over the labels of the tasks: it is for people, "
        "not for agents.",
        *([f"The source says: {words(source['note'])}."] if source.get("note") else []),
        "## Counts",
        table(("what", "number"), _counts(counts, facts), "lr"),
        "## Dates",
        *_shown(dates),
    ]
    for letter, title, figure in zip("abcd", titles, four, strict=True):
        parts += [f"## ({letter}) {title}", *_shown(figure)]
    parts += [
        "## What was lost, and why",
        _losses.of_corpus(counts, facts, found.unreadable),
        _losses.of_source(source),
        "## What is not known",
        "\n".join(f"- {line}" for line in _unknown(manifest, facts, found)),
        "## Source",
        table(("what", "value"), [("content sha256", manifest["content_sha256"]),
              ("tasks sha256", manifest["tasks_sha256"]), *_told(source)], "ll"),
        "## Built again",
        fenced(command(manifest), "sh"),
        "The same input gives the same hashes. The manifest does not tell what is in capitals, nor "
        "where the input lies; `arena-corpus build SOURCE --help` tells a source's options.",
        "## Citation",
        _PAPER,
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _front(manifest: Mapping[str, Any]) -> str:
    """Return the YAML that dataset cards begin with: what is known, and no more."""
    name = f"ResearchArena corpus {manifest['content_sha256'][:12]}"
    lines = [f"pretty_name: {json.dumps(name)}"]
    licence = _licence(manifest["source"])
    if licence is not None:
        lines.append(f"license: {json.dumps(licence)}")
    lines += ["size_categories:", f"- {json.dumps(_size(manifest['counts']['papers']))}"]
    return "\n".join(["---", *lines, "---"])


def _licence(source: Mapping[str, Any]) -> str | None:
    found = source.get("licence", source.get("license"))
    return found if isinstance(found, str) and found.strip() else None


def _size(papers: int) -> str:
    lower = "n"
    for name, end in _SIZES:
        if papers < end:
            return f"n<{name}" if lower == "n" else f"{lower}<n<{name}"
        lower = name
    return f"n>{lower}"


def _counts(counts: Mapping[str, int], facts: Facts) -> list[tuple[str, int]]:
    return [
        ("papers", counts["papers"]),
        ("of them searchable: dated and no survey", counts["searchable"]),
        ("of them undated", counts["undated"]),
        ("of them surveys", counts["survey_papers"]),
        ("papers with an abstract", facts.abstracts),
        ("papers with full text", facts.full_texts),
        ("sections of full text", counts["sections"]),
        ("citations between searchable papers", counts["references"]),
        ("survey tasks", counts["surveys"]),
        ("of them with a reference in reach: they can be scored", counts["surveys_with_gold"]),
        ("of them with a mind-map", counts["mind_maps"]),
        ("references of survey tasks", facts.listed),
        ("of them in the corpus", facts.available),
        ("of them in reach: gold", facts.gold),
    ]


def _shown(figure: Figure) -> list[str]:
    if figure.svg is None:
        return [figure.told]
    return [f"![{words(figure.label)}]({figure.file})", figure.told]


def _told(source: Mapping[str, Any]) -> list[tuple[str, Any]]:
    own = {key: value for key, value in source.items() if key not in ("stages", "yield", "yields")}
    rows = [
        (": ".join(path), value if isinstance(value, str) else json.dumps(value))
        for path, value in _losses.flat(own)
    ]
    if len(rows) > _SOURCE_ROWS:
        left = number(len(rows) - _SOURCE_ROWS)
        return [*rows[:_SOURCE_ROWS], ("more", f"{left} entries in manifest.json")]
    return rows


def _unknown(manifest: Mapping[str, Any], facts: Facts, found: Complexity) -> list[str]:
    counts = manifest["counts"]
    papers, surveys = facts.papers, facts.surveys
    lines = []
    if _licence(manifest["source"]) is None:
        lines.append("The licence: the source tells none.")
    if papers.told < papers.papers:
        lines.append(
            f"The disciplines of {_of(papers.papers - papers.told, papers.papers)} papers."
        )
    if surveys.told < surveys.papers:
        lines.append(
            f"The disciplines of {_of(surveys.papers - surveys.told, surveys.papers)} survey "
            "tasks: they are those of the paper of the same id, which the corpus lacks for "
            f"{number(surveys.papers - facts.surveys_found)}."
        )
    if counts["undated"]:
        lines.append(f"The dates of {_of(counts['undated'], counts['papers'])} papers.")
    if counts["unflagged_survey_titles"]:
        lines.append(
            'Whether searchable papers with "survey" in the title are surveys: nothing flags '
            f"{number(counts['unflagged_survey_titles'])} of them."
        )
    if found.unreadable:
        lines.append(f"What stands in {_of(found.unreadable, counts['mind_maps'])} mind-maps.")
    lines.append("Whether a survey without a mind-map has one in print.")
    return lines


def _of(part: int, whole: int) -> str:
    return f"{number(part)} of {number(whole)}"
