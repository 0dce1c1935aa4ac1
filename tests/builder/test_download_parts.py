"""The parts of downloads that can be tried without a server."""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
import pickle
import random
import zlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.errors import DataError
from corpus_builder.download.api import ApiKey
from corpus_builder.download.checks import Claims, Digest, Gzip, claims
from corpus_builder.download.record import object_name


def sound(data: bytes, pieces: list[int]) -> bool:
    check, start = Gzip(), 0
    for piece in pieces:
        check.update(data[start : start + piece])
        start += piece
    check.update(data[start:])
    return check.end() is None


@given(
    members=st.lists(st.binary(max_size=300), min_size=1, max_size=3),
    padding=st.integers(0, 20),
    cut=st.integers(0, 40),
    flip=st.none() | st.integers(0, 10_000),
    more=st.binary(max_size=3),
    pieces=st.lists(st.integers(0, 60), max_size=20),
)
@example(members=[b"\0\0\0", b"\0\0\0\0\1"], padding=14, cut=0, flip=437, more=b"", pieces=[])
def test_gzip_agrees_with_the_standard_library(
    members: list[bytes], padding: int, cut: int, flip: int | None, more: bytes, pieces: list[int]
) -> None:
    packed = [gzip.compress(m, mtime=0) for m in members]
    data = bytearray(b"".join(packed) + bytes(padding) + more)
    reserved = False
    if flip is not None:
        place, flags = flip % len(data), {3 + sum(map(len, packed[:n])) for n in range(len(packed))}
        data[place] ^= 1 << flip % 8
        reserved = place in flags and flip % 8 >= 5 and place < len(data) - cut
    data = data[: max(len(data) - cut, 0)]
    try:
        gzip.decompress(bytes(data))
        # RFC 1952 refuses a reserved flag, which the standard library ignores.
        expected = len(data) > 0 and not reserved
    except (OSError, EOFError, zlib.error):
        expected = False
    assert sound(bytes(data), pieces) == expected


def test_gzip_needs_little_memory_for_a_bomb() -> None:
    """64 MiB of zeros in 64 kB, all given at once."""
    import tracemalloc

    bomb = gzip.compress(bytes(1 << 26))
    check = Gzip()
    tracemalloc.start()
    check.update(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert check.end() is None
    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("https://s3/staging/2024-02-06/papers/20240209_0_x-1.gz?X-Amz=1#f", "20240209_0_x-1.gz"),
        ("https://s3/papers/s2-corpus-000", "s2-corpus-000.gz"),
        ("https://s3/papers/a%20b%2Bc.gz", "a b+c.gz"),
    ],
)
def test_names_of_objects(link: str, name: str) -> None:
    assert object_name(link) == name


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
SHA256 = base64.b64encode(hashlib.sha256(b"x").digest()).decode()


@pytest.mark.parametrize(
    ("headers", "whole", "expected"),
    [
        ({}, True, Claims(9)),
        ({"ETag": f'"{MD5}"'}, False, Claims(9, f'"{MD5}"', MD5)),
        ({"ETag": f'"{MD5}-3"'}, False, Claims(9, f'"{MD5}-3"')),
        ({"ETag": f'W/"{MD5}"'}, False, Claims(9)),
        ({"ETag": MD5}, False, Claims(9)),
        # An object encrypted with a key of its own: the ETag looks like an MD5 and is none.
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "aws:kms"}, False,
         Claims(9, f'"{MD5}"')),
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "AES256"}, False,
         Claims(9, f'"{MD5}"', MD5)),
        ({"ETag": '"a"', "x-amz-checksum-sha256": SHA256, "x-amz-checksum-crc32": "AAABAA=="}, True,
         Claims(9, '"a"', None, hashlib.sha256(b"x").hexdigest(), 256)),
        # Of one part, or of the checksums of parts: not of the object.
        ({"ETag": '"a"', "x-amz-checksum-sha256": SHA256}, False, Claims(9, '"a"')),
        ({"ETag": '"a"', "x-amz-checksum-sha256": SHA256 + "-4"}, True, Claims(9, '"a"')),
        ({"ETag": '"a"', "x-amz-checksum-crc32": "AAAA"}, True, Claims(9, '"a"')),
    ],
)  # fmt: skip
def test_what_headers_claim(headers: dict[str, str], whole: bool, expected: Claims) -> None:
    assert claims(9, headers, whole) == expected


def test_every_claim_is_compared() -> None:
    data = random.Random(3).randbytes(1000)
    digest = Digest()
    digest.update(data)
    right = Claims(
        1000, None, hashlib.md5(data).hexdigest(), hashlib.sha256(data).hexdigest(),
        zlib.crc32(data),
    )  # fmt: skip
    assert digest.differs(right) is None
    assert digest.differs(Claims(1000)) is None
    wrong: dict[str, Any] = {"bytes": 999, "md5": MD5, "sha256": 64 * "0", "crc32": 0}
    for name, value in wrong.items():
        assert digest.differs(right._replace(**{name: value}))


def test_a_key_is_not_shown_nor_written() -> None:
    key = ApiKey("tell-nobody", "S2_API_KEY")
    assert key.header() == {"x-api-key": "tell-nobody"}
    for text in (repr(key), str(key), f"{key}", repr([key])):
        assert "tell" not in text
    for write in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            write(key)
