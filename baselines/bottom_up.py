"""Bottom-up and few-shot: a language model draws the tree of topics.

Bottom-up groups papers, each of them in one leaf; few-shot begins with the topic alone.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal

from annotated_types import Ge

from arena.agents import Desk, KnownPaper, Steps, agent
from arena.llm import Fields, LLMAgent, ParseError
from arena.mindmap.tree import MAX_HEADINGS, MindMap
from baselines.parts.trees import Topic, Tree, json_of, read_tree

OTHER = "Other"  # leaf of the papers that the model filed nowhere
GENERAL = "General"  # leaf of the papers that the model filed under a heading with others below it

_NUMBERS = re.compile(
    r"\W{0,9}(?:(?:papers?|no|p)\W{0,3})?[0-9]{1,9}(?:[\s,;\[\]]{1,9}[0-9]{1,9})*\W{0,9}", re.I
)
_LED = re.compile(r"\W{0,3}(?:paper\s{0,3})?([0-9]{1,9})\s{0,3}[\].:)]", re.I)
_WORDS = re.compile(r"\w+")

LONGEST_ABSTRACT = 6_000  # characters of an abstract, and a digest after it, in a request

_LISTED = 50  # most unknown papers that a request for repair lists


@agent("bottom-up")
class BottomUp(LLMAgent):
    """TaxoBench's Bottom-Up mode: papers are grouped by theme, and each is in exactly one leaf.

    It finds and reads papers as ``clustering`` does. The model reads numbered papers and answers
    with the numbers.

    One request builds the tree. Papers that do not fit into one request are divided into batches:
    the first builds the tree, each further one is filed into it and may add headings. If papers
    are lost or filed twice, one round of repair follows: a request lists these papers, and the
    model files them again. Papers lost after it go to a leaf "Other", papers filed twice keep
    their first place, and unknown numbers are dropped. A paper at a heading with others below it
    goes to a leaf "General" there, and headings without papers are left out.

    A batch whose answer cannot be read is lost, and the next one builds the tree; if none does, no
    map is submitted. When a limit of the episode is reached, the tree so far is submitted, with
    the papers that are not in it under "Other".

    Args:
        show: ``"abstracts"``: the model reads titles and abstracts (the paper's setting Title +
            Abstract), followed by the digest if the environment shows one (its two others), at most
            6,000 characters; ``"titles"``: it reads titles alone.
        max_papers: Most papers in a request, >= 1.
        max_characters: Most characters of papers in a request, >= 1; one paper always fits.
    """

    folder = "bottom-up"
    templates = {  # noqa: RUF012
        "tree": Fields(required=("topic", "papers"), optional=("count",)),
        "file": Fields(required=("topic", "papers", "tree"), optional=("count",)),
        "repair": Fields(
            required=("topic", "papers", "tree"), optional=("count", "lost", "doubled", "unknown")
        ),
    }

    def __init__(
        self,
        seed: int = 0,
        show: Literal["abstracts", "titles"] = "abstracts",
        max_papers: Annotated[int, Ge(1)] = 200,
        max_characters: Annotated[int, Ge(1)] = 200_000,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._show = show
        self._most = max_papers, max_characters
        self._filing = Filing("", ())
        self._counts = dict.fromkeys(("papers", "abstracts", "lost", "doubled"), 0)

    def organize(self, desk: Desk) -> Steps[None]:
        """Build the tree and repair it; no map if there is no paper or no tree."""
        if not desk.papers:
            yield from self.discover(desk)
        if self._show == "abstracts":
            for paper_id in list(desk.papers):
                yield from desk.read(paper_id)
        papers = list(desk.papers.values())
        shown = [_shown(number, paper) for number, paper in enumerate(papers, 1)]
        filing = self._filing = Filing(desk.topic, [paper.title for paper in papers])
        self._counts |= {"papers": len(papers), "abstracts": desk.read_count}
        sizes = [len(text) + 1 for text in shown]
        for batch in batches(range(1, len(papers) + 1), sizes, *self._most):
            self._file("file" if filing.root.children else "tree", batch, shown, desk)
        if not filing.root.children:
            return
        lost, doubled = filing.lost, sorted(filing.doubled)
        self._counts |= {"lost": len(lost), "doubled": len(doubled)}
        for batch in batches(sorted({*lost, *doubled}), sizes, *self._most):
            problems: dict[str, list[Any]] = {
                "lost": [number for number in lost if number in batch],
                "doubled": [number for number in doubled if number in batch],
                "unknown": list(dict.fromkeys(filing.unknown))[:_LISTED],
            }
            texts = {name: ", ".join(map(str, p)) or "none" for name, p in problems.items()}
            self._file("repair", batch, shown, desk, **texts)

    def notes(self) -> dict[str, Any]:
        """Return those of `LLMAgent`, and ``filing``: counts of papers.

        ``papers``, ``abstracts`` read, ``lost`` and ``doubled`` before the repair, ``unknown``
        entries, and ``other``: papers that the model did not file.
        """
        filing = self._filing
        counts = self._counts | {"unknown": len(filing.unknown), "other": len(filing.lost)}
        return super().notes() | {"filing": counts}

    def _file(
        self, template: str, batch: Sequence[int], shown: Sequence[str], desk: Desk, **problems: str
    ) -> None:
        """Ask where the papers of a batch belong, and put the map on the desk."""
        filing, asked = self._filing, set(batch)
        values: dict[str, str | int] = {
            "topic": desk.topic,
            "papers": "\n".join(shown[number - 1] for number in batch),
            "count": len(batch),
        }
        if template != "tree":
            values["tree"] = "\n".join(filing.root.lines())
        question = self.template(template).text
        answer = self.ask(
            template, lambda text: filing.read(json_of(text, question), asked), **values, **problems
        )
        if answer:
            filing.take(answer, asked)
            desk.mind_map = filing.mind_map(list(desk.papers))


def _shown(number: int, paper: KnownPaper) -> str:
    """Return a paper as a request lists it; no text of the paper can begin a line."""
    lines = [f"[{number}] {' '.join(paper.title.split()) or '(no title)'}"]
    if abstract := " ".join(paper.abstract.split())[:LONGEST_ABSTRACT]:
        lines.append(f"    Abstract: {abstract}")
    return "\n".join(lines)


def batches(
    numbers: Sequence[int], sizes: Sequence[int], most: int, characters: int
) -> list[list[int]]:
    """Deal numbers, as cards, into about as few batches as can contain them.

    So every batch is a sample of all papers; contiguous batches of papers in the order of their
    dates would put the oldest into the first one.
    """
    total = sum(sizes[number - 1] for number in numbers)
    count = max(math.ceil(len(numbers) / most), math.ceil(total / characters), 1)
    dealt: list[list[int]] = [[] for _ in range(count)]
    filled = [0] * count
    for turn, number in enumerate(numbers):
        size = sizes[number - 1]
        for step in range(count):
            place = (turn + step) % count
            fits = len(dealt[place]) < most and filled[place] + size <= characters
            if fits or not dealt[place]:
                break
        else:
            dealt.append([])
            filled.append(0)
            place, count = count, count + 1
        dealt[place].append(number)
        filled[place] += size
    return [batch for batch in dealt if batch]


class Filing:
    """A tree of headings and the papers filed in it.

    `doubled` are numbers that one answer filed in several places, `unknown` entries that are no
    papers.
    """

    def __init__(self, topic: str, titles: Sequence[str]) -> None:
        self.root = Topic("")
        self.doubled: set[int] = set()
        self.unknown: list[str] = []
        self._count = len(titles)
        self._titles: dict[str, int] = {}
        for number, title in enumerate(titles, 1):
            self._titles.setdefault(_bare(title), number)
        self._titles.pop("", None)
        self._topic = topic
        self._names = {topic.casefold()}  # of the root, in what the model wrote
        self._places: dict[int, Topic] = {}

    @property
    def lost(self) -> list[int]:
        """Numbers that are filed nowhere."""
        return sorted(set(range(1, self._count + 1)).difference(self._places))

    def read(self, value: Any, asked: Collection[int]) -> Tree:
        """Return the tree in the JSON of an answer; it has a heading, and a paper in `asked`."""
        tree = read_tree(value, self._papers)
        nodes = tree.root.levels()
        if len(nodes) == 1 and self._beginning(tree) is self.root:
            raise ParseError("There is no heading in it.")
        if not any(number in asked for node in nodes for number in node.papers):
            raise ParseError("None of the papers is filed in it, by its number.")
        return tree

    def take(self, tree: Tree, asked: Collection[int]) -> None:
        """File the papers in `asked` as in the tree of an answer, each at its first place there.

        A heading of the answer is the heading of the tree with the same label and parent. A
        heading at the top of the answer that is not at the top of the tree, and once further down,
        is that one. Other papers stay where they are.
        """
        top, begun = tree.root, bool(self.root.children)
        waiting = [(top, self._beginning(tree))]
        self.unknown += tree.unknown
        if tree.label and not begun:
            self._names.add(tree.label.casefold())
        elif not begun and not top.papers and len(top.children) == 1:
            (only,) = top.children.values()
            if only.children:  # one heading above all others: the root
                self._names.add(only.label.casefold())
                top = only
                waiting = [(top, self.root)]
        seen: set[int] = set()
        known = self.root.levels()
        while waiting:
            node, place = waiting.pop()
            for number in node.papers:
                if number in seen:
                    if self._places[number] is not place:
                        self.doubled.add(number)
                elif number in asked:
                    seen.add(number)
                    if number in self._places:
                        self._places[number].papers.remove(number)
                    place.papers.append(number)
                    self._places[number] = place
                elif number > self._count or number < 1:
                    self.unknown.append(str(number))
            places = []
            for child in node.children.values():
                at_top = begun and place is self.root
                below = self._known(child.label, known) if at_top else None
                places.append((child, below or place.child(child.label)))
            waiting.extend(reversed(places))

    def mind_map(self, ids: Sequence[str]) -> MindMap:
        """Return the map, each paper in exactly one leaf, at most 500 headings.

        Lost papers are in a leaf "Other", those of a heading with others below it in a leaf
        "General" below it; headings without papers are left out. Of more than 500 headings the
        lowest are removed, the last ones first: their papers go to the heading above, and those
        of leaves at the top to "Other".
        """
        root = copy.deepcopy(self.root)
        if lost := self.lost:
            root.child(OTHER).papers += lost
        for node in reversed(root.levels()):
            node.children = {k: c for k, c in node.children.items() if c.children or c.papers}
        for node in root.levels():
            if node.children and node.papers:
                node.child(GENERAL).papers += node.papers
                node.papers = []
        _fold(root)
        return root.mind_map(self._topic, ids)

    def _papers(self, item: object, listed: bool) -> list[int]:
        if isinstance(item, float):
            return [int(item)] if item.is_integer() else []
        if isinstance(item, int):
            return [item]
        text = str(item)
        if number := self._titles.get(_bare(text)):
            return [number]
        if _NUMBERS.fullmatch(text):
            return [int(digits) for digits in re.findall(r"[0-9]+", text)]
        led = _LED.match(text) if listed else None
        return [int(led[1])] if led else []

    def _beginning(self, tree: Tree) -> Topic:
        """Return the node that the root of an answer names: the root or a heading."""
        if not tree.label or tree.label.casefold() in self._names:
            return self.root
        return self._known(tree.label, self.root.levels()) or self.root

    def _known(self, label: str, known: Sequence[Topic]) -> Topic | None:
        """Return the heading that a label at the top of an answer names; None if it is new."""
        name = label.casefold()
        if name in self.root.children:
            return self.root.children[name]
        if name in self._names:
            return self.root
        alike = [node for node in known if node.level and node.label.casefold() == name]
        return alike[0] if len(alike) == 1 else None


def _bare(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


def _fold(root: Topic) -> None:
    """Remove headings beyond the most that a map may have, the lowest and last ones first."""
    nodes = root.levels()
    size = len(nodes) - 1
    for node in reversed(nodes[1:]):  # everything below it was removed before
        if size <= MAX_HEADINGS:
            return
        size -= len(node.children)
        for child in node.children.values():
            node.papers += child.papers
        node.children = {}
    if size > MAX_HEADINGS:
        other = root.children.pop(OTHER.casefold(), None) or Topic(OTHER, 1)
        for name in list(root.children)[MAX_HEADINGS - 1 :]:
            other.papers += root.children.pop(name).papers
        root.children[OTHER.casefold()] = other


@agent("few-shot")
class FewShot(LLMAgent):
    """A map that a model draws from the topic alone (ResearchArena, section 6.1 and appendix C.3).

    It files no papers, and in Topic finds papers as `title` does. The paper shows the model "a few
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
            root = read_tree(json_of(text, self.template("map").text)).root
            kept = root.levels()[: MAX_HEADINGS + 1]
            if len(kept) == 1:
                raise ParseError("There is no heading in it.")
            known = set(map(id, kept))
            for node in kept:
                node.children = {name: c for name, c in node.children.items() if id(c) in known}
            return root.mind_map(desk.topic)

        desk.mind_map = self.ask("map", parse, topic=desk.topic, cutoff=desk.cutoff) or None
        yield from ()
