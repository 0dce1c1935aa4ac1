"""Which processor to use."""

from __future__ import annotations

import ctypes

from arena.encoders._packages import load
from arena.errors import DataError, clip


def resolve(device: str) -> str:
    """Return the device to use; looks for a driver first, because importing torch takes seconds.

    Raises:
        DataError: if the machine lacks the device.
    """
    if device == "auto":
        device = "cuda" if has_cuda() else "cpu"
    kind = device.partition(":")[0]
    if kind not in ("cpu", "cuda", "mps"):
        raise DataError(f"device={clip(device)}: give auto, cpu, cuda, cuda:1 or mps.")
    torch = None if kind == "cpu" else load("torch")
    if (kind == "cuda" and not has_cuda()) or (
        torch is not None and kind == "mps" and not torch.backends.mps.is_available()
    ):
        raise DataError(f"device={clip(device)}: this machine has none. Give device='cpu'.")
    return device


def has_cuda() -> bool:
    """Say whether torch can use a CUDA device; imports torch only where there is a driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return bool(load("torch").cuda.is_available())
