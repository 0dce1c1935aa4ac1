"""Bad input, one kind at a time, through the reader of a shard."""

from __future__ import annotations

import gzip
import hashlib

import pytest
from release_helpers import as_bytes, citation, paper, read_shard, write_shard

from corpus_builder.sources.s2orc import S2orc


def read(tmp_path, data: bytes, dataset="papers", name="a.gz", limits=None):
    """Read a file with these bytes."""
    write_shard(tmp_path / "r" / "papers" / "0.gz", [paper(99)])
    path = tmp_path / "r" / dataset / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return read_shard(S2orc(tmp_path / "r"), f"{dataset}/{name}", tmp_path / "read", limits)


GOOD = [as_bytes(paper(number)) for number in range(1, 4)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"<html>Not found</html>\n", "not JSON"),
        (b'{"corpusid": 9, "title": "A\0B"}\n', "not JSON"),  # a bare NUL
        ('{"corpusid": 9, "title": "Überblick"}\n'.encode("latin-1"), "not UTF-8"),
        (b"9" * 100_000 + b"\n", "not JSON"),
        (b'{"corpusid": 9}\n', "of another dataset"),
        (as_bytes(citation()), "of another dataset"),
        (as_bytes({"corpusid": 9, "title": None}), "no title"),
        (as_bytes({"corpusid": None, "title": "A"}), "no id"),
        (as_bytes({"corpusid": 10**30, "title": "A"}), "no id"),
        (b'{"corpusid": "\\ud800", "title": "A"}\n', "no id"),
        (as_bytes({"corpusid": "9" * 257, "title": "A"}), "no id"),
    ],
)
def test_a_bad_line_is_rejected_and_the_others_are_read(tmp_path, line, reason):
    outcome = read(tmp_path, gzip.compress(b"".join([GOOD[0], line, b"\n", *GOOD[1:]])))
    assert [row[0] for row in outcome.rows["papers"]] == ["1", "2", "3"]
    assert outcome.report["rejected"] == {reason: 1}
    assert (outcome.report["lines"], outcome.report["damage"]) == (4, None)
    (entry,) = outcome.rejects
    assert (entry["shard"], entry["line"], entry["reason"], entry["kept"]) == (
        "papers/a.gz", 2, reason, False
    )  # fmt: skip
    assert len(entry["detail"]) <= 200


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_ends_of_lines_and_byte_order_marks(tmp_path, end, mark):
    data = mark + b"".join(GOOD).replace(b"\n", end.encode()) + b"\n\n"
    outcome = read(tmp_path, data[:-3], name="a.jsonl")
    assert outcome.report["lines"] == outcome.report["rows"]["papers"] == 3
    assert outcome.report["sha256"] == hashlib.sha256(data[:-3]).hexdigest()


def test_a_line_too_long(tmp_path):
    data = gzip.compress(GOOD[0] + b'"' + b"a" * (1 << 26) + b'"\n' + GOOD[1], 1)
    outcome = read(tmp_path, data)
    assert outcome.report["rejected"] == {"line too long": 1}
    assert [row[0] for row in outcome.rows["papers"]] == ["1", "2"]
    assert outcome.rejects[0]["line"] == 2
