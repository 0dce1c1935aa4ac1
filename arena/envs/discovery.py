"""The environment ``arena/Discovery-v0``."""

from __future__ import annotations

from arena.envs.core import SurveyEnv


class DiscoveryEnv(SurveyEnv):
    """Find the papers that a survey cites (ResearchArena, section 5, Information Discovery).

    Description:
        Each episode is one survey. The agent learns its title, lower-cased, and its date. The
        corpus is as it was before that date: later papers, undated ones, the survey itself and
        all other surveys do not exist.

    Actions:
        ``{"tool": name, "arguments": {...}}`` or the same as JSON text, with the tools
        ``search(query, k=10)``, ``read(paper_id, section=0, page=1)`` and
        ``submit(paper_ids)``.

    Observations:
        A dict of ``topic`` (str), ``cutoff`` (``YYYY-MM-DD``), ``result`` (JSON text of the last
        tool's result, or ``{"error": ...}`` saying what to do) and ``budget`` (``steps`` and
        ``searches`` left, integers).

    Rewards:
        Recall@100 of the submission, 0 on every other step.

    Episode end:
        Terminates at ``submit``. Truncates, with nothing submitted, when the steps are used up
        or a search is asked for when none is left.

    Arguments:
        Those of `SurveyEnv`.
    """

    task_name = "discovery"
