"""No array in a file is unpickled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.errors import CorpusError
from arena.kit.arrays import load_array


def test_no_array_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([print], object), allow_pickle=True)
    with pytest.raises(CorpusError, match="is damaged"):
        load_array(tmp_path / "a.npy")
