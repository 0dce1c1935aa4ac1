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
from corpus_builder.download.parts import Claims, PartFile, claims, compare, gzip_damage
from corpus_builder.download.s2 import object_name


@pytest.mark.parametrize(
    ("content", "damage"),
    [
        (gzip.compress(b"x", mtime=0) + gzip.compress(b"y", mtime=0), None),
        (gzip.compress(b"x", mtime=0) + bytes(9), None),  # padding
        (b"", "it is empty"),
        (gzip.compress(b"x", mtime=0)[:-1], "the gzip stream is cut off"),
        (gzip.compress(b"x", mtime=0) + b"rubbish", "no sound gzip stream"),
        (gzip.compress(b"x", mtime=0)[:-8] + bytes(8), "no sound gzip stream"),  # CRC-32
    ],
)
def test_damage_of_gzip(tmp_path: Path, content: bytes, damage: str | None) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    assert (gzip_damage(path) or "")[:20] == (damage or "")[:20]
    assert gzip_damage(path, ".json") is None


def test_gzip_needs_little_memory_for_a_bomb(tmp_path: Path) -> None:
    """64 MiB of zeros in 64 kB."""
    import tracemalloc

    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(1 << 26)))
    tracemalloc.start()
    assert gzip_damage(tmp_path / "a.gz") is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
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


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, Claims(9)),
        ({"ETag": f'"{MD5}"'}, Claims(9, f'"{MD5}"', MD5)),
        ({"ETag": f'"{MD5}-3"'}, Claims(9, f'"{MD5}-3"')),
        ({"ETag": f'W/"{MD5}"'}, Claims(9)),
        ({"ETag": MD5}, Claims(9)),
        # An object encrypted with a key of its own: the ETag looks like an MD5 and is none.
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "aws:kms"}, Claims(9, f'"{MD5}"')),
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "AES256"},
         Claims(9, f'"{MD5}"', MD5)),
    ],
)  # fmt: skip
def test_what_headers_claim(headers: dict[str, str], expected: Claims) -> None:
    assert claims(9, headers) == expected


def test_every_claim_is_compared(tmp_path: Path) -> None:
    data = random.Random(3).randbytes(1000)
    path = tmp_path / "a"
    path.write_bytes(data)
    md5, sha256 = hashlib.md5(data).hexdigest(), hashlib.sha256(data).hexdigest()
    right = Claims(1000, None, md5, sha256)
    assert compare(path, right) == compare(path, Claims()) == (sha256, None)
    wrong: dict[str, Any] = {"bytes": 999, "md5": MD5, "sha256": 64 * "0"}
    for name, value in wrong.items():
        assert compare(path, Claims(), right._replace(**{name: value}))[1]


ETAG = '"etag": "\\"a\\""'


@pytest.mark.parametrize(
    ("claims", "resumes"),
    [("{" + ETAG + "}", True), ('{"bytes": 3, ' + ETAG + "}", True), ("{", False), ("3", False),
     ("[]", False), ('{"bytes": 3}', False), ('{"bytes": 2, ' + ETAG + "}", False),
     ('{"bytes": "3", ' + ETAG + "}", False), ('{"bytes": [], ' + ETAG + "}", False),
     ('{"bytes": 3, "etag": 3}', False), ('{"more": 1, ' + ETAG + "}", False), ("[" * 9999, False)],
)  # fmt: skip
def test_a_part_resumes_only_with_sound_claims(tmp_path: Path, claims: str, resumes: bool) -> None:
    (tmp_path / ".a.gz.part").write_bytes(b"xyz")
    (tmp_path / ".a.gz.part.json").write_text(claims)
    assert PartFile(tmp_path / "a.gz").resumes is resumes
