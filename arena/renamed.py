"""Names of release 0.9 that have another name now; docs/renamed.md lists them for people.

Commands, options, settings, reset keys, tasks and environments alone, which people and files have.
"""

from __future__ import annotations

from collections.abc import Collection

_NAMES = {
    "survey": ("topic_id", "topic", "pipeline"),
    "surveys": ("topics", "topic_ids"),
    "--survey": ("--topic",),
    "--surveys": ("--topics",),
    "--most": ("--max-statements", "--max-tasks", "--max-sessions", "--max-surveys"),
    "most": ("max_statements", "max_tasks", "max_sessions", "max_surveys", "max_titles"),
    "arena/Survey-v0": ("arena/Pipeline-v0",),
    "survey_score": ("pipeline_score",),
    "per_survey": ("per_topic",),
    "world": ("synthetic",),
    "world-hard": ("synthetic-hard",),
    "world-measured": ("synthetic-measured",),
    "replay": ("verify",),
    "found": ("start_from", "run"),
    "show": ("paper_text",),
    "inputs": ("paper_texts",),
    "input": ("paper_text",),
}


def new_name(name: object, known: Collection[str]) -> str | None:
    """Return what `known` calls a name of release 0.9, or None.

    >>> new_name("--surveys", ["--topics", "--corpus"]), new_name("bm52", ["bm25"])
    ('--topics', None)
    """
    names = _NAMES.get(name, ()) if isinstance(name, str) else ()
    return next((each for each in names if each in known), None)
