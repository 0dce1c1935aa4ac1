"""``arena reproduce``: are published numbers still what their commands give?"""

from __future__ import annotations

from arena.cli.app import print_json, print_table
from arena.cli.commands import command
from arena.text.display import count


@command("reproduce")
def reproduce(
    names: list[str] | None = None,
    *,
    data: str | None = None,
    expected: str = "benchmarks/expected",
    json: bool = False,
) -> None:
    """Run the commands behind numbers of the documentation, and compare what comes out.

    The exit status is 0 if all are equal, 1 if one differs or a corpus is another one, and else 2
    if data is not at hand.

    Args:
        names (NAME): Corpora or runs, such as synthetic or tiny.title (default: all).
        data (DIR): Folder with the public data sets.
        expected (DIR): Folder of the expectations.

    Example:
        arena reproduce synthetic tiny
    """
    from arena_analysis import reproducing

    known = reproducing.read_expected(expected)
    rows = list(reproducing.reproduce(known, names or (), data))
    if json:
        print_json([row._asdict() for row in rows])
    else:
        print_table(rows, ["name", "metric", "expected", "found", "outcome"])
        equal = sum(row.outcome == "equal" for row in rows)
        print(f"\n{equal} of {count(len(rows), 'expectation')} equal.")
    outcomes = {row.outcome.partition(":")[0] for row in rows} - {"equal"}
    if outcomes:
        raise SystemExit(2 if outcomes == {"not at hand"} else 1)
