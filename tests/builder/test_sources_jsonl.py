"""Reading JSON lines: plain or packed, and one clear line about whatever is wrong."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest

from arena.errors import DataError
from corpus_builder.sources.jsonl import JsonLines

A, B = {"id": "a", "title": "Ä"}, {"id": "b", "title": "B"}
PLAIN = b'{"id": "a", "title": "\xc3\x84"}\n{"id": "b", "title": "B"}\n'


def source(tmp_path: Path, data: bytes, name: str = "papers.jsonl") -> JsonLines:
    path = tmp_path / name
    path.write_bytes(data)
    return JsonLines(path, path)


def read(tmp_path: Path, data: bytes, name: str = "papers.jsonl") -> list[tuple[Any, str, int]]:
    return [tuple(place) for place in source(tmp_path, data, name).papers()]


def refusal(tmp_path: Path, data: bytes, name: str = "papers.jsonl") -> str:
    with pytest.raises(DataError) as caught:
        read(tmp_path, data, name)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 400
    return message


@pytest.mark.parametrize("name", ["papers.jsonl", "papers.jsonl.gz", "x"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_plain_or_packed_whatever_the_name(tmp_path: Path, name: str, pack: Any) -> None:
    assert read(tmp_path, pack(PLAIN), name) == [(A, name, 1), (B, name, 2)]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (PLAIN.rstrip(b"\n"), [1, 2]),
        (PLAIN.replace(b"\n", b"\r\n"), [1, 2]),
        (b"\xef\xbb\xbf" + PLAIN, [1, 2]),
        (b"\n \t\r\n" + PLAIN.replace(b"\n", b"\n\n") + b"\n\n", [3, 5]),
        (b"\xef\xbb\xbf\r\n" + PLAIN, [2, 3]),
        (PLAIN.replace(b"{", b"  {"), [1, 2]),
    ],
    ids=["no last line break", "CRLF", "BOM", "blank lines", "blank after BOM", "indented"],
)
def test_layouts(tmp_path: Path, data: bytes, lines: list[int]) -> None:
    for packed in (data, gzip.compress(data)):
        found = read(tmp_path, packed)
        assert [(record, line) for record, _, line in found] == list(
            zip([A, B], lines, strict=True)
        )


@pytest.mark.parametrize(
    "line",
    [b"{", b'{"id": "a",}', b"id,title", b"{'id': 'a'}", b'{"id": "a"} {"id": "b"}', b"\0", b"\xff",
     b'{"id": "\xff"}', b"[" * 100_000, b"1" * 5000, b'{"title": "a\0b"}', b"\x1b[31m" * 99,
     '{"id": "a"}'.encode("utf-16")],
    ids=lambda line: repr(line[:20]),
)  # fmt: skip
def test_not_json(tmp_path: Path, line: bytes) -> None:
    message = refusal(tmp_path, PLAIN + b"\n" + line + b"\n" + PLAIN)
    assert message.startswith("papers.jsonl line 4 is not JSON (")
    assert message.endswith("Write one JSON object a line.")
    assert refusal(tmp_path, gzip.compress(PLAIN + b"\n" + line + b"\n")) == message


@pytest.mark.parametrize("data", [b"", b"\n\n", b" ", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(tmp_path: Path, data: bytes) -> None:
    path = str(tmp_path / "papers.jsonl")
    assert refusal(tmp_path, data).startswith(f"{path!r} is empty: it contains no papers.")
    with pytest.raises(DataError, match=r"is empty: it contains no surveys\."):
        list(source(tmp_path, data).surveys())


packed = gzip.compress(b"".join(b'{"id": "%d", "title": "T"}\n' % n for n in range(3000)), mtime=0)


@pytest.mark.parametrize("cut", [3, 11, 40, len(packed) // 2, len(packed) - 9, len(packed) - 1])
def test_a_packed_file_that_is_cut_off(tmp_path: Path, cut: int) -> None:
    path = str(tmp_path / "papers.jsonl")
    message = refusal(tmp_path, packed[:cut])
    assert message.startswith((f"{path!r} is damaged after line ", "papers.jsonl line "))
    assert "Get the file again." in message


def test_the_real_files(real_data: Any) -> None:
    made = JsonLines(real_data.papers, real_data.surveys)
    papers, surveys = list(made.papers()), list(made.surveys())
    expected = real_data.read()
    assert [place.record for place in papers] == expected.papers
    assert [place.record for place in surveys] == expected.surveys
    assert [place.line for place in papers] == list(range(1, 29_169))
    for role, path in (("papers", real_data.papers), ("surveys", real_data.surveys)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert made.describe()["files"][role] == [{"name": path.name, "sha256": digest}]
