"""A mind-map, submitted with ``organize``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.answers.base import AnswerKind, answer, file_name, write_rows
from arena.kit.files import atomic_write

if TYPE_CHECKING:
    from arena.metrics import Metric, ScoreContext
    from arena.mindmap import MindMap


@answer("map")
class Map(AnswerKind):
    """A tree of headings with papers filed under them."""

    tool, argument, labels = "organize", "mind_map", "a mind-map"
    scored = ("map",)
    draws_labelled = surpassable = True
    noun = "mind-map"
    files = ("mind_maps.jsonl", "pictures/*.svg")

    def fits(self, value: Any) -> bool:
        """Return whether a value is an object."""
        return isinstance(value, dict)

    def read(self, value: Any) -> MindMap:
        """Return the tree; DataError where there is none."""
        from arena.mindmap import read_mind_map

        return read_mind_map(value)[0]

    def readers(self) -> list[type]:
        """Return the readers of texts and objects."""
        from arena.mindmap.readers import mind_map_readers

        return [type(reader) for reader in mind_map_readers()]

    def to_json(self, answer: MindMap) -> Any:
        """Return the tree as an object."""
        return answer.to_json()

    def has_labels(self, tasks: Any, topic_id: str) -> bool:
        """Return whether a topic has a mind-map; one can be made of the topic alone."""
        return tasks.mind_map(topic_id) is not None

    def allows(self, metric: Metric, tasks: Any, topic_id: str) -> bool:
        """Return whether the survey's own map has what a metric counts; some file no papers."""
        from arena.metrics import ScoreContext

        if not self.has_labels(tasks, topic_id):
            return False
        context = ScoreContext(tasks=tasks, topic_id=topic_id)
        return metric.score(*self.pair(None, metric.kind, context), context) is not None

    def compare(self, answer: Any, kind: str, context: ScoreContext) -> tuple[MindMap, MindMap]:
        """Return the tree, an empty one for no answer, and the survey's own."""
        from arena.mindmap import MindMap

        return answer or MindMap(""), context.tasks.mind_map(context.topic_id)

    def ideal(self, tasks: Any, topic_id: str) -> MindMap | None:
        """Return the survey's own tree with the papers in reach: no agent can submit others."""
        tree, expert = tasks.mind_map(topic_id), tasks.expert
        papers = tasks.expert_papers(topic_id) if expert else tasks.gold(topic_id).gains
        return None if tree is None else _limited(tree, papers)

    def places(self, answer: MindMap | None) -> dict[str, int]:
        """Return the papers that the tree files, without ranks."""
        return dict.fromkeys(answer.all_papers() if answer else (), 0)

    def floors(
        self, answers: Mapping[str, Any], tasks: Any, metrics: Sequence[str], encoder: Any
    ) -> dict[str, Any]:
        """Return `arena.mindmap.floors` over the topics that have a mind-map."""
        from arena.mindmap import MindMap, floors

        pairs = [
            (answer or MindMap(""), gold)
            for topic_id, answer in answers.items()
            if (gold := tasks.mind_map(topic_id)) is not None
        ]
        return floors(pairs, metrics, encoder) if pairs else {}

    def remark(self, answer: MindMap, tasks: Any, topic_id: str) -> str:
        """Return whether it files no paper, where the survey's own does."""
        gold = tasks.mind_map(topic_id)
        return answer.unfiled(gold) if gold else ""

    def panel(self, answer: MindMap, tasks: Any, topic_id: str) -> dict[str, Any]:
        """Return the tree, and the survey's own beside it, with what both agree on.

        A node has a label, children, the number of its match in the other tree or 0, and papers:
        [id, sign, place], where ``=`` is filed under a matching heading there, ``!`` elsewhere,
        and the place is that heading.
        """
        from arena.mindmap import matches

        own = tasks and tasks.mind_map(topic_id)
        if not own:
            return {"form": "trees", "value": [["submitted", _drawn(answer, {}, {})]]}
        mine, theirs = matches(answer, own)
        trees = (
            ["submitted", _drawn(answer, mine, _filed(own, theirs))],
            ["the survey's own", _drawn(own, theirs, _filed(answer, mine))],
        )
        return {"form": "trees", "value": trees}

    def tally(
        self, answer: MindMap | None, tasks: Any, topic_id: str
    ) -> list[tuple[str, int, int]]:
        """Return how many of the survey's headings match, and where its papers are filed.

        Papers out of reach, which no agent can file, are not counted.
        """
        from arena.mindmap import MindMap, matches

        if not (own := self.ideal(tasks, topic_id)):
            return []
        answer = answer or MindMap("")
        mine, theirs = matches(answer, own)
        there, here = _filed(answer, mine), _filed(own, theirs)
        both = [paper for paper in here if paper in there]
        same = sum(_agree(here[paper], there[paper]) for paper in both)
        matched = sum(node.label in theirs for level, node in own.levels() if level)
        return [
            ("headings of the survey that match", matched, own.size),
            ("papers in reach: under a matching heading", same, len(here)),
            ("papers in reach: filed elsewhere", len(both) - same, len(here)),
            ("papers in reach: not filed", len(here) - len(both), len(here)),
        ][: 4 if here else 1]

    def size(self, answer: MindMap) -> int:
        """Return the number of headings."""
        return answer.size

    def write(
        self, output: Path, stage: str, answers: Mapping[str, Any], tag: str, tasks: Any
    ) -> list[str]:
        """Write the maps, and a picture of each next to the survey's own if it has one."""
        names = ["mind_maps.jsonl"]
        write_rows(output / names[0], "mind_map", {s: m.to_json() for s, m in answers.items()})
        gold = {topic_id: tasks.mind_map(topic_id) for topic_id in answers}
        return names + write_pictures(output, answers, gold)


