"""The tables "the paper / the released code / here", which the site shows in pages on benchmarks.

`differences.yaml` has the rows of each page. A row of it without a text is a metric, whose object
has the text, from its docstring (`arena.metrics.accounts`).
"""

from __future__ import annotations

from pathlib import Path

import yaml

from arena.metrics import METRICS
from arena_suites.bloom_eval import survey_metrics

DOCS = Path(__file__).parent
COLUMNS = ("paper", "released", "here")
MARK = "[What the paper, its released code and this project do](differences.yaml), row by row."
"""The line of a page in whose place the table stands on the site."""


def rows(page: str) -> dict[str, dict[str, str]]:
    """Return step or metric -> column -> text; a text that is missing is empty."""
    topics = survey_metrics()
    found = yaml.safe_load((DOCS / "differences.yaml").read_text(encoding="utf-8"))[page]
    for name, row in found.items():
        if row is None:
            metric = METRICS.get(topics[name].names()[0] if name in topics else name)
            found[name] = {column: getattr(metric, column) for column in COLUMNS}
    return {
        name: {column: row.get(column, "") for column in COLUMNS} for name, row in found.items()
    }


def table(page: str) -> str:
    """Return the table that the rows of a page make, as Markdown."""
    lines = ["| | the paper | the released code | here |", "|---|---|---|---|"]
    for name, row in rows(page).items():
        texts = (row[column].removesuffix(".") for column in COLUMNS)
        cells = [text.replace("``", "`").replace("|", "&#124;") for text in texts]
        lines.append(f"| {' | '.join([name, *cells])} |")
    return "\n".join(lines)


def pages() -> list[str]:
    """Return the names of the pages."""
    return list(yaml.safe_load((DOCS / "differences.yaml").read_text(encoding="utf-8")))
