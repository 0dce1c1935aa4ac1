"""``arena audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.app import print_json, printable
from arena.errors import DataError

if TYPE_CHECKING:
    from arena.testing import AuditReport

_SHOWN = 50


def audit(
    *,
    corpus: str,
    actions: int = 10_000,
    seed: int = 0,
    retriever: list[str] | None = None,
    tool: list[str] | None = None,
    tasks: str | None = None,
    door: str | None = None,
    output: str | None = None,
    json: bool = False,
) -> None:
    """Fuzz every tool and compare every answer with the files: does anything leak?

    The exit status is 1 if there is a finding.

    Args:
        actions: Actions to send to the environments.
        seed: Seed of the actions.
        retriever (NAME): Engine to search with; the first one is the environments' own (default:
            bm25).
        tool (NAME): Further tool that the environments offer, such as FILE.py:NAME.
        tasks (TASKS): Directory of `arena-corpus tasks`, to play its papers instead of surveys.
        door (NAME): Send every action through this door, with its framework's own client, such
            as mcp.
        output (FILE): Write the report as JSON, too.

    Example:
        arena audit --corpus demo/world
    """
    from arena._internal.files import write_json
    from arena.testing import audit as audit_corpus

    path = None if output is None else Path(output)
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise DataError(f"--output {str(path)!r}: name a file in a directory that exists.")
    engines, tools = retriever or ["bm25"], tool or ()
    report = audit_corpus(corpus, actions, seed, engines, tools=tools, tasks=tasks, door=door)
    if path is not None:
        write_json(path, report.to_json())
    if json:
        print_json(report.to_json())
    else:
        _print(report)
    if not report.clean:
        raise SystemExit(1)


def _print(report: AuditReport) -> None:
    made = report.to_json()
    rows = [(name, f"{number:,}") for name, number in made["counts"].items()]
    titles = {"tools": "tools", "doors": "views", "refused": "refused"}
    for key, title in (titles | {"environments": "environments"}).items():
        parts = [f"{name} {number:,}" for name, number in made[key].items()]
        rows += [(title if not i else "", part) for i, part in enumerate(parts)]
    rows += [(f"sha256 of {name}", value) for name, value in report.hashes.items()]
    unproven = report.settings["tools_without_oracle"]
    for title, names in (
        ("scores not compared", report.settings["scores_not_compared"]),
        ("tools without an oracle", unproven),
    ):
        rows += [(title, ", ".join(names))] if names else []
    rows.append(("seconds", f"{report.seconds:.1f}"))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    for finding in report.findings[:_SHOWN]:
        print(f"LEAK {printable(str(finding), 1_000)}")
    total = made["findings_total"]
    if total > _SHOWN:
        print(f"... and {total - _SHOWN} more; --output FILE keeps the first 1,000.")
    found = ", ".join(f"{name} {number}" for name, number in made["findings_by_check"].items())
    if total:
        print(f"{total} findings: {found}.")
    elif unproven:
        print(
            f"No findings, but {', '.join(unproven)} may leak: without an oracle only what any "
            "tool must keep was checked."
        )
    else:
        print("Nothing leaked: no findings.")
