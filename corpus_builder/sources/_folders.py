"""Folders and files of a published data set: is it there, and is it the right one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip


def find_one(path: Path, pattern: str, data_set: str) -> Path:
    """Return `path` if it is a file, or else the one file in it that fits a pattern.

    Raises:
        DataError: if there is no such file, or more than one.
    """
    if not path.is_dir():
        if path.is_file():
            return path
        raise DataError(f"{str(path)!r} does not exist. Name {data_set}, which has {pattern}.")
    found = sorted(path.glob(pattern))
    if len(found) != 1:
        what = "no" if not found else f"{len(found)} files"
        raise DataError(f"{str(path)!r} holds {what} {pattern}. Name {data_set}, which has one.")
    return found[0]


def read_json(path: Path, hashes: dict[str, str], name: str) -> Any:
    """Read a JSON file, and put its sha256 into `hashes` under `name`.

    Raises:
        DataError: if it is missing, empty or no JSON.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    hashes[name] = hashlib.sha256(data).hexdigest()
    try:
        return json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{str(path)!r} is no JSON ({clip(str(error))}). Get it again.") from None


def check_record(record: object, where: str, keys: Mapping[str, type], data_set: str) -> Any:
    """Return `record` if it is an object that has these keys with values of these types.

    Raises:
        DataError: naming the data set that was expected, the key and what stands there.
    """
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: {clip(record)} is no JSON object: this is not {data_set}.")
    for key, kind in keys.items():
        if not isinstance(record.get(key), kind):
            told = clip(record[key], 60) if key in record else "no such key"
            raise DataError(f"{where}: {key!r} is {told}: this is not {data_set}.")
    return record
