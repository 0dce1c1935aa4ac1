"""The parts of downloads that can be tried without a server."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import DataError
from corpus_builder.download.fetch import Known, known_of
from corpus_builder.download.s2 import object_name


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
