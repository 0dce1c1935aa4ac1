"""``arena audit``: does every environment keep its contract, and does anything leak?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.cli.app import print_json
from arena.text.display import count, printable

if TYPE_CHECKING:
    from arena.testing import AuditReport

_SHOWN = 50


def audit(
    environments: list[str] | None = None,
    *,
    corpus: str,
    actions: int = 10_000,
    seed: int = 0,
    retriever: list[str] | None = None,
    tool: list[str] | None = None,
    tasks: str | None = None,
    env_option: dict[str, Any] | None = None,
    output: str | None = None,
    json: bool = False,
) -> None:
    """Check environments, attack every tool, and compare every answer with the files.

    The exit status is 1 if there is a finding.

    Args:
        environments (ENV_ID): Ids, those of another distribution as module:id (default: those of
            all tasks).
        actions: Actions to send to the environments; with 0 their contract and the files alone
            are checked.
        seed: Seed of the actions.
        retriever (NAME): Engine to search with; the first one is the environments' own (default:
            bm25).
        tool (NAME): Further tool that the environments offer, such as FILE.py:NAME.
        tasks (TASKS): Directory of `arena-corpus tasks`, to play its papers instead of topics.
        env_option: Argument of the environments, such as reward=cost.
        output (FILE): Write the report as JSON, too.

    Example:
        arena audit --corpus demo/synthetic
    """
    from arena.kit.files import check_target, write_json
    from arena.retrieval import parse_name
    from arena.testing import audit as audit_corpus

    path = None if output is None else check_target(output)
    engines = [str(parse_name(name)) for name in retriever or ["bm25"]]
    ids = environments or None
    report = audit_corpus(corpus, actions, seed, engines, ids, tool or (), tasks, env_option)
    if path is not None:
        write_json(path, report.to_json())
    if json:
        print_json(report.to_json())
    else:
        print_audit(report)
    if not report.clean:
        raise SystemExit(1)


def print_audit(report: AuditReport) -> None:
    """Print counts and hashes of an audit, and its findings."""
    made = report.to_json()
    rows = [(name, f"{number:,}") for name, number in made["counts"].items()]
    for key in ("tools", "environments"):
        parts = [f"{name} {number:,}" for name, number in made[key].items()]
        rows += [("" if i else key, part) for i, part in enumerate(parts)]
    rows += [(f"sha256 of {name}", value) for name, value in report.hashes.items()]
    if names := report.settings["scores_not_compared"]:
        rows.append(("scores not compared", ", ".join(names)))
    rows += [(f"{env_id} left out", why) for env_id, why in report.settings["left_out"].items()]
    rows.append(("seconds", f"{report.seconds:.1f}"))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    for finding in report.findings[:_SHOWN]:
        print(f"FOUND {printable(str(finding), 1_000)}")
    total = made["findings_total"]
    if total > _SHOWN:
        print(f"... and {total - _SHOWN} more; --output FILE keeps the first 1,000.")
    found = ", ".join(f"{name} {number}" for name, number in made["findings_by_check"].items())
    print(f"{count(total, 'finding')}: {found}." if total else "Nothing leaked: no findings.")
