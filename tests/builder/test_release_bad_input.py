"""Bad input, one kind at a time, through the reader of a shard."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_helpers import as_bytes, citation, paper, read_shard, write_shard

from corpus_builder.release import RecordLimits, RejectError, Sink
from corpus_builder.sources.openalex import OpenAlex
from corpus_builder.sources.s2orc import DATASETS, S2orc


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
        (b'{"corpusid": 9, "title": "A\n', "no JSON"),
        (b"<html>Not found</html>\n", "no JSON"),
        (b'{"corpusid": 9, "title": "A\0B"}\n', "no JSON"),  # a bare NUL
        (b"\0\0\0\0\n", "no JSON"),
        ('{"corpusid": 9, "title": "Überblick"}\n'.encode("latin-1"), "no UTF-8"),
        (b"[" * 100_000 + b"\n", "no JSON"),
        (b"9" * 100_000 + b"\n", "no JSON"),
        (b"[]\n", "no object"),
        (b'"paper"\n', "no object"),
        (b"null\n", "no object"),
        (b'{"corpusid": 9}\n', "of another dataset"),
        (as_bytes(citation()), "of another dataset"),
        (as_bytes({"corpusid": 9, "title": None}), "no title"),
        (as_bytes({"corpusid": 9, "title": " \n"}), "no title"),
        (as_bytes({"corpusid": 9, "title": ["A"]}), "no title"),
        (as_bytes({"corpusid": None, "title": "A"}), "no id"),
        (as_bytes({"corpusid": True, "title": "A"}), "no id"),
        (as_bytes({"corpusid": -9, "title": "A"}), "no id"),
        (as_bytes({"corpusid": 9.5, "title": "A"}), "no id"),
        (as_bytes({"corpusid": 10**30, "title": "A"}), "no id"),
        (as_bytes({"corpusid": "9 9", "title": "A"}), "no id"),
        (as_bytes({"corpusid": "9\0", "title": "A"}), "no id"),
        (b'{"corpusid": "\\ud800", "title": "A"}\n', "no id"),
        (as_bytes({"corpusid": "9" * 257, "title": "A"}), "no id"),
        (as_bytes({"corpusid": "", "title": "A"}), "no id"),
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


def test_a_truncated_shard(tmp_path):
    lines = [as_bytes(paper(n, title=hashlib.sha256(b"%d" % n).hexdigest())) for n in range(1000)]
    whole = gzip.compress(b"".join(lines), mtime=0)
    outcome = read(tmp_path, whole[: len(whole) // 2])
    assert 0 < outcome.report["lines"] < 1000
    assert [row[0] for row in outcome.rows["papers"]] == [
        str(n) for n in range(outcome.report["lines"])
    ]
    assert "end" in outcome.report["damage"].lower()
    assert outcome.report["sha256"] == hashlib.sha256(whole[: len(whole) // 2]).hexdigest()


def test_a_line_too_long(tmp_path):
    data = gzip.compress(GOOD[0] + b'"' + b"a" * (1 << 26) + b'"\n' + GOOD[1], 1)
    outcome = read(tmp_path, data)
    assert outcome.report["rejected"] == {"line too long": 1}
    assert [row[0] for row in outcome.rows["papers"]] == ["1", "2"]
    assert outcome.rejects[0]["line"] == 2


def test_the_wrong_dataset_in_a_folder(tmp_path):
    records = {
        "papers": as_bytes({"corpusid": 1, "model": "tldr", "text": "t"}),
        "abstracts": GOOD[0],
        "citations": GOOD[0],
        "s2orc": GOOD[0],
    }
    for dataset, line in records.items():
        outcome = read(tmp_path, line, dataset, "b.jsonl")
        assert outcome.report["rejected"] == {"of another dataset": 1}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
KEYS = [
    "corpusid", "title", "year", "publicationdate", "authors", "venue", "journal", "abstract",
    "publicationtypes", "referencecount", "s2fieldsofstudy", "citingcorpusid", "citedcorpusid",
    "isinfluential", "content", "body", "bibliography", "id", "publication_year", "type",
    "publication_date", "authorships", "topics", "concepts", "primary_location", "display_name",
    "referenced_works", "referenced_works_count", "abstract_inverted_index", "is_paratext",
]  # fmt: skip
PLAUSIBLE = st.sampled_from(
    [1, "2", "Reefs", 2018, "2018-01-01", "https://openalex.org/W1", {"text": "Reefs."},
     {"Reefs": [0]}, {"name": "Reefs"}, ["https://openalex.org/W1", "W2", None], [{"name": 1}]]
)  # fmt: skip


@given(
    record=VALUES | st.dictionaries(st.sampled_from(KEYS), PLAUSIBLE | VALUES, min_size=8),
    limits=st.sampled_from([RecordLimits(), RecordLimits(characters=3)]),
)
def test_no_record_breaks_a_source(tmp_path_factory, record, limits):
    directory = tmp_path_factory.getbasetemp()
    sources = [(S2orc(directory), name) for name in DATASETS] + [(OpenAlex(directory), "works")]
    for source, dataset in sources:
        sink = Sink()
        try:
            source.parse(dataset, record, sink, limits)
        except RejectError as error:
            assert error.reason
            continue
        for _, row in sink.rows:
            json.dumps(row, ensure_ascii=False).encode()  # no surrogate is left
            assert isinstance(row[0], str)
