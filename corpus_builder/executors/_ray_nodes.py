"""Whether every node of a Ray cluster has the same code, and sees the files of this one."""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from arena import __version__
from arena.errors import WorkerError, clip

SHAPING = ("duckdb", "numpy", "orjson", "pyarrow", "regex")
"""Distributions whose versions may show in a file."""

_SECONDS = 60.0  # to start a process on every node
_PATIENCE = 10.0  # until a file that another machine wrote must be seen


def check_nodes(ray: Any, directory: Path | None, memory: int) -> None:
    """Ask every node; refuse a cluster whose results could differ, or would be lost.

    Args:
        ray: the module, connected.
        directory: that the tasks write to; its nearest parent that exists is looked for.
        memory: bytes that a task asks for.

    Raises:
        WorkerError: in one line, naming the node.
    """
    nodes = [node for node in ray.nodes() if node["Alive"]]
    _check_room(nodes, memory)
    token = secrets.token_hex(16)
    probe: Path | None = None
    if directory is not None:
        known = next(path for path in (directory, *directory.parents) if path.is_dir())
        probe = known / f".probe-{token}"
        probe.write_text(token, encoding="ascii")
    try:
        strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        look = ray.remote(_looker(SHAPING, _PATIENCE))
        asked = {
            look.options(
                num_cpus=0, scheduling_strategy=strategy(node["NodeID"], soft=False)
            ).remote(None if probe is None else str(probe), token): _name(node)
            for node in nodes
            if node["Resources"].get("CPU", 0) >= 1
        }
        for reference, name in asked.items():
            try:
                told = ray.get(reference, timeout=_SECONDS)
            except ray.exceptions.RayError as error:
                reason = clip(" ".join(str(error).split()), 200)
                raise WorkerError(f"the Ray node {name} does not work: {reason}") from None
            _compare(name, told, probe)
    finally:
        if probe is not None:
            for path in probe.parent.glob(f"{probe.name}*"):
                with suppress(OSError):
                    path.unlink()


def _check_room(nodes: list[dict[str, Any]], memory: int) -> None:
    """Refuse a cluster on which no task would ever begin."""
    for node in nodes:
        resources = node["Resources"]
        if resources.get("CPU", 0) >= 1 and resources.get("memory", 0) >= memory:
            return
    raise WorkerError(
        f"none of the {len(nodes)} nodes of the Ray cluster has a processor and "
        f"{memory // 10**6} MB of memory for a task. See `ray status`."
    )


def _name(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"


def _versions() -> dict[str, str]:
    return {
        "researcharena": __version__,
        "Python": platform.python_version(),
        **{name: metadata.version(name) for name in SHAPING},
    }


def _compare(name: str, told: dict[str, Any], probe: Path | None) -> None:
    for package, here in _versions().items():
        there = told["versions"].get(package)
        if there != here:
            has = f"has {package} {there}" if there else f"lacks {package}"
            raise WorkerError(
                f"the Ray node {name} {has}, this machine {here}. Install the same everywhere: "
                "other versions may write other bytes."
            )
    if probe is None:
        return
    deadline = time.monotonic() + _PATIENCE
    answer = probe.with_name(f"{probe.name}.{told['node']}")
    while told["sees"] and not answer.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    if not told["sees"] or not answer.exists():
        raise WorkerError(
            f"the Ray node {name} does not share {str(probe.parent)!r} with this machine. Put "
            "input and output on a file system that all nodes see, under the same path."
        )


def _looker(shaping: tuple[str, ...], patience: float) -> Callable[[str | None, str], Any]:
    # A function within one travels by value: a node without this project can answer, too.
    def look(probe: str | None, token: str) -> dict[str, Any]:
        import platform
        import secrets
        import time
        from importlib import metadata
        from pathlib import Path

        versions = {"Python": platform.python_version()}
        try:
            from arena import __version__

            versions["researcharena"] = __version__
        except ImportError:
            pass
        for name in shaping:
            try:
                versions[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
        node, sees = secrets.token_hex(8), False
        deadline = time.monotonic() + patience
        while probe is not None and not sees:
            try:
                sees = Path(probe).read_text(encoding="ascii") == token
                Path(f"{probe}.{node}").touch()
            except OSError:
                sees = False
            if time.monotonic() > deadline:
                break
            if not sees:
                time.sleep(0.2)
        return {"versions": versions, "node": node, "sees": sees}

    return look
