"""``arena report-card``: are environments worth training on, and what should a model score?"""

from __future__ import annotations

from typing import Any

from arena.cli.app import print_json, print_table
from arena.cli.commands import command
from arena.cli.testing import print_audit
from arena.errors import DataError
from arena.kit.files import atomic_write, check_target, write_json


@command("report-card")
def report_card(
    environments: list[str] | None = None,
    *,
    corpus: str,
    output: str,
    actions: int = 500,
    seed: int = 0,
    topics: int = 10,
    retriever: list[str] | None = None,
    tasks: str | None = None,
    env_option: dict[str, Any] | None = None,
    json: bool = False,
) -> None:
    """Audit environments, and write what agents and hacks earn in them as a page.

    The exit status is 1 if the audit has a finding.

    Args:
        environments (ENV_ID): Ids, those of another distribution as module:id (default: those of
            all tasks).
        output (FILE): Page to write, FILE.html, with the same as JSON beside it.
        actions: Actions that the audit sends.
        seed: Seed of the actions.
        topics: Topics that are played.
        retriever (NAME): Engine to search with; the first one is the environments' own (default:
            bm25).
        tasks (TASKS): Directory of `arena-corpus tasks`, to play its papers instead of topics.
        env_option: Argument of the environments, such as reward=cost.

    Example:
        arena report-card arena/Discovery-v0 --corpus demo/synthetic --output card.html
    """
    from arena.corpus import Corpus
    from arena.retrieval import parse_name
    from arena.testing import audit
    from arena_integrations import _report_card as cards

    page = check_target(output)
    if topics < 1:
        raise DataError(f"--topics {topics}: give 1 or more.")
    engines, ids = [str(parse_name(name)) for name in retriever or ["bm25"]], environments or None
    report = audit(corpus, actions, seed, engines, ids, (), tasks, env_option)
    card = cards.report_card(Corpus.open(corpus, tasks=tasks), report, ids, topics, env_option)
    atomic_write(page, cards.as_page(card))
    write_json(page.with_suffix(".json"), card, sort_keys=False)
    if json:
        print_json(report.to_json() | {"report_card": card})
    else:
        print_audit(report)
        print("\n".join([card["question"], *card["answers"]]))
        print_table((shown := cards.table(card)).rows, shown.header)
    if not report.clean:
        raise SystemExit(1)
