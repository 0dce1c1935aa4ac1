"""Encoders: texts to vectors, found by name; the engine ``dense`` searches what they make."""

from arena.encoders.base import (
    ENCODERS,
    Encoder,
    encoder,
    make_encoder,
    make_label_encoder,
    promises_bits,
)

__all__ = [
    "ENCODERS", "Encoder", "encoder", "make_encoder", "make_label_encoder", "promises_bits",
]  # fmt: skip
