"""From the figures of a survey to its mind-map (ResearchArena, section 3.3), by two questions."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import Any, NamedTuple

from arena.errors import DataError, clip
from arena.kit.options import check_names
from arena.llm import (
    Failure,
    Fields,
    LLMError,
    ParseError,
    as_json,
    ask,
    tagged,
    unfenced,
    without_thoughts,
)
from arena.mindmap import MindMap, read_mind_map
from arena.mindmap.figures import MAX_BYTES, data_url, folder_name
from corpus_builder.asking import client_options, open_model
from corpus_builder.figures import Flaw, read_folder

PROMPTS = Path(__file__).resolve().parent.parent / "prompts" / "mind_map"
TEMPLATES = {
    "pick": Fields(required=("figures",), optional=("title",)),
    "read": Fields(optional=("title", "caption")),
}
BATCH = 32
"""Surveys whose captions are shown at once."""

_IMAGES = 4  # in memory at once
_OWN = ("model", "vision_model", "prompts", "max_bytes")


class Outcome(NamedTuple):
    """The result for one survey: whether it has a folder, the chosen figure, and its mind-map.

    `caption` is that of the figure.
    """

    survey: str
    folder: bool
    figure: str | None
    caption: str | None
    mind_map: str | None
    flaws: list[Flaw]


class Extraction:
    """Has a figure chosen by its caption, and read by a model that sees it.

    ResearchArena, section 3.3 and figure 3, with the settings of appendix A.

    Args:
        figures: Folder with a folder of figures for each survey.
        options: ``model`` (required), ``vision_model`` (default: the same), ``prompts`` (a folder
            with your own ``pick.txt`` or ``read.txt``), ``max_bytes`` (of a figure, default
            10,000,000), and the options of `arena.llm.Client`.

    Attributes:
        config: Everything that shapes mind-maps besides figures, as JSON values, without any path.
    """

    def __init__(self, figures: Path, options: Mapping[str, Any]) -> None:
        check_names("extraction of mind-maps", options, (*_OWN, *client_options()))
        self._figures, self._images = figures, Semaphore(_IMAGES)
        llm = dict(options)
        vision, self._max_bytes = llm.pop("vision_model", None), llm.pop("max_bytes", MAX_BYTES)
        if self._max_bytes not in range(1, 100_000_001):
            raise DataError(f"max_bytes={clip(self._max_bytes)}: give 1 to 100,000,000.")
        self._reader, self._templates, pick = open_model(llm, TEMPLATES, PROMPTS)
        self._viewer, read = self._reader, pick
        if vision and vision != llm["model"]:
            self._viewer, _, read = open_model(llm | {"model": vision}, TEMPLATES, PROMPTS)
        prompts = {name: template.text for name, template in self._templates.items()}
        self.config = {"pick": pick, "read": read, "prompts": prompts, "max_bytes": self._max_bytes}

    def outcomes(self, surveys: Sequence[tuple[str, str]]) -> list[Outcome]:
        """Return the result of each survey, in order; the surveys are asked for in parallel."""
        self._reader.check()
        # The clients themselves bound the requests in flight.
        pool = ThreadPoolExecutor(max(1, len(surveys)))
        try:
            return list(pool.map(lambda survey: self._outcome(*survey), surveys))
        finally:
            pool.shutdown(cancel_futures=True)

    def _outcome(self, survey: str, title: str) -> Outcome:
        name = folder_name(survey)
        if name is None or not (self._figures / name).is_dir():
            return Outcome(survey, False, None, None, None, [])
        figures, flaws = read_folder(self._figures / name)
        figure = tree = None
        try:
            figure = self._choose(title, figures, flaws) if figures else None
            if figure is not None:
                with self._images:
                    path = self._figures / name / figure
                    tree = self._read(path, title, figures[figure], flaws)
        except LLMError as error:
            about = f", figure {figure!r}" if figure else ""
            error.args = (f"survey {clip(survey)}{about}: {error}",)
            raise
        return Outcome(survey, True, figure, figures.get(figure or ""), tree, flaws)

    def _choose(self, title: str, figures: Mapping[str, str], flaws: list[Flaw]) -> str | None:
        lines = [
            json.dumps({"file": name, "caption": caption}, ensure_ascii=False)
            for name, caption in figures.items()
        ]
        messages = self._templates["pick"].messages(title=title, figures="\n".join(lines))
        answer = ask(self._reader, messages, partial(read_name, names=list(figures)))
        none = Flaw("pick", "no figure shows a taxonomy")
        return _noted(answer, "names no figure of the survey", none, flaws)

    def _read(self, path: Path, title: str, caption: str, flaws: list[Flaw]) -> str | None:
        try:
            url = data_url(path, self._max_bytes)
        except DataError as error:
            flaws.append(Flaw("read", "image unusable", f"{path.name}: {error}"))
            return None
        text = self._templates["read"].fill(title=title, caption=caption)
        content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        answer = ask(self._viewer, [{"role": "user", "content": content}], read_tree)
        none = Flaw("read", "the figure shows no hierarchy", path.name)
        return _noted(answer, "no mind-map in the answer", none, flaws)


def _noted(answer: str | Failure | None, unread: str, none: Flaw, flaws: list[Flaw]) -> str | None:
    """Return an answer, or None, of which a flaw says why."""
    if isinstance(answer, Failure):
        refused = answer.reason.startswith("the server refused")
        reason = "refused by the server" if refused else unread
        flaws.append(Flaw(none.step, reason, answer.reason[:300]))
        return None
    if answer is None:
        flaws.append(none)
    return answer


# The answers of a model: the name of a figure, and the tree in it.

_NONE = frozenset({"null", "none"})
_AROUND = " \t\r\n`'\"*"
_COMMA = re.compile(r",(?=\s{0,200}[}\]])")
_OPENS, _CLOSES = re.compile(r"<\s{0,5}typology\b", re.I), re.compile(r"</\s{0,5}typology\b", re.I)


def read_name(text: str, names: Collection[str]) -> str | None:
    """Return the one of `names` that an answer says, or None if it says NULL.

    >>> read_name("The figure is `2-Figure1-1.png`.", ["2-Figure1-1.png", "12-Figure1-1.png"])
    '2-Figure1-1.png'
    """
    plain = _plain(without_thoughts(text))
    if plain in names:
        return plain
    if plain.casefold() in _NONE:
        return None
    said = [n for n in names if re.search(rf"(?<![\w./\\-]){re.escape(n)}(?![\w/\\-])", plain)]
    if len(said) != 1:
        raise ParseError(f"{clip(plain)} is not the name of one of the figures, nor NULL.")
    return said[0]


def _plain(text: str) -> str:
    """Return a text without the marks and the full stop that may stand around a word."""
    return text.strip(_AROUND).rstrip("." + _AROUND)


def read_tree(text: str) -> str | None:
    """Return the mind-map in an answer as the gold maps of a corpus are kept, as JSON text.

    None if the answer is NULL. Papers are left out: a figure names none that a corpus knows.
    An answer that was cut off is none: half a map would be a wrong label.
    """
    plain = without_thoughts(text)
    opened, closed = _OPENS.search(plain), _CLOSES.search(plain)
    if opened and not closed:
        raise ParseError("It ends before </typology>.")
    inside = tagged(plain, "typology") if opened else unfenced(plain)
    if _plain(inside).casefold() in _NONE:
        return None
    tree = _tree(inside, loosely=opened is not None)
    if not tree.labels():
        raise ParseError("There is no label in it.")
    return json.dumps(_bare(tree).to_json())


def _tree(text: str, loosely: bool) -> MindMap:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=len(text))
    part = text[start : max(text.rfind("}"), text.rfind("]")) + 1]
    if not part:
        raise ParseError("There is no JSON object in it.")
    problem = ""
    # A comma after the last entry, as in figure 2 of the paper, is no mistake.
    for repair in (str, lambda part: _COMMA.sub("", part), as_json)[: 3 if loosely else 2]:
        try:
            return read_mind_map(repair(part))[0]
        except DataError as error:
            problem = problem or str(error)
    raise ParseError(problem)


def _bare(tree: MindMap) -> MindMap:
    """Return a tree without its papers."""
    return MindMap(tree.label, tuple(map(_bare, tree.children)))
