"""Arrays in files: the bytes that numpy writes, and nothing unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.errors import CorpusError
from arena.kit.arrays import ArrayWriter, load_array, save_array


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.uint8, np.float16])
@pytest.mark.parametrize("length", [0, 1, 1000])
def test_arrays_are_what_numpy_writes(tmp_path: Path, dtype: Any, length: int) -> None:
    array = np.arange(length).astype(dtype)
    np.save(tmp_path / "numpy.npy", array)
    save_array(tmp_path / "ours.npy", array)
    with ArrayWriter(tmp_path / "parts.npy", dtype) as writer:
        writer.append(array[: length // 3])
        writer.append([])
        writer.append(array[length // 3 :].tolist())
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    loaded = load_array(tmp_path / "ours.npy")
    assert loaded.dtype == dtype and loaded.tolist() == array.tolist()
    assert not loaded.flags.writeable or length == 0


def test_no_array_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([print], object), allow_pickle=True)
    with pytest.raises(CorpusError, match="is damaged"):
        load_array(tmp_path / "a.npy")
