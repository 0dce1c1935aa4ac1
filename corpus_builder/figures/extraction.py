"""From the figures of a survey to its mind-map, by two questions to language models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import Any, NamedTuple

from arena._internal.options import whole
from arena.errors import DataError
from arena.llm import Failed, Fields, ask
from arena.registry import check_options
from corpus_builder._model import client_options, open_model
from corpus_builder.figures.answers import read_name, read_tree
from corpus_builder.figures.folder import MAX_BYTES, Flaw, data_url, folder_name, read_folder

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
    """The result for one survey.

    Attributes:
        survey: Id of the survey.
        folder: Whether the survey has a folder of figures.
        figure: File name of the figure that a model chose, or None.
        mind_map: JSON text as a corpus keeps it, or None.
        flaws: What could not be used and why, in order.
    """

    survey: str
    folder: bool
    figure: str | None
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

    Raises:
        ArenaError: An option, a template or the store cannot be used.
    """

    def __init__(self, figures: Path, options: Mapping[str, Any]) -> None:
        check_options("extraction of mind-maps", options, (*_OWN, *client_options()))
        self._figures, self._images = figures, Semaphore(_IMAGES)
        llm = dict(options)
        vision, self._max_bytes = llm.pop("vision_model", None), llm.pop("max_bytes", MAX_BYTES)
        whole("max_bytes", self._max_bytes, 1, 100_000_000)
        self._reader, self._templates, pick = open_model(llm, TEMPLATES, PROMPTS)
        self._viewer, read = self._reader, pick
        if vision and vision != llm["model"]:
            self._viewer, _, read = open_model(llm | {"model": vision}, TEMPLATES, PROMPTS)
        self._config = {
            "pick": pick,
            "read": read,
            "prompts": {name: t.text for name, t in self._templates.items()},
            "max_bytes": self._max_bytes,
        }

    @property
    def config(self) -> dict[str, Any]:
        """Everything that shapes mind-maps besides figures, as JSON values, without any path."""
        return self._config

    def outcomes(self, surveys: Sequence[tuple[str, str]]) -> list[Outcome]:
        """Return the result of each survey, in order; the surveys are asked for in parallel.

        Args:
            surveys: Ids and titles, at best `BATCH` of them.

        Raises:
            LLMError: A model cannot be asked; the answers so far are kept.
        """
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
            return Outcome(survey, False, None, None, [])
        figures, flaws = read_folder(self._figures / name)
        figure = self._choose(title, figures, flaws) if figures else None
        tree = None
        if figure is not None:
            with self._images:
                path = self._figures / name / figure
                tree = self._read(path, title, figures[figure], flaws)
        return Outcome(survey, True, figure, tree, flaws)

    def _choose(self, title: str, figures: Mapping[str, str], flaws: list[Flaw]) -> str | None:
        lines = [
            json.dumps({"file": name, "caption": caption}, ensure_ascii=False)
            for name, caption in figures.items()
        ]
        messages = self._templates["pick"].messages(title=title, figures="\n".join(lines))
        answer = ask(self._reader, messages, partial(read_name, names=list(figures)))
        if isinstance(answer, Failed):
            flaws.append(_flaw("pick", "names no figure of the survey", answer))
            return None
        if answer is None:
            flaws.append(Flaw("pick", "no figure shows a taxonomy"))
        return answer

    def _read(self, path: Path, title: str, caption: str, flaws: list[Flaw]) -> str | None:
        try:
            url = data_url(path, self._max_bytes)
        except DataError as error:
            flaws.append(Flaw("read", "image unusable", f"{path.name}: {error}"))
            return None
        text = self._templates["read"].fill(title=title, caption=caption)
        content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        answer = ask(self._viewer, [{"role": "user", "content": content}], read_tree)
        if isinstance(answer, Failed):
            flaws.append(_flaw("read", "no mind-map in the answer", answer))
            return None
        if answer is None:
            flaws.append(Flaw("read", "the figure shows no hierarchy", path.name))
        return answer


def _flaw(step: str, reason: str, failed: Failed) -> Flaw:
    refused = failed.reason.startswith("the server refused")
    return Flaw(step, "refused by the server" if refused else reason, failed.reason[:300])
