"""A Ray cluster of two nodes on this machine, in a process of its own; and tasks for it.

The nodes have addresses of the loopback, as two machines would have theirs: Ray replaces 127.0.0.1
and localhost, and no others. Whatever ends the tests ends the cluster: it reads its standard input
until that is closed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ADDRESSES = ("127.0.0.2", "127.0.0.3")
_STORE = 80 << 20


class Cluster:
    """Two nodes of one processor each."""

    def __init__(self, *nodes: dict[str, str]) -> None:
        """Start it.

        Args:
            nodes: environment of each node besides this process's.
        """
        self._temporary = tempfile.mkdtemp(dir="/tmp", prefix="rayt")  # sockets: short paths only
        # With a token: Ray listens on all addresses of the machine.
        self.environment = {
            **os.environ,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_TMPDIR": self._temporary,
            "PYTHONPATH": str(Path(__file__).parent),  # workers import the tests' tasks from it
        }
        self._process = subprocess.Popen(
            [sys.executable, __file__, json.dumps(nodes or ({}, {}))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError("the Ray cluster did not start")
        told = json.loads(line)
        self.environment["RAY_ADDRESS"] = told["address"]
        self.nodes: dict[str, int] = told["nodes"]  # address -> process that works for it

    def kill(self, address: str) -> None:
        """End a node as a power failure does, with all processes that it has started."""
        left = [self.nodes[address]]
        while left:
            pid = left.pop()
            left += _children(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End all of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._temporary, ignore_errors=True)


def _children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            after_name = path.read_text().rpartition(")")[2].split()
            if int(after_name[1]) == pid:
                found.append(int(path.parent.name))
    return found


def _serve(nodes: list[dict[str, str]]) -> None:
    from ray.cluster_utils import Cluster as RayCluster

    cluster = RayCluster()
    pids = {}
    for address, environment in zip(ADDRESSES, nodes, strict=True):
        head = {"_system_config": _QUICK} if not pids else {}
        os.environ |= environment
        node = cluster.add_node(
            num_cpus=1, memory=10**9, object_store_memory=_STORE, include_dashboard=False,
            node_ip_address=address, **head,
        )  # fmt: skip
        for name in environment:
            del os.environ[name]
        pids[address] = node.all_processes["raylet"][0].process.pid
    print(json.dumps({"address": cluster.address, "nodes": pids}), flush=True)
    sys.stdin.read()
    cluster.shutdown()


# A node that was killed is missed after five seconds, not thirty.
_QUICK = {"health_check_period_ms": 1000, "health_check_failure_threshold": 5}


# Tasks.


class Place(NamedTuple):
    """A task that tells where it ran.

    Attributes:
        number: of the task.
        directory: for files that tell that it has begun.
        stuck: address of the node on which it never ends.
        seconds: that it takes.
    """

    number: int
    directory: Path
    stuck: str = ""
    seconds: float = 0.0


def told_place(task: Place) -> tuple[int, str, int]:
    """Return the number of a task, and the address of the node and the process that did it."""
    import ray

    address = ray.util.get_node_ip_address()
    (task.directory / f"{task.number}@{address}@{os.getpid()}").touch()
    while address == task.stuck:
        time.sleep(0.1)
    time.sleep(task.seconds)
    return task.number, address, os.getpid()


def parsed_at(task: Any) -> tuple[dict[str, Any], str]:
    """Return the report of a shard, and the address of the node that read it."""
    import ray

    from corpus_builder.release import parse_shard

    return parse_shard(task), ray.util.get_node_ip_address()


class Odd(Exception):  # noqa: N818
    """Cannot be unpickled: its arguments are not those it is made of."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def fail(task: int) -> int:
    """Fail on the fourth task."""
    from arena.errors import DataError

    if task == 3:
        raise DataError("3 is no good")
    return task


def fail_oddly(task: int) -> int:
    """Fail with an error that cannot travel."""
    raise Odd("an odd", "error")


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
