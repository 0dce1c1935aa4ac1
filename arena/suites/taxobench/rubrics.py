"""TaxoBench's rubric for taxonomies: section 3.2 and appendix G, in other words."""

from pathlib import Path

from arena.judging.judge import RUBRICS, Rubric

RUBRICS.register("taxobench")(
    Rubric(
        name="taxobench",
        title="A taxonomy beside the experts': coverage, organization, logic, topology, 1 to 5.",
        dimensions=("coverage", "organization", "logic", "topology"),
        fields=("expert", "generated"),
        prompt=Path(__file__).with_name("rubric.txt").read_text(encoding="utf-8"),
    )
)
