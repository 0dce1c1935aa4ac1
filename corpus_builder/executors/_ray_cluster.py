"""Joining the Ray cluster that there is, or starting one of this machine alone."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena._internal.cores import cores
from arena.errors import DataError, WorkerError, clip

LOOPBACK = "127.0.0.2"
"""Ray puts the machine's own address in the place of ``127.0.0.1`` and ``localhost``."""

_CURRENT = Path("ray_current_cluster")  # where `ray start` notes the address
_STORE = 200 << 20  # bytes of the object store; the tasks pass little but their results
_SECONDS = 10.0
_log = logging.getLogger(__name__)


def connect(workers: int | None, memory: int) -> tuple[Any, Callable[[], None]]:
    """Return the module `ray`, connected, and what ends the connection.

    A program that has called ``ray.init`` itself keeps its connection. Else ``RAY_ADDRESS``
    counts, then a cluster that this user has started on this machine, and if there is none, one
    is started that has this machine only and ends with this process.

    Args:
        workers: of a cluster that has to be started; None: one a processor.
        memory: bytes that each of them may ask for.

    Raises:
        DataError: if ``RAY_ADDRESS`` cannot be used.
        WorkerError: if no cluster answers, or it refuses.
    """
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        return sys.modules["ray"], lambda: None
    address = _address()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None and "RAY_AUTH_MODE" not in os.environ:
        # Ray listens on all addresses; only who knows the token may speak to it.
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    import ray

    options: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": logging.ERROR,
        "namespace": "researcharena",
    }
    if address is None:
        number = workers or cores()
        # Asked for, not measured: `--workers` has been chosen to fit.
        options |= {
            "address": "local",
            "num_cpus": number,
            "num_gpus": 0,
            "_memory": number * memory,
            "object_store_memory": _STORE,
            "include_dashboard": False,
            "_node_ip_address": LOOPBACK,
        }
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        reason = clip(" ".join(str(error).split()), 300)
        where = "start a local Ray cluster" if address is None else f"join the cluster {address}"
        raise WorkerError(f"cannot {where}: {reason}") from None
    _keep_off_standard_output()
    return ray, ray.shutdown


def _keep_off_standard_output() -> None:
    """Have Ray tell of lost nodes in the log, and not in the midst of what a command prints."""
    # A private name: where a release lacks it, its messages stay where they are.
    worker: Any = sys.modules.get("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = _tell


def _tell(data: dict[str, Any], **_: Any) -> None:
    for message in data.get("lines", ()):
        _log.warning("ray: %s", (str(message).strip().splitlines() or [""])[0][:200])


def _address() -> str | None:
    """Return HOST:PORT of the cluster to join; None if one is to be started.

    Raises:
        DataError, WorkerError: see `connect`.
    """
    given = os.environ.get("RAY_ADDRESS", "")
    if given and given not in ("auto", "local"):
        host, _, port = given.rpartition(":")
        if "/" in given or not host or not port.isdigit():
            raise DataError(
                f"RAY_ADDRESS={clip(given)}: give HOST:PORT of the cluster's head, and run the "
                "command on a machine of the cluster; ray:// is not supported."
            )
        if not _answers(given):
            raise WorkerError(
                f"no Ray cluster answers at RAY_ADDRESS={clip(given)}. Start one with `ray start "
                "--head`, or unset RAY_ADDRESS."
            )
        return given
    found = None if given == "local" else _started_here()
    if given == "auto" and found is None:
        raise WorkerError(
            "RAY_ADDRESS='auto', but no Ray cluster runs on this machine. Start one with `ray "
            "start`, or give HOST:PORT."
        )
    return found


def _started_here() -> str | None:
    """Return the address of a cluster that runs on this machine and belongs to its user."""
    note = Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / _CURRENT
    try:
        # Anyone can write to /tmp, and whoever has the cluster can have this process run code.
        if note.lstat().st_uid not in (0, os.getuid()):
            return None
        address = note.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return address if _answers(address) else None


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _SECONDS):
            return True
    except (OSError, ValueError, OverflowError):
        return False
