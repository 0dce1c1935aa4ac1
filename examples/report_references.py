"""Score reports against the bibliography of a survey on the same topic that people wrote.

python examples/report_references.py reports/HumanSurvey reports/AutoSurvey reports/SurveyForge

Each folder has one report for each topic, under the same file names; the first has the gold.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from tabulate import tabulate

from arena.metrics import evaluate
from arena.report import PaperFinder, PaperName, Report, read_report, resolve
from arena.report.metrics import ReportGold

METRICS = ("reference_precision", "reference_recall", "reference_f1", "reference_count")


def scores(report: Report, survey: Report) -> dict[str, float | None]:
    """Return the metrics of references of a report against those that a survey cites."""
    finder = PaperFinder(PaperName(f"work {r.key}", r.title, r.ids) for r in survey.cited)
    works = {r.paper: 1 for r in resolve(survey, finder).cited if r.paper is not None}
    return evaluate(resolve(report, finder), ReportGold(works, dict.fromkeys(works, "")), METRICS)


def main() -> None:
    """Print a row for each report, and the means of each folder."""
    gold, *folders = map(Path, sys.argv[1:])
    rows, means = [], []
    for folder in folders:
        of_folder = []
        for path in sorted(gold.glob("*.md")):
            row = scores(read_report(folder / path.name), read_report(path))
            of_folder.append(row)
            rows.append([folder.name, path.stem.replace("_", " "), *row.values()])
        means.append(
            [
                folder.name,
                "mean",
                *(statistics.fmean(r[m] or 0.0 for r in of_folder) for m in METRICS),
            ]
        )
    print(tabulate([*rows, *means], headers=["system", "topic", *METRICS], floatfmt=".3f"))


if __name__ == "__main__":
    main()
