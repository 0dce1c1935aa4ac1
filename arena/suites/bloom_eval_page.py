"""The page of an evaluation by Bloom-Eval: the tiers, Table 3, and what made each number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from arena.bloom import survey_metrics
from arena.results.plots import STYLE, Plot, clean, key

if TYPE_CHECKING:
    from arena.suites.bloom_eval import SurveyEvaluation

_LONGEST = 2_000
_WIDE, _BAR, _SLOT = 900.0, 17.0, 140.0


def as_html(result: SurveyEvaluation) -> str:
    """Return one page that loads nothing and runs no script; every text is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from arena.suites.bloom_eval import paper_means, table3

    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value, _LONGEST),
    )
    systems = ["generated", *table3()["systems"]]
    averages = paper_means()
    bars = {tier: [found["mean"], *averages[tier]] for tier, found in result.tiers.items()}
    html: str = environment.get_template("bloom_eval.html").render(
        result=result,
        systems=systems,
        chart=chart(bars, systems),
        rows=result.rows(),
        metrics=survey_metrics(),
        key=key,
        style=Markup(STYLE),
    )
    return html


def chart(tiers: dict[str, list[float | None]], systems: list[str]) -> Markup:
    """Return a bar for each system on each tier; None has no bar."""
    plot = Plot(46.0, _WIDE - 8, 12, 250.0, y_ticks=(0, 0.25, 0.5, 0.75, 1))
    plot.y_axis(lambda value: f"{value:g}")
    for number, (tier, values) in enumerate(tiers.items()):
        left = plot.left + 12 + number * _SLOT
        for place, value in enumerate(values):
            if value is not None:
                # With --official a mean can leave [0, 1].
                x, y = left + place * (_BAR + 3), plot.y(min(max(value, 0), 1))
                title = f"{tier}, {systems[place]}: {value:.3f}"
                with plot.group(f"c{place}", title):
                    plot.bar("bar", x, y, _BAR, plot.bottom - y, title)
                    plot.mark(place, x + _BAR / 2, y)
        middle = left + len(values) * (_BAR + 3) / 2
        plot.text(middle, plot.bottom + 20, tier.capitalize(), "middle")
    return plot.inside(_WIDE, plot.bottom + 30, "Means of the tiers; the table holds the numbers")
