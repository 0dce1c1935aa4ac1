"""The Ray cluster that this process joins; it never starts one."""

from __future__ import annotations

import logging
import os
import platform
import socket
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from arena.errors import DataError, WorkerError, clip
from arena.version import __version__

__all__ = ["check_same", "connected", "versions"]

_PATIENCE = 10.0  # seconds until a head must accept a connection


def connected() -> Any:
    """Return the module `ray`, connected to ``RAY_ADDRESS``, or to this user's cluster here.

    Ray itself would start one where there is none, and try for a minute where none answers.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        return ray
    address = os.environ.get("RAY_ADDRESS", "")
    host, _, port = address.rpartition(":")
    if address in ("", "auto"):
        address = _users_cluster()
    elif "/" in address or not host or not port.isdigit():
        raise DataError(
            f"RAY_ADDRESS={clip(address)}: give HOST:PORT of the cluster's head, and run the "
            "command on a machine of the cluster; ray:// is not supported."
        )
    if not _answers(address):
        where = f"at RAY_ADDRESS={clip(address)}" if address else "on this machine"
        raise WorkerError(
            f"no Ray cluster answers {where}. Start one with `ray start --head`, or give HOST:PORT "
            "of one as RAY_ADDRESS; for the processors of this machine alone leave out ray."
        )
    try:
        ray.init(
            address, log_to_driver=False, logging_level=logging.ERROR, namespace="researcharena"
        )
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        reason = clip(" ".join(str(error).split()), 300)
        raise WorkerError(f"cannot use the Ray cluster {address}: {reason}") from None
    return ray


def versions(*distributions: str) -> dict[str, str]:
    """Return the versions, on this machine, of what all nodes must have alike; absent ones go."""
    ours = {"researcharena": __version__, "Python": platform.python_version()}
    for name in distributions:
        with suppress(metadata.PackageNotFoundError):  # of an extra that this work does not need
            ours[name] = metadata.version(name)
    return ours


def check_same(known: Mapping[str, str], here: Mapping[str, str], where: str = "") -> None:
    """Raise WorkerError if this node differs, in what is `known` of the machine that asks."""
    for name, theirs in known.items():
        if (ours := here.get(name)) != theirs:
            has = f"has {name} {ours[:12]}" if ours else f"lacks {name}"
            raise WorkerError(
                f"the Ray node {platform.node()} {has}{where}, the machine that asks "
                f"{theirs[:12]}. All need the same versions, and the same files at the same path."
            )


def _users_cluster() -> str:
    """Return the address of the cluster that this user, or root, started here, or nothing."""
    note = Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster"
    try:
        # Anyone can write to /tmp, and a cluster can run any code in this process.
        is_ours = note.lstat().st_uid in (0, os.getuid())
        return note.read_text(encoding="ascii").strip() if is_ours else ""
    except (OSError, ValueError):
        return ""


def _answers(address: str) -> bool:
    """Return whether something accepts a connection; Ray itself tries for a minute."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE):
            return True
    except (OSError, ValueError, OverflowError):
        return False
