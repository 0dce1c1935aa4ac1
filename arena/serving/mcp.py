"""MCP: tools of an episode, or of a dated library, for any client of the Model Context Protocol.

Over HTTP an episode's key is in the address, ``/mcp?episode=rollout-1&seed=7``: the protocol itself
has no sessions since 2026-07-28.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from arena import monitoring
from arena.corpus.view import CorpusView
from arena.errors import ArenaError, DataError, UnknownNameError, UnknownPaperError, clip
from arena.kit.lazy import require
from arena.serving import integration
from arena.serving._mcp_calls import PlainCalls
from arena.serving.http import refusal, serve_app
from arena.serving.processes import LOST, Proxy
from arena.session import ClosedSessionError, EpisodeSession, Sessions
from arena.text.display import whole_letters
from arena.tools import TOOLS, Episode, Search, ToolError, ToolResult, encode, make_searches
from arena.tools.base import parse_action, schemas_of_tools
from arena.version import __version__

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp.server.caching import CacheHint
    from mcp_types import CallToolRequestParams, CallToolResult, GetPromptResult
    from mcp_types import Tool as McpTool
    from starlette.requests import Request
    from starlette.types import ASGIApp

STEP = "researcharena/step"
"""Key of ``_meta``; has ``reward``, ``total``, ``terminated``, ``truncated`` and ``info``."""
HEADER = "x-arena-episode"
"""Header that may name the episode in place of ``?episode=``."""
FRESH = 300_000
"""Milliseconds for which clients may keep what a server says of itself (``ttlMs``)."""
_READING = ("search", "read", "references", "citations")
_ENDLESS = 10**12  # of a budget
_NAME = "researcharena"


def tools_of(schemas: Iterable[Mapping[str, Any]]) -> list[McpTool]:
    """Return tools in the form of `arena.tool_schemas` as a server of MCP lists them."""
    from mcp_types import Tool

    return [
        Tool(name=f["name"], description=f["description"], input_schema=f["parameters"])
        for f in (schema["function"] for schema in schemas)
    ]


def result_of(text: str, failed: bool, meta: dict[str, Any] | None = None) -> CallToolResult:
    """Return the result of a call; no model reads `meta`."""
    from mcp_types import CallToolResult, TextContent

    shown = TextContent(type="text", text=text)
    return CallToolResult(content=[shown], is_error=failed, _meta=meta)


class DatedLibrary:
    """The tools that read, over a corpus as it was before a day: no episode, budget or reward."""

    def __init__(self, view: CorpusView, max_k: int = 100) -> None:
        self.tools = {}
        for name in _READING:
            tool = TOOLS.get(name).narrowed({"k": (1, max_k)}, {})
            kept = tuple(p for p in tool.parameters if p.name != "retriever")  # there is one
            self.tools[name] = replace(tool, parameters=kept)
        self.view, self._lock = view, threading.Lock()

    def call(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Return the JSON text of a tool's result, and whether it is an error."""
        budget = dict.fromkeys(("steps", "searches", "reads", "characters"), _ENDLESS)
        view = self.view
        episode = Episode(view, lambda _: view, (), self.tools, ("",), budget)
        call = parse_action({"tool": name, "arguments": arguments}, self.tools)
        try:
            if isinstance(call, str):
                raise ToolError(call)
            with self._lock:
                result = call.tool.function(episode, **call.arguments)
                if isinstance(result, Search):
                    (result,) = make_searches([result])
        except (ToolError, UnknownPaperError) as error:
            return encode({"error": str(error)}), True
        except Exception:  # of an engine; its text may name a file
            logging.getLogger(__name__).exception("a call of %s failed", clip(name))
            return encode({"error": "the tool failed, which is no fault of the call."}), True
        shown = result.result if isinstance(result, ToolResult) else result
        return shown if isinstance(shown, str) else encode(shown), False


