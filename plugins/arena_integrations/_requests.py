"""Requests to models: topics, with the rules of the game, and maps, after examples."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from arena.corpus import Corpus
from arena.dates import parse_cutoff
from arena.errors import DataError
from arena.kit.files import atomic_write
from arena.llm.prompts import Fields, load_templates
from arena.mindmap import MindMap
from arena.tasks import TaskSet, choose_topics, text_of, with_text


def write_requests(
    corpus: Corpus | str | Path,
    output: str | Path,
    *,
    topics: Sequence[str] | int | None = None,
    prompt: str = "any",
    templates: str | Path | None = None,
) -> int:
    """Write a line for each topic with what a system outside of the gym is asked for; count them.

    A line has ``id``, ``request``, ``cutoff`` and ``domain``. The request is the survey's prompt
    and the rules of ReportBench (appendix A.3): nothing from the cutoff on, not the survey itself,
    a survey in English with citations. It names the survey's title, which no episode shows. The
    options are those of ``arena export requests``.
    """
    tasks = TaskSet(corpus)
    fields = {"request": Fields(("request", "cutoff"), ("title",))}
    template = load_templates(fields, Path(__file__).parent / "prompts", templates)["request"]
    lines = []
    for topic in map(tasks.topic, choose_topics(tasks, topics, with_text(tasks, prompt))):
        asked = text_of(topic, prompt) or topic.text
        request = template.fill(request=asked, cutoff=topic.date, title=topic.text)
        line = {"id": topic.id, "request": request, "cutoff": topic.date, "domain": topic.domain}
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    atomic_write(output, "".join(lines))
    return len(lines)


def write_examples(
    corpus: Corpus | str | Path, output: str | Path, before: str, n: int = 2, seed: int = 0
) -> dict[str, list[str]]:
    """Write a prompt of `few-shot` with `n` sampled mind-maps of topics dated before a day.

    Of topics from that day on, no example is the target's, or later (ResearchArena, section 6.1);
    none has half of its headings in the map of one, as another one on the same subject may.
    Returns ids: ``examples``; ``leave out``, all earlier topics; ``play``, others with a mind-map.
    """
    tasks, day = TaskSet(corpus), str(parse_cutoff(before))
    early = [name for name, topic in tasks.topics.items() if topic.date < day]
    maps = {name: tree for name in tasks.topics if (tree := tasks.mind_map(name)) is not None}
    labels = {name: {label.casefold() for label in tree.labels()} for name, tree in maps.items()}
    play = [s for s in maps if s not in early]
    known = [s for s in maps if s in early
             and all(2 * len(labels[s] & labels[of]) < len(labels[s]) for of in play)]  # fmt: skip
    if not 1 <= n <= len(known) or not play:
        raise DataError(
            f"before={day}: {len(known)} earlier mind-maps can be examples for the {len(play)} "
            f"from that day on. n={n} and one to play are needed: choose another day."
        )

    def below(node: MindMap) -> Any:
        return {child.label: below(child) for child in node.children} or None

    text, chosen = "", random.Random(seed).sample(known, n)
    for name in chosen:
        topic, typology = tasks.topic(name).text.lower(), below(maps[name])
        shown = [s.replace("<", "&lt;") for s in (topic, json.dumps(typology, ensure_ascii=False))]
        text += "<topic>\n{}\n</topic>\n\n<typology>\n{}\n</typology>\n\n".format(*shown)
    file = files("baselines") / "prompts/few-shot/map.txt"
    start, _, rest = file.read_text(encoding="utf-8").partition("<topic>")
    prompt = start + text.replace("$", "$$") + rest.rpartition("</typology>\n\n")[2]
    Path(output).mkdir(parents=True, exist_ok=True)
    atomic_write(Path(output) / "map.txt", prompt)
    return {"examples": chosen, "leave out": early, "play": play}
