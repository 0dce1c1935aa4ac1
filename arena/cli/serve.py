"""``arena serve``: a corpus for agents and trainers of other frameworks."""

from __future__ import annotations

from typing import Any

from arena._internal.lazy import require
from arena.errors import DataError


def retrieve(
    *,
    corpus: str,
    before: str | None = None,
    topk: int = 3,
    retriever: str = "bm25",
    retriever_option: dict[str, Any] | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve Search-R1's /retrieve, for Search-R1, verl and SkyRL.

    Args:
        before (DATE): First day out of reach: YYYY-MM-DD, YYYY-MM (its last day) or YYYY
            (31 December). Without it, each URL names one: /retrieve?before=2015-01-01.
        topk: Papers of a query that names no number.
        retriever_option: Option of the engine, such as statistics=corpus.

    Example:
        arena serve retrieve --corpus demo/world --before 2015-01-01
    """
    from arena.doors import serve
    from arena.doors.retrieve import Searcher, make_app

    searcher = Searcher(corpus, before, retriever, retriever_option, topk)
    serve(make_app(searcher), host, port, "/retrieve")


def mcp(
    *,
    corpus: str,
    task: str | None = None,
    before: str | None = None,
    retriever: str = "bm25",
    reward: str | None = None,
    env_option: dict[str, Any] | None = None,
    seed: int | None = None,
    survey: str | None = None,
    http: bool = False,
    host: str = "127.0.0.1",
    port: int = 8000,
    most: int = 4096,
    idle: float = 1800.0,
) -> None:
    """Serve the tools of an episode, or of a dated library, to clients of MCP.

    Over stdio one episode is played; over HTTP one for each key in the URL, such as
    /mcp?episode=rollout-1&seed=7. Without a task, the corpus is a plain library.

    Args:
        before (DATE): Without a task: first day out of reach, YYYY-MM-DD, YYYY-MM (its last day)
            or YYYY (31 December).
        seed: Over stdio: seed of the draw of the survey.
        survey (ID): Over stdio: survey to play.
        http: Serve HTTP instead of standard input and output.
        most: Episodes that may be open at once.
        idle: Seconds after which an episode that nobody plays is closed.

    Example:
        arena serve mcp --corpus demo/world --task discovery --http
    """
    from arena.corpus import Corpus
    from arena.doors import mcp as door
    from arena.doors import serve
    from arena.envs import EnvConfig
    from arena.session import Sessions

    if (task is None) == (before is None):
        raise DataError("give --task to serve episodes, or --before to serve a library.")
    if (before is not None or http) and (seed is not None or survey is not None):
        raise DataError(
            "--seed and --survey go with one episode over stdio. Over HTTP the URL names them: "
            "/mcp?episode=rollout-1&seed=7."
        )
    if before is not None:
        opened = Corpus.open(corpus)
        view = opened.at(before, retriever=opened.retriever(retriever))
        sessions, server = None, door.library_server(door.DatedLibrary(view))
    else:
        assert task is not None
        settings = {"retriever": retriever, "reward": reward, **(env_option or {})}
        sessions = Sessions.make(corpus, EnvConfig.of(task, settings), most=most, idle=idle)
        only = None if http else sessions.open(seed=seed, survey=survey)
        server = door.episode_server(sessions, only)
    if http:
        serve(door.http_app(server, sessions), host, port, "/mcp")
    else:
        door.serve_stdio(server)


def openenv(
    *,
    corpus: str,
    task: str,
    retriever: str = "bm25",
    reward: str | None = None,
    env_option: dict[str, Any] | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    most: int = 256,
    idle: float = 1800.0,
) -> None:
    """Serve episodes to OpenEnv's clients: one episode at a time for each client.

    Args:
        most: Clients at a time.
        idle: Seconds after which the session of a client that sends nothing is closed.

    Example:
        arena serve openenv --corpus demo/world --task discovery
    """
    require("arena serve openenv", "openenv")
    from arena.doors import serve
    from arena.doors.openenv import make_app
    from arena.envs import EnvConfig
    from arena.session import Sessions

    settings = {"retriever": retriever, "reward": reward, **(env_option or {})}
    # A reset opens an episode before it closes another.
    sessions = Sessions.make(corpus, EnvConfig.of(task, settings), most=2 * most, idle=idle)
    serve(make_app(sessions, most, idle), host, port, "", websockets=True)