def library_server(library: DatedLibrary) -> Server[Any]:
    """Return the MCP server of a dated library."""
    from mcp.server import Server

    async def call(ctx: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        name, arguments = params.name, params.arguments or {}
        with monitoring.tool_call(name, library.tools, arguments, request=ctx) as ended:
            text, failed = await asyncio.to_thread(library.call, name, arguments)
            ended(failed, text)
        return result_of(text, failed)

    about = (
        f"A library of scholarly papers as it was before {library.view.cutoff}: no later paper "
        "exists here. Search it, read papers by id, and follow references and citations."
    )
    tools = _listed(schemas_of_tools(library.tools.values()))
    return Server(
        _NAME,
        version=__version__,
        instructions=about,
        on_list_tools=tools,
        on_call_tool=call,
        cache_hints=_kept("server/discover", "tools/list"),
    )


def episode_server(sessions: Sessions, only: EpisodeSession | None = None) -> Server[Any]:
    """Return the MCP server of episodes: `only` this one, or the one that each request names."""
    from mcp import MCPError
    from mcp.server import Server
    from mcp_types import (
        INVALID_PARAMS,
        GetPromptResult,
        ListPromptsResult,
        Prompt,
        PromptMessage,
        TextContent,
    )

    async def session_of(ctx: ServerRequestContext) -> EpisodeSession:
        try:
            return only or await _session(sessions, ctx.request)
        except ArenaError as error:  # in the address, which no model writes, so none reads this
            raise MCPError(INVALID_PARAMS, str(error)) from None

    async def call(ctx: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        session = await session_of(ctx)
        action = {"tool": params.name, "arguments": params.arguments or {}}
        step = await session.astep(action, ctx)
        total = session.reward  # at each call: totals read all actions again
        ends = {"terminated": step.terminated, "truncated": step.truncated, "info": step.info}
        meta = {"reward": step.reward, "total": total, **ends}
        return result_of(step.text, step.failed, {STEP: meta})

    async def prompts(ctx: ServerRequestContext, params: Any) -> ListPromptsResult:
        return ListPromptsResult(prompts=[Prompt(name="task", description=_ASKED)])

    async def prompt(ctx: ServerRequestContext, params: Any) -> GetPromptResult:
        session = await session_of(ctx)
        text = TextContent(type="text", text=session.opening)
        said, meta = [PromptMessage(role="user", content=text)], {"topic_id": session.topic_id}
        return GetPromptResult(messages=said, description=_ASKED, _meta=meta)

    return Server(
        _NAME,
        version=__version__,
        instructions=only.opening if only else _ASKED,
        on_list_tools=_listed(sessions.schemas()),
        on_call_tool=call,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
        # The instructions of `only` are its topic; the same command may draw another one next.
        cache_hints=_kept("tools/list", "prompts/list", *([] if only else ["server/discover"])),
    )


def _kept(*methods: Any) -> dict[Any, CacheHint]:
    """Return the cache fields of methods whose results are the same for all clients."""
    from mcp.server.caching import CacheHint

    return {method: CacheHint(FRESH, "public") for method in methods}


def serve_stdio(server: Server[Any]) -> None:
    """Answer a client at standard input and output until it closes them."""
    import anyio
    from mcp.server.stdio import stdio_server

    lines = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # no tool and no child reads the client's lines
    read: Any = SimpleNamespace(  # PowerShell begins with a byte order mark
        readline=lambda: whole_letters(lines.readline()).decode("utf-8-sig", "replace")
    )

    _watch(server)

    async def answer() -> None:
        async with stdio_server(anyio.wrap_file(read)) as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(answer)


def http_app(server: Server[Any], sessions: Sessions | None = None) -> ASGIApp:
    """Return the application that answers at ``/mcp``; ``/health`` counts the open episodes.

    It keeps no session of the protocol, so none can leak: an episode's key is in the address.
    DELETE finishes that episode and answers what it earned.
    """
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def no_stream(_: Request) -> Response:
        text = "this server starts no stream of its own. POST here."
        return refusal(405, text, {"Allow": "POST"})

    async def end(request: Request) -> Response:
        assert sessions is not None
        try:
            _check_kept(request)
            key = key_of(request) or ""
            return JSONResponse((await sessions.aclose(key))._asdict())
        except ArenaError as error:
            return refusal(404, error)

    async def health(_: Request) -> JSONResponse:
        room = (
            {}
            if sessions is None
            else {"open": len(sessions), "max_sessions": sessions.max_sessions}
        )
        return JSONResponse({"status": "ok", **room})

    _watch(server)
    # The server in front of it checks the host, and the token.
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        json_response=True, stateless_http=True, transport_security=checked
    )
    app.router.routes.append(Route("/health", health))
    # The SDK would keep each of these open, and silent, until its client hangs up.
    app.router.routes.insert(0, Route("/mcp", no_stream, methods=["GET"]))
    if sessions is not None:
        app.router.routes.insert(0, Route("/mcp", end, methods=["DELETE"]))
    return PlainCalls(app, server)


def _watch(server: Server[Any]) -> None:
    """Begin to watch; the SDK's own spans would be second ones, and have no bound."""
    monitoring.start()
    if monitoring.tracer() is not None:
        server.middleware.clear()


_ASKED = "What this episode asks: a topic, the cutoff, the budget and an instruction."


def key_of(request: Request) -> str | None:
    """Return the key of the episode that an HTTP request names."""
    return request.headers.get(HEADER) or request.query_params.get("episode")


def _check_kept(request: Request) -> None:
    """Raise ClosedSessionError if the episode was lost with its process."""
    if LOST in request.headers:
        raise ClosedSessionError(
            f"the session {clip(key_of(request))} is lost: the process that had it has ended. Open "
            "one with another key."
        )


async def _session(sessions: Sessions, request: Any) -> EpisodeSession:
    """Return the session that an HTTP request names; open it if it is new."""
    asked = request.query_params
    key = key_of(request)
    if not key:
        raise DataError(
            "the address names no episode. Add one, such as ?episode=rollout-1&seed=7 (or the "
            f"header {HEADER}): calls with the same key play the same episode."
        )
    _check_kept(request)
    if "survey" in asked:
        raise DataError("the address says survey=ID: write topic=ID (docs/renamed.md).")
    seed, topic_id = asked.get("seed"), asked.get("topic")
    if seed is not None and not (seed.isascii() and seed.isdigit() and len(seed) < 20):
        raise DataError(f"seed={clip(seed)}: give an integer >= 0.")
    try:
        return await sessions.ajoin(
            key, seed=None if seed is None else int(seed), topic_id=topic_id
        )
    except UnknownNameError:  # names the other topics
        raise DataError(
            f"topic={clip(topic_id)}: the corpus has no such topic. `arena list topics` shows all."
        ) from None


def _listed(schemas: list[dict[str, Any]]) -> Any:
    """Return the handler that lists tools; some clients demand arguments that are not nullable."""
    from mcp_types import ListToolsResult

    for schema in schemas:
        parameters = schema["function"]["parameters"]
        for name, part in parameters["properties"].items():
            if name not in parameters["required"]:
                part["nullable"] = True
    tools = tools_of(schemas)

    async def listed(ctx: ServerRequestContext, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    return listed


@integration("mcp")
def serve(
    *,
    corpus: str,
    task: str | None = None,
    before: str | None = None,
    tasks: str | None = None,
    where: str | None = None,
    retriever: str | None = None,
    reward: str | None = None,
    env_option: dict[str, Any] | None = None,
    seed: int | None = None,
    topic: str | None = None,
    http: bool = False,
    host: str = "127.0.0.1",
    port: int = 8000,
    max_sessions: int = 4096,
    idle: float = 1800.0,
    record: str | None = None,
    processes: Annotated[int, Ge(1)] = 1,
) -> None:
    """Serve the tools of an episode, or of a dated library, to clients of MCP.

    Over stdio one episode is played; over HTTP one for each key in the URL, such as
    /mcp?episode=rollout-1&seed=7. Without a task, the corpus is a plain library.

    Args:
        tasks (TASKS): Directory of `arena-corpus tasks`, to play it instead of topics.
        before (DATE): Without a task: first day out of reach, YYYY-MM-DD, YYYY-MM (its first day)
            or YYYY (1 January).
        seed: Over stdio: seed of the draw of the topic.
        topic (ID): Over stdio: topic to play.
        http: Serve HTTP instead of standard input and output.
        max_sessions: Episodes that may be open at once.
        idle: Seconds after which an episode that nobody plays is closed.
        processes: Over HTTP: server processes behind the address, each with `max_sessions`. An
            episode stays with one.

    Example:
        arena serve mcp --corpus demo/synthetic --task discovery --http
    """
    require("the MCP server", "anyio", "mcp")
    from arena.corpus import Corpus
    from arena.envs.config import EnvConfig, merged

    if (task is None) == (before is None):
        raise DataError("give --task to serve episodes, or --before to serve a library.")
    if (before is not None or http) and (seed is not None or topic is not None):
        raise DataError(
            "--seed and --topic go with one episode over stdio. Over HTTP the URL names them: "
            "/mcp?episode=rollout-1&seed=7."
        )
    if processes > 1:
        if not http:
            raise DataError(f"--processes {processes} goes with --http: stdio has one client.")
        Proxy(processes, key_of, record).serve(host, port, "/mcp")
        return
    if before is not None:
        opened = Corpus.open(corpus)
        view = opened.at(before, retriever=opened.retriever(retriever or "bm25"))
        sessions, only, server = None, None, library_server(DatedLibrary(view))
    else:
        assert task is not None
        options = {"task": task, "retriever": retriever, "reward": reward}
        config = EnvConfig(**merged(options, env_option))
        sessions = Sessions.make(
            corpus, config, topics=where, max_sessions=max_sessions, idle=idle, record=record,
            tasks=tasks,
        )  # fmt: skip
        only = None if http else sessions.open(seed=seed, topic_id=topic)
        server = episode_server(sessions, only)
    if http:
        serve_app(http_app(server, sessions), host, port, "/mcp")
    else:
        serve_stdio(server)
        if sessions is not None and only is not None:
            sessions.close(only.key)