def write_pictures(
    output: Path, submitted: Mapping[str, MindMap], gold: Mapping[str, MindMap | None]
) -> list[str]:
    """Draw each submitted map, next to the survey's own if it has one; return the files' names."""
    from arena.mindmap.pictures import beside, draw

    names = []
    for topic_id, tree in submitted.items():
        names.append(f"pictures/{file_name(topic_id)}.svg")
        own = gold[topic_id]
        captions = ("submitted", "the survey's own")
        picture = draw([tree]) if own is None else beside(tree, own, captions)
        (output / "pictures").mkdir(exist_ok=True)
        atomic_write(output / names[-1], picture)
    return names


def _limited(tree: MindMap, papers: Collection[str]) -> MindMap:
    """Return a mind-map with those of its papers that are in `papers`."""
    return replace(
        tree,
        children=tuple(_limited(child, papers) for child in tree.children),
        papers=tuple(paper for paper in tree.papers if paper in papers),
    )


_Filed = Mapping[str, Mapping[str, int]]
"""Paper -> label of a heading under which it is filed -> its number, 0 without one."""


def _filed(tree: MindMap, numbers: Mapping[str, int]) -> _Filed:
    filed: dict[str, dict[str, int]] = {}
    for node in tree.nodes():
        for paper in node.papers:
            filed.setdefault(paper, {})[node.label] = numbers.get(node.label, 0)
    return filed


def _agree(here: Mapping[str, int], there: Mapping[str, int]) -> bool:
    """Return whether two trees file a paper under headings that match."""
    return any(number and number in there.values() for number in here.values())


def _drawn(node: MindMap, numbers: Mapping[str, int], there: _Filed) -> dict[str, Any]:
    """Return a node as `Map.panel` has it; `there` is where the other tree files papers."""
    here = {node.label: numbers.get(node.label, 0)}
    papers = [
        [p, "=" if _agree(here, there[p]) else "!", ", ".join(there[p])]
        if p in there
        else [p, "", ""]
        for p in node.papers
    ]
    return {
        "label": node.label,
        "match": here[node.label],
        "papers": papers,
        "children": [_drawn(child, numbers, there) for child in node.children],
    }
