"""Which processor to use."""

from __future__ import annotations

import ctypes

from arena.encoders._packages import load, require
from arena.errors import DataError, clip


def resolve(device: str) -> str:
    """Return the device to use; looks for a driver first, because importing torch takes seconds.

    Raises:
        DataError: if the machine lacks the device, or torch is not installed.
    """
    if device == "auto":
        return "cuda" if has_cuda() else "cpu"
    kind = device.partition(":")[0]
    if kind not in ("cpu", "cuda", "mps"):
        raise DataError(f"device={clip(device)}: give auto, cpu, cuda, cuda:1 or mps.")
    if kind == "cpu":
        return device
    require(f"device={clip(device)}", "torch")
    if not (has_cuda() if kind == "cuda" else _has_mps()):
        raise DataError(f"device={clip(device)}: this machine has none. Give device='cpu'.")
    return device


def has_cuda() -> bool:
    """Say whether torch can use a CUDA device; imports torch only where there is a driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
        return bool(load("torch").cuda.is_available())
    except (OSError, ImportError):  # no driver; a driver, but no torch, or one that does not load
        return False


def _has_mps() -> bool:
    try:
        return bool(load("torch").backends.mps.is_available())
    except (OSError, ImportError):
        return False
