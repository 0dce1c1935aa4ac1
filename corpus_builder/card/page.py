"""The files of a card: a page in Markdown, made from the template ``card.md``, and pictures."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from statistics import median_low
from typing import Any

from markupsafe import Markup

from arena.text.display import shown
from corpus_builder.card import charts, losses
from corpus_builder.card.charts import Bar
from corpus_builder.card.facts import CardFacts, Complexity, Disciplines
from corpus_builder.card.words import fenced, markdown, percent, table

PAGE = "README.md"
_SIZES = (("1K", 10**3), ("10K", 10**4), ("100K", 10**5), ("1M", 10**6), ("10M", 10**7),
          ("100M", 10**8), ("1B", 10**9))  # fmt: skip
_STEPS = (25, 50, 75, 100)
_SOURCE_ROWS = 60
_FOLD = " \\\n    "
_GROUPS = {"all": "all surveys", "other": "other disciplines", "unknown": "no discipline told"}


def files_of(manifest: Mapping[str, Any], facts: CardFacts) -> dict[str, str]:
    """Return the files of a card: name -> content.

    Args:
        manifest: The manifest of the corpus. The card says nothing of its indexes, which may be
            added at any time.
        facts: What was counted.
    """
    source = manifest["source"]
    licence = source.get("licence", source.get("license"))
    figures = {
        "dates": _years(facts.years),
        "disciplines": _disciplines(facts.papers, "papers"),
        "surveys": _disciplines(facts.surveys, "survey tasks"),
        "coverage": _coverage(facts),
        "maps": _complexity(facts.mind_maps),
    }
    text = _environment().get_template("card.md").render(
        manifest=manifest,
        counts=manifest["counts"],
        source=source,
        facts=facts,
        licence=licence if isinstance(licence, str) and licence.strip() else None,
        size=_size(manifest["counts"]["papers"]),
        corpus_losses=losses.of_corpus(manifest["counts"], facts),
        source_losses=losses.of_source(source),
        source_rows=_described(source),
        command=command(manifest),
        **figures,
    )  # fmt: skip
    pictures = {f["file"]: f["svg"] for f in figures.values() if f["svg"] is not None}
    return {PAGE: text, **pictures}


@functools.cache
def _environment() -> Any:
    """Return the environment of the template: what it prints is escaped for Markdown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=lambda value: Markup(markdown(value)),
    )
    environment.filters |= {"json": lambda value: Markup(json.dumps(value)), "fenced": fenced}
    environment.globals |= {"table": table, "percent": percent}
    return environment


def _years(years: Mapping[int, int]) -> dict[str, Any]:
    bars = charts.bars_of_years(years)
    if not bars:
        return {"file": "dates.svg", "svg": None}
    top = max(bars, key=lambda bar: bar.papers)
    label = f"Searchable papers by year, most of them, {top.papers:,}, in {top.name}"
    rows = [(bar.name, bar.papers) for bar in bars if bar.papers]
    svg = charts.draw_years(bars, label)
    return {"file": "dates.svg", "svg": svg, "label": label, "rows": rows}


def _disciplines(disciplines: Disciplines, what: str) -> dict[str, Any]:
    """Return a distribution over disciplines (paper, figures 4a and 4b)."""
    file = "disciplines.svg" if what == "papers" else "surveys.svg"
    figure = {"file": file, "svg": None, "what": what, "of": disciplines}
    if not disciplines.known:
        return figure
    bars = [Bar(name, papers) for name, papers in disciplines.top]
    unknown = disciplines.papers - disciplines.known
    bars += [Bar(_GROUPS["other"], disciplines.other, True)] if disciplines.other else []
    bars += [Bar(_GROUPS["unknown"], unknown, True)] if unknown else []
    shares = [percent(bar.papers, disciplines.papers) for bar in bars]
    label = f"Disciplines of the {what}: " + ", ".join(
        f"{bar.name} {share}" for bar, share in zip(bars, shares, strict=True)
    )
    beside = [f"{bar.papers:,} ({share})" for bar, share in zip(bars, shares, strict=True)]
    return figure | {
        "svg": charts.draw_disciplines(bars, beside, label),
        "label": label,
        "rows": [(bar.name, bar.papers, share) for bar, share in zip(bars, shares, strict=True)],
        "several": sum(bar.papers for bar in bars) > disciplines.papers,
    }


