"""Several corpora in one environment: the topics of all, each played in its own corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.corpus import Corpus
from arena.envs._episode import ScoredEpisode
from arena.envs._factory import EpisodeFactory
from arena.envs.config import EnvConfig
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import sha256_json
from arena.samplers import Drawn

Corpora = Corpus | str | Path | Sequence[Corpus | str | Path]
"""The types that the argument `corpus` of an environment takes."""


class SeveralFactories:
    """The factories of several corpora, with the interface of one; ids are ``NAME/ID``."""

    tasks = None  # each has its own

    def __init__(self, factories: Mapping[str, EpisodeFactory]) -> None:
        self._factories = factories
        first = next(iter(factories.values()))
        self.action_space, self.observation_space = first.action_space, first.observation_space
        self.drawn: dict[str, Drawn] = self._joined("drawn")
        self.topics: dict[str, str] = self._joined("topics")

    def _joined(self, what: str) -> dict[str, Any]:
        each = {name: getattr(factory, what) for name, factory in self._factories.items()}
        return {f"{name}/{s}": value for name, of in each.items() for s, value in of.items()}

    @property
    def identity(self) -> dict[str, str]:
        """The parts that a saved state depends on, each the hash of those of all corpora."""
        each = {name: factory.identity for name, factory in self._factories.items()}
        parts = next(iter(each.values()))
        return {part: sha256_json({n: of[part] for n, of in each.items()}) for part in parts}

    def named(
        self, options: Mapping[str, Any] | None, known: Sequence[str] = ("topic_id",)
    ) -> str | None:
        """Return the id of the topic that ``reset(options=...)`` names, or None."""
        topic_id = (options or {}).get("topic_id")
        name, own = next(iter(self._factories)), None
        if topic_id is not None:
            name, own = _split(topic_id, self._factories)
        self._factories[name].named({**(options or {}), "topic_id": own}, known)
        return topic_id

    def start(self, topic_id: str) -> ScoredEpisode:
        """Return a new episode of a topic."""
        name, own = _split(topic_id, self._factories)
        episode = self._factories[name].start(own)
        episode.name = topic_id
        return episode


def _split(topic_id: object, names: Iterable[str]) -> tuple[str, str]:
    """Return the name of a corpus and the id of a topic in it."""
    name, _, own = str(topic_id).partition("/")
    if name not in names:
        raise UnknownNameError(
            f"the topic {clip(topic_id)} is of no corpus here.{did_you_mean(name, names)} Write "
            "CORPUS/ID, with the name of the corpus' directory."
        )
    return name, own


def open_factory(
    corpus: Corpora | None,
    config: EnvConfig,
    topics: Sequence[str] | int | None,
    tasks: str | Path | Sequence[str | Path] | None,
) -> EpisodeFactory | SeveralFactories:
    """Return the factory of a corpus, or that of a list of corpora with a task set for each.

    Ids in `topics` are then ``NAME/ID``; a number counts the topics of each corpus.
    """
    if not isinstance(corpus, list | tuple):
        return EpisodeFactory(corpus, config, topics, tasks)  # type: ignore[arg-type]
    places = [each.directory if isinstance(each, Corpus) else Path(each) for each in corpus]
    names = [place.resolve().name for place in places]
    sets = [None] * len(names) if tasks is None else tasks
    if not names or len(set(names)) < len(names) or isinstance(sets, str | Path):
        raise DataError(
            f"corpus={clip(names)}, tasks={clip(tasks)}: give corpora whose directories have "
            "different names, with which ids of topics begin, and a list of as many task sets."
        )
    chosen: dict[str, Any] = dict.fromkeys(names, topics)
    if isinstance(topics, list | tuple):
        pairs = [_split(topic_id, names) for topic_id in topics]
        chosen = {name: [own for of, own in pairs if of == name] for name in names}
    return SeveralFactories({
        name: EpisodeFactory(each, config, chosen[name], of)
        for name, each, of in zip(names, corpus, sets, strict=True)
        if chosen[name] != []
    })  # fmt: skip
