"""What other systems are asked for: the prompts of surveys, with the rules of the game."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from arena._internal.files import atomic_write
from arena.corpus import Corpus
from arena.llm.prompts import Fields, load_templates
from arena.tasks import TaskSet, choose_surveys, topic_of, with_topic


def write_requests(
    corpus: Corpus | str | Path,
    output: str | Path,
    *,
    surveys: Sequence[str] | int | None = None,
    prompt: str = "any",
    templates: str | Path | None = None,
) -> int:
    """Write a line for each survey with what a system outside of the gym is asked for.

    A line has ``id``, ``request``, ``cutoff`` and ``domain``. The request is the survey's prompt
    and the rules of ReportBench (appendix A.3): nothing from the cutoff on, not the survey itself,
    a survey in English with citations. It names the survey's title, which no episode shows.

    Args:
        corpus: A corpus with surveys.
        output: File of JSON lines.
        surveys: Ids, or the first N; by default all with such a prompt.
        prompt: Level of the prompt, ``any`` for the most detailed one, or ``title``.
        templates: Folder with a template ``request.txt`` that replaces the one in the package, with
            the fields ``$request``, ``$cutoff`` and ``$title``.

    Returns:
        The number of lines.
    """
    tasks = TaskSet(corpus)
    fields = {"request": Fields(("request", "cutoff"), ("title",))}
    template = load_templates(fields, Path(__file__).parent / "prompts", templates)["request"]
    lines = []
    for survey in map(tasks.survey, choose_surveys(tasks, surveys, with_topic(tasks, prompt))):
        asked = topic_of(survey, prompt) or survey.title
        request = template.fill(request=asked, cutoff=survey.date, title=survey.title)
        line = {"id": survey.id, "request": request, "cutoff": survey.date, "domain": survey.domain}
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    atomic_write(output, "".join(lines))
    return len(lines)