def _coverage(facts: CardFacts) -> dict[str, Any]:
    """Return the reference coverage of surveys (paper, figure 4c)."""
    if not facts.covered:
        return {"file": "coverage.svg", "svg": None}
    everyone = facts.covered[0]
    half = percent(everyone.available[50], everyone.surveys)
    label = (
        "Share of surveys with at least a given share of their references in the corpus; "
        f"{half} of all surveys have at least half"
    )
    rows = []
    for group in facts.covered:
        parts = [*(group.available[step] for step in _STEPS), group.gold[50]]
        shares = [f"{part:,} ({percent(part, group.surveys)})" for part in parts]
        rows.append([_GROUPS.get(group.kind, group.name), group.surveys, *shares])
    heads = [f"at least {step} %" if step < 100 else "all" for step in _STEPS]
    curves = [group for group in facts.covered if group.kind in ("all", "named")]
    names = [_GROUPS.get(group.kind, group.name) for group in curves]
    return {
        "file": "coverage.svg",
        "svg": charts.draw_coverage(curves, names, label),
        "label": label,
        "everyone": everyone,
        "header": ("references in the corpus", "surveys", *heads, "at least 50 % in reach"),
        "rows": rows,
    }


def _complexity(maps: Complexity) -> dict[str, Any]:
    """Return the complexity of mind-maps (paper, figure 4d)."""
    number = sum(maps.points.values())
    figure = {"file": "mind-maps.svg", "svg": None, "number": number, "of": maps}
    if not number:
        return figure
    label = f"Nodes against depth of mind-maps, {number:,} in all"
    if maps.line is not None:
        line = charts.equation(maps.line)
        label += f", with the regression line {line}"
        slope = Markup(f"{float(maps.line.slope):.2f}")
        figure |= {"line": Markup(line), "slope": slope}
    by_depth: dict[int, list[int]] = {}
    for (depth, nodes), weight in maps.points.items():
        by_depth.setdefault(depth, []).extend([nodes] * weight)
    rows = [
        (f"{depth:,}", len(nodes), min(nodes), median_low(nodes), max(nodes))
        for depth, nodes in sorted(by_depth.items())
    ]
    return figure | {"svg": charts.draw_complexity(maps, label), "label": label, "rows": rows}


def _size(papers: int) -> str:
    lower = "n"
    for name, end in _SIZES:
        if papers < end:
            return f"n<{name}" if lower == "n" else f"{lower}<n<{name}"
        lower = name
    return f"n>{lower}"


def _described(source: Mapping[str, Any]) -> list[tuple[str, str]]:
    own = {key: value for key, value in source.items() if key not in ("stages", "yield", "yields")}
    rows = [
        (": ".join(path), value if isinstance(value, str) else json.dumps(value))
        for path, value in losses.flat(own)
    ]
    if len(rows) > _SOURCE_ROWS:
        left = f"{len(rows) - _SOURCE_ROWS:,} entries in manifest.json"
        return [*rows[:_SOURCE_ROWS], ("more", left)]
    return rows


def command(manifest: Mapping[str, Any]) -> str:
    """Return the command that builds the corpus again; what the manifest lacks is in capitals."""
    source = manifest["source"]
    name = str(source.get("source"))
    config, files = source.get("config"), source.get("files")
    if name == "world" and isinstance(config, Mapping):
        options = [f"--{key.replace('_', '-')} {_quoted(config[key])}" for key in sorted(config)]
    elif name == "jsonl" and isinstance(files, Mapping):
        options = [
            f"--{key} {_quoted(files[key].get('name'))}"
            for key in ("papers", "surveys")
            if isinstance(files.get(key), Mapping)
        ]
    elif "stages" in source:
        options = ["--input DIR"]
    else:  # asking the source itself would make the card depend on what is installed
        options = ["OPTIONS"]
    if "stages" in source:
        options.append("--config FILE")
    else:
        options += [
            f"--{key} {_quoted(','.join(map(str, manifest['configuration'][key])))}"
            for key in ("engines", "fields")
            if manifest["configuration"].get(key)
        ]
    return _FOLD.join([f"arena-corpus build {_quoted(name)}", *options, "--output DIR"])


def _quoted(value: object) -> str:
    return shlex.quote(shown(str(value)))
