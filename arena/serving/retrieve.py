"""``/retrieve``: the search server of Search-R1, verl and SkyRL, over a corpus as of a date."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from annotated_types import Ge, Interval

from arena import monitoring
from arena.corpus import Corpus, CorpusView, search_batch
from arena.dates import parse_cutoff
from arena.errors import DataError, clip
from arena.kit.files import read_json
from arena.kit.lazy import require
from arena.kit.options import checked
from arena.kit.process import cores
from arena.papers import MAX_QUERY, Hit
from arena.serving import integration
from arena.serving.http import refusal, serve_app
from arena.serving.processes import Proxy

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MAX_QUERIES = 4_096
"""Most queries of a request."""

MAX_TOPK = 1_000
"""Most papers of a query."""

MAX_PAPERS = 50_000
"""Most papers of a request: its queries times topk."""

_VIEWS = 1_024  # views of the corpus that are kept
_KEPT = 1 << 16  # papers, of some 1.5 kB each, whose text is kept as JSON
_EXAMPLE = 'send an object such as {"queries": ["graph search"], "topk": 3, "return_scores": true}.'


class Searcher:
    """Answers the requests of `make_app`; any number of threads may ask.

    `before` is the first day out of reach, None leaves it to each request; `topk` is the number of
    papers of a query that names none.
    """

    @checked
    def __init__(
        self,
        corpus: Corpus | str | Path,
        before: str | None = None,
        retriever: str = "bm25",
        retriever_options: Mapping[str, Any] | None = None,
        topk: Annotated[int, Interval(ge=1, le=MAX_TOPK)] = 3,
    ) -> None:
        self._corpus = Corpus.resolve(corpus)
        self._engine = self._corpus.retriever(retriever, **(retriever_options or {}))
        self._day = None if before is None else parse_cutoff(before)
        self._topk = topk
        self._view = lru_cache(_VIEWS)(self._open_view)
        self._documents: dict[str, orjson.Fragment] = {}
        self.health = {
            "status": "ok", "corpus": self._corpus.sha256, "retriever": retriever,
            "before": self._day and str(self._day), "topk": topk,
        }  # fmt: skip
        """The answer of ``/health``."""

    def answer(self, parameters: Sequence[tuple[str, str]], body: bytes) -> bytes:
        """Return the answer to a request, as JSON.

        The parameters in the URL are ``before`` and any number of ``exclude``; the body is JSON
        with ``queries`` or ``query``, ``topk`` and ``return_scores``.
        """
        for name, _ in parameters:
            if name not in ("before", "exclude"):
                raise DataError(f"{clip(name)} in the URL: it takes before and exclude.")
        days = [value for name, value in parameters if name == "before"]
        if len(days) > 1:
            raise DataError(f"before={clip(days)}: give one day.")
        excluded = sorted({value for name, value in parameters if name == "exclude"})
        view = self._view(days[0] if days else None, tuple(excluded))
        queries, topk, scored = self._read(body)

        def shown(hit: Hit) -> Any:
            document = self._document(view, hit.id)
            return {"document": document, "score": hit.score} if scored else document

        ranked = search_batch([(view, query[:MAX_QUERY], topk) for query in queries])
        return orjson.dumps({"result": [[shown(hit) for hit in hits] for hits in ranked]})

    def _read(self, body: bytes) -> tuple[list[str], int, bool]:
        try:
            request = read_json(body)  # takes half a surrogate pair, which a model may write
        except ValueError:
            raise DataError(f"the body is not JSON: {_EXAMPLE}") from None
        if not isinstance(request, dict):
            raise DataError(f"the body is {clip(request)}: {_EXAMPLE}")
        given = [name for name in ("queries", "query") if request.get(name) is not None]
        if len(given) != 1:
            raise DataError(f"the body has {' and '.join(given) or 'no queries'}: {_EXAMPLE}")
        queries = request[given[0]]
        queries = [queries] if isinstance(queries, str) else queries
        if not isinstance(queries, list) or not all(isinstance(q, str) for q in queries):
            raise DataError(f"{given[0]}={clip(queries)}: give texts.")
        topk, scored = request.get("topk"), request.get("return_scores") or False
        if topk is None or (type(topk) is int and topk == 0):  # Search-R1's servers do so
            topk = self._topk
        if type(topk) is not int or not 1 <= topk <= MAX_TOPK:
            raise DataError(
                f"topk={clip(topk)}: give an integer from 1 to {MAX_TOPK:,}; null or 0 is this "
                f"server's {self._topk}."
            )
        if not isinstance(scored, bool):
            raise DataError(f"return_scores={clip(scored)}: give true or false.")
        if len(queries) > MAX_QUERIES or len(queries) * topk > MAX_PAPERS:
            raise DataError(
                f"{len(queries):,} queries with topk {topk:,}: send at most {MAX_QUERIES:,} "
                f"queries, and {MAX_PAPERS:,} papers in all."
            )
        return queries, topk, scored

    def _open_view(self, before: str | None, exclude: tuple[str, ...]) -> CorpusView:
        day = self._day if before is None else parse_cutoff(before)
        if day is None:
            raise DataError(
                "no day is given. Put it in the URL, such as /retrieve?before=2015-01-01, or start "
                "the server with --before."
            )
        if self._day is not None and day.day > self._day.day:
            raise DataError(f"before={before} is later than this server's {self._day}.")
        return self._corpus.at(str(day), exclude, self._engine)

    def _document(self, view: CorpusView, paper_id: str) -> orjson.Fragment:
        """Return a paper as JSON; its text is the same in every view that it is in."""
        if (document := self._documents.get(paper_id)) is None:
            paper = view.paper(paper_id)
            contents = f'"{paper.title}"\n{paper.abstract}'
            document = orjson.Fragment(orjson.dumps({"id": paper.id, "contents": contents}))
            if len(self._documents) >= _KEPT:
                self._documents.clear()
            self._documents[paper_id] = document
        return document


def make_app(searcher: Searcher) -> Starlette:
    """Return the ASGI application: ``POST /retrieve`` and ``GET /health``."""
    require("/retrieve", "starlette", "uvicorn")
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    pool = ThreadPoolExecutor(cores())

    async def retrieve(request: Request) -> Response:
        kind = request.headers.get("content-type", "")
        if kind.partition(";")[0].strip().lower() != "application/json":
            return refusal(415, f"Content-Type is {clip(kind)}: send application/json.")
        parameters, body = request.query_params.multi_items(), await request.body()
        loop = asyncio.get_running_loop()
        with monitoring.tool_call("retrieve", ["retrieve"], body) as ended:
            try:
                data = await loop.run_in_executor(pool, searcher.answer, parameters, body)
            except DataError as error:
                ended(True, str(error))
                return refusal(400, error)
            ended(False, data)
        return Response(data, media_type="application/json")

    async def health(_: Request) -> Response:
        return JSONResponse(searcher.health)

    return Starlette(routes=[Route("/retrieve", retrieve, methods=["POST"]),
                             Route("/health", health)])  # fmt: skip


@integration("retrieve")
def serve(
    *,
    corpus: str,
    before: str | None = None,
    topk: int = 3,
    retriever: str = "bm25",
    retriever_option: dict[str, Any] | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    processes: Annotated[int, Ge(1)] = 1,
) -> None:
    """Serve Search-R1's /retrieve, for Search-R1, verl and SkyRL.

    Args:
        before (DATE): First day out of reach: YYYY-MM-DD, YYYY-MM (its first day) or YYYY
            (1 January). Without it, each URL names one: /retrieve?before=2015-01-01.
        topk: Papers of a query that names no number.
        retriever_option: Option of the engine, such as statistics=corpus.
        processes: Server processes behind the address.

    Example:
        arena serve retrieve --corpus demo/synthetic --before 2015-01-01
    """
    if processes > 1:
        Proxy(processes).serve(host, port, "/retrieve")
        return
    searcher = Searcher(corpus, before, retriever, retriever_option, topk)
    note = "" if before is None else f" Papers before {searcher.health['before']} alone."
    serve_app(make_app(searcher), host, port, "/retrieve", note)
