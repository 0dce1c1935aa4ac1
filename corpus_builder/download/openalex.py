"""Works of OpenAlex, through its API: those that a search finds, or around a person's own papers.

The file ``works.jsonl`` has a page of answers on each line, as `corpus_builder.readers` reads it,
with the request that it answers: a request that is in the file is not sent again.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, quote_plus, urlencode

import orjson
from annotated_types import Ge, Interval

from arena.dates import parse_cutoff, parse_date
from arena.errors import DataError, clip
from arena.kit.files import json_value, schema_error
from arena.kit.options import checked
from arena.kit.terminal import progress
from arena.text.display import count
from corpus_builder.download.fetch import CONTINUES, FailedError, Fetcher, writing
from corpus_builder.readers.base import PaperFile
from corpus_builder.release import RecordLimits, RejectError, Sink
from corpus_builder.sources.openalex import add_work, work_id

BASE_URL = "https://api.openalex.org"
KEY = "OPENALEX_API_KEY"
WORKS = "works.jsonl"
_PAGE = 100  # works, and values of a filter, at most
_PRICES = {"search": 0.001, "list": 0.0001}  # dollars a call (OpenAlex, "Authentication & Pricing")
_FREE = 1.0  # dollars a day with a free key
_PAGE_FORM = {"request": str, "count": int, "next": str | None, "results": list}
_FIELDS = (
    "id,doi,title,display_name,publication_date,publication_year,type,is_paratext,authorships,"
    "primary_location,locations,topics,referenced_works,referenced_works_count,"
    "abstract_inverted_index"
)


@checked
def download_works(
    output: str | Path,
    before: str | dt.date,
    papers: Annotated[int, Ge(1)] = 10_000,
    *,
    query: str | None = None,
    seeds: str | Path | None = None,
    hops: Annotated[int, Interval(ge=1, le=3)] = 1,
    base_url: str = BASE_URL,
    on_message: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Fetch works that appeared before a day into ``works.jsonl``, with what they cite.

    With `query` those that OpenAlex' search finds, the most relevant first; with `seeds`, a file of
    papers of any format of a library, these by DOI or arXiv identifier, and what they cite and what
    cites them, `hops` times. It ends once there are `papers` works; the last page counts whole. The
    key is that in the environment variable ``OPENALEX_API_KEY``; it is in no file, message or log.

    Args:
        output (DIR): A new folder, or one to continue.
        before (DATE): First day out of reach: YYYY-MM-DD, YYYY-MM (its first day) or YYYY
            (1 January).
        papers: End once there are so many works.
        query (TEXT): What to search for.
        seeds (FILE): Papers of yours, with DOIs or arXiv identifiers, whose references and
            citations are wanted.
        hops: How often to follow references and citations, 1 to 3 times.
        base_url (URL): Address of the API.
        on_message: Called with each line of progress.

    Example:
        arena-corpus download openalex --query "dense retrieval" --before 2024-01-01 --output DIR

    Returns:
        ``works``, ``calls`` made now, their ``dollars``, ``seeds`` that were looked up, and works
        that were ``left_out``, by reason.

    Raises:
        DataError: If the day's budget is spent, or the server fails. The same call continues.
    """
    if (query is None) == (seeds is None):
        raise DataError("give --query, what to search for, or --seeds, a file of papers.")
    last = dt.date.fromisoformat(str(parse_cutoff(before))) - dt.timedelta(1)
    kind = "list" if query is None else "search"
    found: list[str] = [] if seeds is None else _identifiers(Path(seeds), on_message)
    calls = -(-papers // _PAGE) + -(-len(found) // _PAGE)
    dollars = calls * _PRICES[kind]
    on_message(
        f"{count(papers, 'work takes', 'works take')} about {count(calls, 'call')} for "
        f"${dollars:.{2 if dollars >= 0.01 else 4}f}; a free key has ${_FREE:.2f} a day"
    )
    if dollars > _FREE:
        on_message(
            "That is more than a day's budget; OpenAlex' snapshot is free (docs/releases.md)"
        )
    with ExitStack() as stack:
        directory = Path(output)
        stack.enter_context(writing(directory))
        fetcher = stack.enter_context(closing(Fetcher(1, on_message)))
        bar = stack.enter_context(progress(total=papers, desc="works", unit="work"))
        pages = _Pages(directory / WORKS, fetcher, base_url, last, papers, bar)
        if query is not None:
            list(pages.ask("", search=query))
        else:
            _walk(pages, found, hops)
    return {"works": len(pages.works), "calls": pages.calls, "seeds": len(found),
            "dollars": pages.calls * _PRICES[kind], "left_out": pages.left_out}  # fmt: skip


def _identifiers(path: Path, on_message: Callable[[str], None]) -> list[str]:
    """Return the DOIs of the papers in a file; arXiv registers one for each of its papers."""
    records = [record for _, record in PaperFile(path).records()]
    named = [r for r in records if r.get("doi") or r.get("arxiv_id")]
    dois = (str(r.get("doi") or f"10.48550/arxiv.{r['arxiv_id']}") for r in named)
    found = [*dict.fromkeys(doi for doi in dois if not {",", "|"} & {*doi})]  # separate filters
    if not found:
        raise DataError(f"no paper of {str(path)!r} has a DOI or an arXiv identifier.")
    on_message(
        f"{len(found):,} of {count(len(records), 'paper')} can be looked up, by DOI or "
        "arXiv identifier"
    )
    return found


def _walk(pages: _Pages, dois: list[str], hops: int) -> None:
    """Fetch the works of `dois`, then what they cite and what cites them, `hops` times."""
    edge = [work for part in _parts(dois) for work in pages.ask(f"doi:{part}")]
    for _ in range(hops):
        cited = dict.fromkeys(other for work in edge for other in pages.works[work])
        wanted = [other for other in cited if other not in pages.works]
        new = [work for part in _parts(wanted) for work in pages.ask(f"openalex:{part}")]
        new += [work for part in _parts(edge) for work in pages.ask(f"cites:{part}")]
        edge = new


def _parts(values: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(values), _PAGE):
        yield "|".join(values[start : start + _PAGE])


class _Pages:
    """Answers to requests, from the file or the server; `works` maps ids to what they cite."""

    def __init__(
        self, path: Path, fetcher: Fetcher, base_url: str, last: dt.date, most: int, bar: Any
    ) -> None:
        self._path, self._fetcher, self._bar = path, fetcher, bar
        self._url, self._last, self._most = f"{base_url.rstrip('/')}/works", last, most
        self.works: dict[str, list[str]] = {}
        self.calls, self.left_out = 0, dict[str, int]()
        self._known: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._remember()

    def _remember(self) -> None:
        """Read the answers that are there; remove one that a kill has cut."""
        whole = 0
        with self._path.open("rb+") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                page = json_value(line)
                if schema_error(page, _PAGE_FORM):
                    where = f"{str(self._path)!r} line {number}"
                    raise DataError(f"{where} is no answer of OpenAlex. Delete the line.")
                page["results"] = [*map(_slim, page["results"])]
                self._known[page["request"]] = page
            file.truncate(whole)

    def ask(self, filter: str, **options: str) -> Iterable[str]:
        """Return the ids of the works that a request finds and that are not there yet."""
        new: list[str] = []
        cursor, seen = "*", set[str]()
        day = f"to_publication_date:{self._last}"
        while cursor and len(self.works) < self._most:
            if cursor in seen:
                raise DataError(
                    f"the server gives the cursor {clip(cursor, 40)} twice. {CONTINUES}"
                )
            seen.add(cursor)
            wanted = {"filter": f"{filter},{day}".strip(","), "per_page": str(_PAGE),
                      "cursor": cursor, "select": _FIELDS, **options}  # fmt: skip
            page = self._known.get(urlencode(wanted)) or self._fetch(wanted)
            if len(seen) > page["count"] // _PAGE + 2:
                raise DataError(f"the server gives more pages than it has works. {CONTINUES}")
            for work in page["results"]:
                self.works[work["id"]] = work["cites"]
                new.append(work["id"])
            self._bar.update(len(self.works) - self._bar.n)
            cursor = page["next"] or ""
        return new

    def _fetch(self, wanted: dict[str, str]) -> dict[str, Any]:
        key = os.environ.get(KEY, "").strip()
        if not key:
            raise DataError(
                f"no key of OpenAlex: the environment variable {KEY} is not set. A key is free: "
                "https://openalex.org/settings/api"
            )
        self.calls += 1
        options = {"params": {**wanted, "api_key": key}, "allow_redirects": False}
        try:
            status, answer = self._fetcher.ask(self._url, "OpenAlex", **options)
        except FailedError as error:
            raise DataError(
                f"{error}. {count(len(self.works), 'work is', 'works are')} here. {CONTINUES}"
            ) from None
        answer = orjson.loads(_without(orjson.dumps(answer), key))
        if status in (401, 403):
            raise DataError(f"OpenAlex answered {status}: it does not take the key in {KEY}.")
        if status != 200:
            said = answer.get("message") if isinstance(answer, dict) else None
            text = f": {clip(said)}" if said else ""
            raise DataError(f"OpenAlex answered {status}{text}. {CONTINUES}")
        if why := schema_error(answer, {"meta": {"count": int}, "results": list}):
            raise DataError(f"OpenAlex' answer is no page of works: {why}. {CONTINUES}")
        works, meta = answer["results"], answer["meta"]
        page = {"request": urlencode(wanted), "count": meta["count"], "results": works,
                "next": meta.get("next_cursor") if works else None}  # fmt: skip
        if why := schema_error(page, _PAGE_FORM):
            raise DataError(f"OpenAlex' answer is no page of works: {why}. {CONTINUES}")
        page["results"] = self._usable(works)
        with self._path.open("ab") as file:
            file.write(orjson.dumps(page) + b"\n")
        return {**page, "results": [*map(_slim, page["results"])]}

    def _usable(self, works: list[Any]) -> list[dict[str, Any]]:
        """Return the works that are new, before the day, and make sense; count the others."""
        usable: dict[str, dict[str, Any]] = {}
        doubtful = 0
        for work in works:
            sink = Sink()
            try:
                add_work(work, sink, RecordLimits(last_year=self._last.year))
                reason = next(iter(sink.skipped), "")
                date = work.get("publication_date") or work["publication_year"]
                if not reason and (date is None or str(parse_date(date)) > str(self._last)):
                    reason = "not before the day"
                if work_id(work["id"]) in self.works.keys() | usable.keys():
                    reason = "given twice"
            except (RejectError, DataError):
                reason = "cannot be used"
            doubtful += reason == "cannot be used" or bool(sink.flaws)
            if reason:
                self.left_out[reason] = self.left_out.get(reason, 0) + 1
            else:
                usable[work_id(work["id"]) or ""] = work
        if 2 * doubtful > len(works) >= 10:  # a release of March 2026 had its fields mixed up
            raise DataError(
                f"{doubtful} of {count(len(works), 'work')} of an answer make no sense: "
                "dates, abstracts or "
                "references are not what they should be. Try again another day."
            )
        return list(usable.values())


def _without(body: bytes, key: str) -> bytes:
    """Return an answer without the key, as it is or as in an address; real keys are long."""
    for form in (key, quote(key, safe=""), quote_plus(key)) if len(key) > 5 else ():
        body = body.replace(form.encode(), b"***")
    return body


def _slim(work: dict[str, Any]) -> dict[str, Any]:
    listed = work.get("referenced_works")
    cited = map(work_id, listed if isinstance(listed, list) else ())
    return {"id": work_id(work["id"]), "cites": [other for other in cited if other]}
