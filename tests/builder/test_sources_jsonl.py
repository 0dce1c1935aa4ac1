"""Reading JSON lines: plain or packed, and one clear line about whatever is wrong."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from corpus_builder import files
from corpus_builder.sources import SOURCES, jsonl
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


def test_packed_in_several_members(tmp_path: Path) -> None:
    cut = PLAIN.index(b"title")
    data = gzip.compress(PLAIN[:cut]) + gzip.compress(PLAIN[cut:]) + b"\0" * 512
    assert [record for record, _, _ in read(tmp_path, data)] == [A, B]
    made = source(tmp_path, data)
    list(made.papers()), list(made.surveys())
    digest = hashlib.sha256(data).hexdigest()
    assert made.describe()["files"]["papers"] == {"name": "papers.jsonl", "sha256": digest}


def test_odd_texts_are_data(tmp_path: Path) -> None:
    data = rb'{"id": "a", "title": "\u0000\ud800 \u2028 \u001b[31m", "n": NaN}'
    ((record, _, _),) = read(tmp_path, data)
    assert record["title"] == "\0\ud800 \u2028 \x1b[31m"
    separators = '{"id": "a", "title": "one\u2028two\u0085three"}'.encode()
    assert len(read(tmp_path, separators)) == 1  # a line ends at a line feed and nowhere else


def test_a_title_of_a_megabyte(tmp_path: Path) -> None:
    long = {"id": "a", "title": "x" * (1 << 20)}
    data = json.dumps(long).encode() + b"\n"
    for packed in (data * 3, gzip.compress(data * 3)):
        assert read(tmp_path, packed) == [(long, "papers.jsonl", n) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "line",
    [b"{", b'{"id": "a",}', b"id,title", b"{'id': 'a'}", b'{"id": "a"} {"id": "b"}', b"\0", b"\xff",
     b'{"id": "\xff"}', b"[" * 100_000, b"1" * 5000, b'{"title": "a\0b"}', b"\x1b[31m" * 99,
     '{"id": "a"}'.encode("utf-16")],
    ids=lambda line: repr(line[:20]),
)  # fmt: skip
def test_not_json(tmp_path: Path, line: bytes) -> None:
    message = refusal(tmp_path, PLAIN + b"\n" + line + b"\n" + PLAIN)
    assert message.startswith("papers.jsonl line 4 is no JSON (")
    assert message.endswith("Write one JSON object a line.")
    assert refusal(tmp_path, gzip.compress(PLAIN + b"\n" + line + b"\n")) == message


def test_one_array_over_several_lines(tmp_path: Path) -> None:
    assert refusal(tmp_path, b"[\n" + PLAIN + b"]\n").startswith("papers.jsonl line 1 is no JSON")


@pytest.mark.parametrize("data", [b"", b"\n\n", b" ", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(tmp_path: Path, data: bytes) -> None:
    path = str(tmp_path / "papers.jsonl")
    assert refusal(tmp_path, data).startswith(f"{path!r} is empty: it holds no papers.")
    with pytest.raises(DataError, match=r"is empty: it holds no surveys\."):
        list(source(tmp_path, data).surveys())


packed = gzip.compress(b"".join(b'{"id": "%d", "title": "T"}\n' % n for n in range(3000)), mtime=0)


@pytest.mark.parametrize("cut", [3, 11, 40, len(packed) // 2, len(packed) - 9, len(packed) - 1])
def test_a_packed_file_that_is_cut_off(tmp_path: Path, cut: int) -> None:
    path = str(tmp_path / "papers.jsonl")
    message = refusal(tmp_path, packed[:cut])
    assert message.startswith((f"{path!r} is damaged after line ", "papers.jsonl line "))
    assert "Get the file again." in message


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, len(packed) - 1), bit=st.integers(0, 7))
def test_a_packed_file_with_a_flipped_bit(tmp_path: Path, position: int, bit: int) -> None:
    """The checksum finds it, unless it hits a part of the header that means nothing."""
    data = bytearray(packed)
    data[position] ^= 1 << bit
    try:
        records = read(tmp_path, bytes(data))
    except DataError as error:
        assert "\n" not in str(error)
    else:
        assert 3 <= position < 10
        assert len(records) == 3000


def test_garbage_behind_a_packed_file(tmp_path: Path) -> None:
    message = refusal(tmp_path, gzip.compress(PLAIN) + b"garbage")
    assert "is damaged after line 2: Not a gzipped file" in message


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (files, jsonl):
        monkeypatch.setattr(module, "MAX_LINE", 1 << 20)
    line = b'{"id": "' + b"x" * (1 << 20)
    for data in (PLAIN + line, gzip.compress(PLAIN + line)):
        assert refusal(tmp_path, data).startswith("papers.jsonl line 3 has 1 MiB or more.")
    assert len(read(tmp_path, b'{"id": "' + b"x" * ((1 << 20) - 12) + b'"}\n')) == 1


def test_no_such_file(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(PLAIN)
    os.mkfifo(tmp_path / "pipe")
    for name, problem in (
        ("absent", "does not exist"),
        ("", "is a directory"),
        ("pipe", "is no regular file"),
        ("good/below", "does not exist"),
        ("nul\0", "does not exist"),
    ):
        path = tmp_path / name
        for papers, surveys in ((path, good), (good, path)):
            with pytest.raises(DataError) as caught:
                JsonLines(papers, surveys)
            assert str(caught.value) == f"{str(path)!r} {problem}. Name a file of JSON lines."


def test_the_file_vanishes(tmp_path: Path) -> None:
    made = source(tmp_path, PLAIN)
    (tmp_path / "papers.jsonl").unlink()
    with pytest.raises(DataError, match=r"cannot be read after line 0: No such file or directory"):
        list(made.papers())
    (tmp_path / "papers.jsonl").mkdir()
    with pytest.raises(DataError, match=r"cannot be read after line 0: Is a directory"):
        list(made.papers())


def test_reading_twice_gives_the_same(tmp_path: Path) -> None:
    made = source(tmp_path, PLAIN)
    first = list(made.papers())
    assert list(made.papers()) == first
    list(made.surveys())
    digest = hashlib.sha256(PLAIN).hexdigest()
    assert made.describe() == {
        "source": "jsonl",
        "files": {
            role: {"name": "papers.jsonl", "sha256": digest} for role in ("papers", "surveys")
        },
    }


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/n\xff"))
    path.write_bytes(PLAIN + b"{")
    made = JsonLines(path, path)
    with pytest.raises(DataError, match=r"^n\ufffd line 3 is no JSON"):
        list(made.papers())


def test_registered() -> None:
    assert SOURCES.get("jsonl") is JsonLines
    assert SOURCES.names() == [
        "bloom-eval", "jsonl", "openalex", "reportbench", "researcharena", "s2orc", "taxoalign",
        "taxobench", "world",
    ]  # fmt: skip


def test_the_real_files(real_data: Any) -> None:
    made = JsonLines(real_data.papers, real_data.surveys)
    papers, surveys = list(made.papers()), list(made.surveys())
    expected = real_data.read()
    assert [place.record for place in papers] == expected.papers
    assert [place.record for place in surveys] == expected.surveys
    assert [place.line for place in papers] == list(range(1, 29_169))
    for role, path in (("papers", real_data.papers), ("surveys", real_data.surveys)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert made.describe()["files"][role] == {"name": path.name, "sha256": digest}
