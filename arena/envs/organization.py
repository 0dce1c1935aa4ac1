"""The environment ``arena/Organization-v0``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gymnasium.utils import EzPickle

from arena.corpus import Corpus
from arena.envs._given import Given, given
from arena.envs._setting import opened
from arena.envs.core import SurveyEnv
from arena.envs.vector import SurveyVectorEnv


class OrganizationEnv(SurveyEnv):
    """Draw the mind-map of a survey (ResearchArena, section 5, Information Organization).

    Description:
        As `arena/Discovery-v0`, but what is handed in is a tree of headings. With
        ``references="oracle"`` the episode begins with the references of the survey that are in
        reach, in order of their dates (the paper's intermediate version); with ``"found"`` with
        those that a run found, or with none, to be searched for (its end-to-end version).

    Actions:
        As in `arena/Discovery-v0`, with ``organize(mind_map)`` instead of ``submit``.

    Observations:
        As in `arena/Discovery-v0`; the stage is ``"organization"``. The first ``result`` has
        ``references``, the papers given: id, title and date.

    Rewards:
        By default ``final``: heading soft F1 of the mind-map.

    Episode end:
        Terminates at ``organize`` and ``finish``, which hands in nothing here. Truncates as
        `arena/Discovery-v0`.

    Arguments:
        references: ``"oracle"`` or ``"found"``.
        found: with ``"found"``, a run (``run.trec`` or the directory of a run) or a mapping of
            survey ids to paper ids, best first.

        Besides those of `SurveyEnv`. By default the surveys with a mind-map are played.
    """

    task_name = "organization"

    def __init__(
        self,
        corpus: Corpus | str | Path,
        references: str = "oracle",
        found: Mapping[str, Sequence[str]] | str | Path | None = None,
        **arguments: Any,
    ) -> None:
        there = opened(corpus)
        self._begins_with = given(references, found, there)
        super().__init__(there, **arguments)
        EzPickle.__init__(self, corpus, references, found, **arguments)

    def _given(self) -> Given | None:
        return self._begins_with


class OrganizationVectorEnv(SurveyVectorEnv):
    """Many episodes of `OrganizationEnv` at once, their searches made together."""

    kind = OrganizationEnv
