"""From the figures of a survey to its mind-map, by two questions to language models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import DataError, clip, did_you_mean
from arena.llm import Failed, Fields, ask, ask_many
from corpus_builder._model import client_of, client_options, shaping, templates_of
from corpus_builder.figures.answers import read_name, read_tree
from corpus_builder.figures.folder import (
    MAX_BYTES,
    Flaw,
    Folder,
    data_url,
    folder_name,
    read_folder,
)

PROMPTS = Path(__file__).resolve().parent.parent / "prompts" / "mind_map"
TEMPLATES = {
    "pick": Fields(required=("figures",), optional=("title",)),
    "read": Fields(optional=("title", "caption")),
}
BATCH = 32
"""Surveys whose captions are shown at once."""

_IMAGES = 4  # in memory at once
_CLIENT = client_options()
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
        known = (*_OWN, *_CLIENT)
        for name in options:
            if name not in known:
                raise DataError(f"mind_maps.options: no {clip(name)}.{did_you_mean(name, known)}")
        given = _CLIENT | {name: value for name, value in options.items() if name in _CLIENT}
        self._figures = figures
        self._templates = templates_of(TEMPLATES, PROMPTS, options.get("prompts"))
        self._max_bytes = options.get("max_bytes", MAX_BYTES)
        if type(self._max_bytes) is not int or not 1 <= self._max_bytes <= 100_000_000:
            raise DataError(f"max_bytes={clip(self._max_bytes)}: give 1 to 100,000,000.")
        model = options.get("model")
        vision = options.get("vision_model") or model
        self._reader = client_of(model, given)
        self._viewer = self._reader if vision == model else client_of(vision, given)
        self._config = {
            "pick": shaping(model, given),
            "read": shaping(vision, given),
            "prompts": {name: t.text for name, t in self._templates.items()},
            "max_bytes": self._max_bytes,
        }

    @property
    def config(self) -> dict[str, Any]:
        """Everything that shapes mind-maps besides figures, as JSON values, without any path."""
        return self._config

    def outcomes(self, surveys: Sequence[tuple[str, str]]) -> Iterator[Outcome]:
        """Yield the result of each survey, in order.

        Args:
            surveys: Ids and titles, at best `BATCH` of them.

        Raises:
            LLMError: A model cannot be asked; the answers so far are kept.
        """
        self._reader.check()
        folders = [self._folder(survey) for survey, _ in surveys]
        answers = self._choose([title for _, title in surveys], folders)
        outcomes = []
        for (survey, _), folder, answer in zip(surveys, folders, answers, strict=True):
            flaws = list(folder.flaws) if folder else []
            if isinstance(answer, Failed):
                flaws.append(_flaw("pick", "names no figure of the survey", answer))
            elif answer is None and folder and folder.figures:
                flaws.append(Flaw("pick", "no figure shows a taxonomy"))
            figure = answer if isinstance(answer, str) else None
            outcomes.append(Outcome(survey, folder is not None, figure, None, flaws))
        for at in range(0, len(outcomes), _IMAGES):
            few = slice(at, at + _IMAGES)
            captions = [
                folder.figures[outcome.figure] if folder and outcome.figure else ""
                for folder, outcome in zip(folders[few], outcomes[few], strict=True)
            ]
            titles = [title for _, title in surveys[few]]
            yield from self._read(outcomes[few], titles, captions)

    def _folder(self, survey: str) -> Folder | None:
        name = folder_name(survey)
        if name is None or not (self._figures / name).is_dir():
            return None
        return read_folder(self._figures / name)

    def _choose(
        self, titles: Sequence[str], folders: Sequence[Folder | None]
    ) -> list[str | Failed | None]:
        """Ask for a figure of each survey that has some, each by its own names, in parallel."""

        def choose(title: str, folder: Folder | None) -> str | Failed | None:
            if folder is None or not folder.figures:
                return None
            lines = [
                json.dumps({"file": name, "caption": caption}, ensure_ascii=False)
                for name, caption in folder.figures.items()
            ]
            messages = self._templates["pick"].messages(title=title, figures="\n".join(lines))
            return ask(self._reader, messages, partial(read_name, names=list(folder.figures)))

        # The client itself bounds the requests in flight.
        pool = ThreadPoolExecutor(max(1, len(titles)))
        try:
            return list(pool.map(choose, titles, folders))
        finally:
            pool.shutdown(cancel_futures=True)

    def _read(
        self, outcomes: Sequence[Outcome], titles: Sequence[str], captions: Sequence[str]
    ) -> Iterator[Outcome]:
        """Ask for the trees in the chosen figures."""
        messages: list[Sequence[Mapping[str, Any]]] = []
        asked: list[int] = []
        for number, outcome in enumerate(outcomes):
            if outcome.figure is None:
                continue
            path = self._figures / str(folder_name(outcome.survey)) / outcome.figure
            try:
                url = data_url(path, self._max_bytes)
            except DataError as error:
                detail = f"{outcome.figure}: {error}"
                outcome.flaws.append(Flaw("read", "image unusable", detail))
                continue
            text = self._templates["read"].fill(title=titles[number], caption=captions[number])
            content = [
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": url}},
            ]
            messages.append([{"role": "user", "content": content}])
            asked.append(number)
        answers = dict(zip(asked, ask_many(self._viewer, messages, read_tree), strict=True))
        for number, outcome in enumerate(outcomes):
            answer = answers.get(number)
            if isinstance(answer, Failed):
                outcome.flaws.append(_flaw("read", "no mind-map in the answer", answer))
            elif answer is None and number in answers:
                detail = str(outcome.figure)
                outcome.flaws.append(Flaw("read", "the figure shows no hierarchy", detail))
            yield outcome._replace(mind_map=answer if isinstance(answer, str) else None)


def _flaw(step: str, reason: str, failed: Failed) -> Flaw:
    refused = failed.reason.startswith("the server refused")
    return Flaw(step, "refused by the server" if refused else reason, failed.reason[:300])
