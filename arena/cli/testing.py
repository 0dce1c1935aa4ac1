"""``arena check`` and ``arena audit``: is every environment sound, and does anything leak?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.app import print_json, print_table, printable
from arena.errors import DataError, NoLabelsError

if TYPE_CHECKING:
    from arena.testing import AuditReport

_SHOWN = 50


def check(
    environments: list[str] | None = None,
    *,
    corpus: str,
    env_option: dict[str, Any] | None = None,
    checks: tuple[str, ...] | None = None,
    episodes: int = 5,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Check environments: spaces, seeds, pickling, vectors, rewards, budgets, no gold.

    The exit status is 1 if a check fails.

    Args:
        environments (ENV_ID): Ids, those of another distribution as module:id (default: all of
            this project).
        env_option: Argument of the environments, such as retriever=dense.
        checks (NAMES): Names of checks with commas (default: all).
        episodes: Recorded episodes.
        seed: Seed of the episodes.

    Example:
        arena check arena/Discovery-v0 --corpus demo/world
    """
    from arena.tasks import environment_ids
    from arena.testing import check_environment

    results, left_out = [], {}
    for env_id in dict.fromkeys(environments or environment_ids()):
        try:
            results += check_environment(
                env_id, corpus, options=env_option, episodes=episodes, seed=seed, checks=checks
            )
        except NoLabelsError as error:
            if environments:
                raise
            left_out[env_id] = str(error)  # not asked for, and this corpus has nothing to play
    if not results:
        raise DataError(
            "nothing was checked: name a check with --checks, or a corpus that can be scored."
        )
    if json:
        print_json({"results": [result._asdict() for result in results], "left_out": left_out})
    else:
        rows = [
            (r.environment, r.check, "ok" if r.passed else "FAILED", printable(r.detail, 120))
            for r in results
        ]
        print_table(rows, ("environment", "check", "", "detail"))
        for env_id, why in left_out.items():
            print(f"{env_id} was left out: {why}")
        print(f"{sum(r.passed for r in results)} of {len(results)} checks passed.")
    failures = [result for result in results if not result.passed]
    for result in failures:
        line = f"{result.environment}: {result.check} FAILED: {result.detail}"
        print(f"arena check: {line}", file=sys.stderr)
    if failures:
        sys.exit(1)


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
        _print_audit(report)
    if not report.clean:
        raise SystemExit(1)


def _print_audit(report: AuditReport) -> None:
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
