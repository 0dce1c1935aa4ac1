"""The parts of downloads that can be tried without a server."""

from __future__ import annotations

import gzip
import hashlib
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import DataError
from corpus_builder.download.fetch import Known, compare, gzip_damage, known_of
from corpus_builder.download.s2 import object_name


@pytest.mark.parametrize(
    ("content", "whole"),
    [
        (gzip.compress(b"x", mtime=0) + gzip.compress(b"y", mtime=0), True),
        (b"", False),
        (gzip.compress(b"x", mtime=0)[:-1], False),
        (gzip.compress(b"x", mtime=0)[:-8] + bytes(8), False),  # CRC-32
    ],
)
def test_damage_of_gzip(tmp_path: Path, content: bytes, whole: bool) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    assert (gzip_damage(path) is None) == whole
    assert gzip_damage(path, ".json") is None


@given(st.text(max_size=30))
def test_a_name_stays_in_its_directory(text: str) -> None:
    try:
        name = object_name(f"https://s3/papers/{text}")
    except DataError as error:
        assert "https" not in str(error)
        return
    assert name and not name.startswith(".") and "/" not in name and "\\" not in name
    assert name.isprintable() and name.endswith(".gz")


MD5 = hashlib.md5(b"x").hexdigest()


@pytest.mark.parametrize(
    ("headers", "md5"),
    [
        ({}, None),
        ({"ETag": f'"{MD5}"'}, MD5),
        ({"ETag": f'"{MD5}-3"'}, None),
        ({"ETag": f'W/"{MD5}"'}, None),
        # An object encrypted with a key of its own: the ETag looks like an MD5.
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "aws:kms"}, None),
    ],
)
def test_what_headers_say(headers: dict[str, str], md5: str | None) -> None:
    assert known_of(9, headers) == Known(9, md5)


def test_all_that_is_known_is_compared(tmp_path: Path) -> None:
    data = random.Random(3).randbytes(1000)
    path = tmp_path / "a"
    path.write_bytes(data)
    md5, sha256 = hashlib.md5(data).hexdigest(), hashlib.sha256(data).hexdigest()
    right = Known(1000, md5, sha256)
    assert compare(path, right) == compare(path, Known()) == (sha256, None)
    wrong: dict[str, Any] = {"bytes": 999, "md5": MD5, "sha256": 64 * "0"}
    for name, value in wrong.items():
        assert compare(path, right._replace(**{name: value}))[1]
