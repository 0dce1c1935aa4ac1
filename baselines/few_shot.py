"""Few-shot: a language model draws the mind-map from the topic alone, after examples of maps."""

from __future__ import annotations

from typing import Any

from arena.agents import AGENTS, Desk, Steps
from arena.llm import Fields, LLMAgent, ParseError
from arena.mindmap.tree import MAX_HEADINGS, MindMap
from baselines.parts.trees import json_of, read_tree


@AGENTS.register("few-shot")
class FewShot(LLMAgent):
    """A map that a model draws from the topic alone (ResearchArena, section 6.1 and appendix C.3).

    It files no papers, and in Survey finds papers as `title` does. The paper shows the model "a few
    random examples of extracted typologies"; the examples in the template here are made up and
    from other fields, since a survey's own map would be a gold label.

    An answer without a heading, or one that repeats an example, is a failed step, and no map is
    submitted. Of a map with more than 500 headings, the upper levels are submitted.
    """

    folder = "few-shot"
    templates = {"map": Fields(required=("topic",), optional=("cutoff",))}  # noqa: RUF012

    def organize(self, desk: Desk) -> Steps[None]:
        """Ask once; take no action."""

        def parse(text: str) -> MindMap:
            return _mind_map(json_of(text, self.template("map").text), desk.topic)

        desk.mind_map = self.ask("map", parse, topic=desk.topic, cutoff=desk.cutoff) or None
        yield from ()


def _mind_map(value: Any, topic: str) -> MindMap:
    root = read_tree(value).root
    kept = root.levels()[: MAX_HEADINGS + 1]
    if len(kept) == 1:
        raise ParseError("There is no heading in it.")
    known = set(map(id, kept))
    for node in kept:
        node.children = {name: c for name, c in node.children.items() if id(c) in known}
    return root.mind_map(topic)
