"""The environment ``arena/Discovery-v0``."""

from __future__ import annotations

from arena.envs.core import SurveyEnv
from arena.envs.vector import SurveyVectorEnv


class DiscoveryEnv(SurveyEnv):
    """Find the papers that a survey cites (ResearchArena, section 5, Information Discovery).

    Description:
        Each episode is one survey. The agent learns its title, lower-cased, and its date. The
        corpus is as it was before that date: later papers, undated ones, the survey itself and
        all other surveys do not exist.

    Actions:
        ``{"tool": name, "arguments": {...}}`` or the same as JSON text, with the tools
        ``search(query, k=10, offset=0, retriever=None)``,
        ``read(paper_id, section=0, page=1)``, ``references(paper_id, page=1)``,
        ``citations(paper_id, page=1)``, ``select(paper_ids)``, ``submit(paper_ids)`` and
        ``finish()``.

    Observations:
        A dict of ``topic`` (str), ``cutoff`` (``YYYY-MM-DD``), ``stage`` (``"discovery"``),
        ``result`` (JSON text of the last tool's result, or ``{"error": ...}`` saying what to do)
        and ``budget`` (``steps``, ``searches``, ``reads`` and ``characters`` left, integers).

    Rewards:
        By default ``gain``: references shown for the first time, over those in reach.

    Episode end:
        Terminates at ``submit`` and ``finish``. Truncates, with nothing handed in, when the steps
        are used up, or a search, a read or characters are asked for when none are left.

    Arguments:
        Those of `SurveyEnv`.
    """

    task_name = "discovery"


class DiscoveryVectorEnv(SurveyVectorEnv):
    """Many episodes of `DiscoveryEnv` at once, their searches made together."""

    kind = DiscoveryEnv
