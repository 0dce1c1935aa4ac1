r"""TREC run and qrels files.

A run line is ``qid Q0 docid rank score tag``, a qrels line ``qid 0 docid gain``; columns are
separated by white space, blank lines are ignored, the text is UTF-8. Files that are compressed by
gzip can be read, whatever their name.

Source: the formats of trec_eval, https://github.com/usnistgov/trec_eval.
"""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from arena.errors import DataError, clip
from arena.kit.files import atomic_write
from arena.text.display import count

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_RUN_LINE = "'qid Q0 docid rank score tag'"
_QRELS_LINE = "'qid 0 docid gain'"
_BYTE_ORDER_MARK = "\ufeff"


def read_run(path: str | os.PathLike[str]) -> dict[str, list[tuple[str, float]]]:
    """Read a run file.

    The rank column is checked and otherwise ignored: `order` makes a ranking from the scores.

    Returns:
        Query id to (document id, score) pairs, both in file order. Scores are finite, document
        ids are distinct within a query.
    """
    run: dict[str, dict[str, float]] = {}
    for where, columns in _lines(path, _RUN_LINE):
        query, _, document, rank, score, _ = columns
        if not _INTEGER.fullmatch(rank):
            raise DataError(f"{where}: rank {clip(rank)}, expected an integer.")
        scores = run.setdefault(query, {})
        _refuse_repeated(where, query, document, scores)
        scores[document] = _score(where, score)
    return {query: list(scores.items()) for query, scores in run.items()}


def write_run(path: str | os.PathLike[str], run: Mapping[str, Sequence[str]], tag: str) -> None:
    """Write rankings as a run file, atomically, queries in code-point order.

    A ranking of n ids gets the scores n, n - 1, ..., 1: without ties, and exact in the single
    precision of trec_eval up to 2^24, so that every tool reads the same order back. The format
    has no way to say that a query's ranking is empty: such a query is absent from the file.
    """
    _check_token("tag", tag)
    lines = []
    for query in sorted(run):
        ranking = run[query]
        _check_token("query id", query)
        for rank, document in enumerate(ranking, 1):
            _check_token("document id", document)
            score = len(ranking) - rank + 1
            lines.append(f"{query} Q0 {document} {rank} {score} {tag}\n")
    atomic_write(path, "".join(lines))


def read_qrels(path: str | os.PathLike[str]) -> dict[str, dict[str, int]]:
    """Read a qrels file: query id to gain by document id, both in file order.

    Gains are integers as they stand, also 0 and below (not relevant).
    """
    qrels: dict[str, dict[str, int]] = {}
    for where, (query, _, document, gain) in _lines(path, _QRELS_LINE):
        if not _INTEGER.fullmatch(gain):
            raise DataError(f"{where}: gain {clip(gain)}, expected an integer.")
        gains = qrels.setdefault(query, {})
        _refuse_repeated(where, query, document, gains)
        gains[document] = int(gain)
    return qrels


def write_qrels(path: str | os.PathLike[str], qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write gains as a qrels file, atomically, queries and documents in code-point order."""
    lines = []
    for query in sorted(qrels):
        _check_token("query id", query)
        for document in sorted(qrels[query]):
            _check_token("document id", document)
            lines.append(f"{query} 0 {document} {qrels[query][document]}\n")
    atomic_write(path, "".join(lines))


def order(
    scored: Sequence[tuple[str, float]], document_number: Callable[[str], int | None]
) -> list[str]:
    """Return ids as a ranking: higher scores first, ties in document order.

    Among equal scores the lower document number comes first; ids without a number come after
    those with one, in code-point order. The sequence of `scored` has no influence.

    >>> numbers = {"late": 7, "early": 2}
    >>> order([("b", 1.0), ("a", 1.0), ("late", 1.0), ("early", 1.0), ("z", 2.0)], numbers.get)
    ['z', 'early', 'late', 'a', 'b']
    """

    def key(pair: tuple[str, float]) -> tuple[float, bool, int, str]:
        document, score = pair
        number = document_number(document)
        return -score, number is None, 0 if number is None else number, document

    return [document for document, _ in sorted(scored, key=key)]


def _lines(path: str | os.PathLike[str], expected: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (``file:line``, columns) of each line that is not blank."""
    width = len(expected.split())
    empty = True
    for number, raw in enumerate(_raw_lines(path), 1):
        where = f"{os.fspath(path)}:{number}"
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{where}: {clip(raw)} is not UTF-8, expected {expected}.") from error
        columns = line.removeprefix(_BYTE_ORDER_MARK if number == 1 else "").split()
        if not columns:
            continue
        empty = False
        if len(columns) != width:
            raise DataError(
                f"{where}: {clip(line.strip())} has "
                f"{count(len(columns), 'column')}, expected {width}: {expected}."
            )
        yield where, columns
    if empty:
        raise DataError(f"{os.fspath(path)}: empty file, expected lines {expected}.")


def _raw_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            if file.peek(2)[:2] != b"\x1f\x8b":  # not read: a pipe cannot be set back
                yield from file
                return
            with gzip.open(file) as unzipped:
                yield from unzipped
    except FileNotFoundError as error:
        raise DataError(f"{name}: no such file.") from error
    except IsADirectoryError as error:
        raise DataError(f"{name}: is a directory, expected a file.") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{name}: damaged gzip file: {error}") from error


def _score(where: str, text: str) -> float:
    try:
        # float() alone would also take "1_0" and digits of other scripts.
        score = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(f"{where}: score {clip(text)}, expected a finite number.")
    return score


def _refuse_repeated(where: str, query: str, document: str, seen: Mapping[str, float]) -> None:
    if document in seen:
        raise DataError(
            f"{where}: document {clip(document)} appears again for query {clip(query)}, "
            "expected each document once."
        )


def _check_token(what: str, text: str) -> None:
    # A byte order mark would be taken for the file's own when it is read back.
    if text.split() != [text] or text.startswith(_BYTE_ORDER_MARK):
        raise DataError(f"{what} {clip(text)}: expected a non-empty string without white space.")
