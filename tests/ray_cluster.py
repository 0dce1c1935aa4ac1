"""A Ray cluster of two nodes on this machine, in processes of its own; and tasks for it.

The nodes have addresses of the loopback, as two machines would have theirs: Ray replaces 127.0.0.1
and localhost, and no others. Whatever ends the tests ends the cluster: it reads its standard input
until that is closed, and then kills every process of its session.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toy_release import ToyRelease

ADDRESSES = ("127.0.0.2", "127.0.0.3")
SECONDS = 60.0
"""After which whatever is waited for has failed; all of it takes seconds."""

_STORE = 80 << 20
_NOISE = re.compile(r"\bINFO\b| [ID] \d+ \d+\]|^:\w+:")
# A node whose connection is refused is lost after a second and a half; one that is only slow has
# Ray's usual ten seconds for each answer.
_QUICK = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 3,
}


def environment(directory: str) -> dict[str, str]:
    """Return the environment of Ray's processes whose files are in `directory`."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {
        **others,
        "RAY_TMPDIR": directory,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_enable_metrics_collection": "0",
        "RAY_memory_monitor_refresh_ms": "0",  # kills for what others on the machine have taken
        # Workers import the tests' tasks, and this checkout whatever else is installed.
        "PYTHONPATH": os.pathsep.join(map(str, Path(__file__).resolve().parents[:2])),
    }


class Process(NamedTuple):
    """A living process, from the file ``stat`` of proc(5)."""

    pid: int
    parent: int
    session: int


def processes() -> Iterator[Process]:
    """Yield the living processes of this machine."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, _, session = path.read_text().rpartition(")")[2].split()[:4]
            if state not in "ZX":
                yield Process(int(path.parent.name), int(parent), int(session))


def members(session: int) -> list[int]:
    """Return the processes of a session, apart from this one: Ray's workers stay in theirs."""
    return [p.pid for p in processes() if p.session == session and p.pid != os.getpid()]


def clear(session: int, directory: str) -> None:
    """Kill a session, and remove the directory of its files."""
    deadline = time.monotonic() + SECONDS
    while left := members(session):
        if time.monotonic() > deadline:
            raise RuntimeError(f"the processes {left} cannot be killed")
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    shutil.rmtree(directory, ignore_errors=True)


def wait_for(condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    """Return what `found` returns once that is true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(0.05)
    return value


class Cluster:
    """Two nodes of one processor each."""

    def __init__(self) -> None:
        # In /tmp the paths of its sockets are short enough.
        self.directory = tempfile.mkdtemp(dir="/tmp", prefix="rayt")
        # With a token: Ray listens on all addresses of the machine.
        self.environment = {
            **environment(self.directory),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }
        self._process = self.start([sys.executable, __file__, "serve"])
        try:
            reply = self.answer(self._process, "the start of the cluster")
        except BaseException:
            self.close()
            raise
        self.environment["RAY_ADDRESS"] = reply["address"]
        self._raylets: dict[str, int] = reply["raylets"]

    def start(self, command: list[str]) -> subprocess.Popen[str]:
        """Start a process that speaks JSON lines; its errors go where `logs` finds them."""
        with (Path(self.directory) / "processes.err").open("ab") as errors:
            return subprocess.Popen(
                command, env=self.environment, text=True, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip

    def answer(self, process: subprocess.Popen[str], what: str) -> Any:
        """Return the next line of a process."""
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        line = process.stdout.readline() if ready else ""
        if not line:
            state = "has ended" if ready else f"has not answered within {SECONDS:g} s"
            raise RuntimeError(f"{what}: the process {state}\n{self.logs()}")
        return json.loads(line)

    def logs(self) -> str:
        """Return the last lines of every log in which there is something of note."""
        reply = []
        for path in sorted(Path(self.directory).rglob("*")):
            wanted = path.name == "processes.err" or path.parent.name == "logs"
            if wanted and path.is_file() and "latest" not in str(path):
                lines = path.read_text(errors="replace").splitlines()
                lines = [line[:300] for line in lines if not _NOISE.search(line)][-12:]
                reply += [f"--- {path.name}", *lines] if lines else []
        return "\n".join(reply)

    def kill(self, address: str) -> None:
        """End a node as a power failure does, with all processes that it has started."""
        tree = [self._raylets[address]]
        for pid in tree:  # grows; who is stopped starts no more
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                tree += [p.pid for p in processes() if p.parent == pid]
        for pid in tree:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End all of it."""
        clear(self._process.pid, self.directory)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()


def _serve() -> None:
    from ray.cluster_utils import Cluster as RayCluster

    reply = _lone_output()
    try:
        cluster = RayCluster(shutdown_at_exit=False)
        raylets = {}
        for address in ADDRESSES:
            head = {} if raylets else {"_system_config": _QUICK}
            node = cluster.add_node(
                num_cpus=1, memory=10**9, object_store_memory=_STORE, node_ip_address=address,
                include_dashboard=False, include_log_monitor=False, no_monitor=True, **head,
            )  # fmt: skip
            raylets[address] = node.all_processes["raylet"][0].process.pid
        print(json.dumps({"address": cluster.address, "raylets": raylets}), file=reply, flush=True)
        sys.stdin.read()
    finally:
        clear(os.getsid(0), os.environ["RAY_TMPDIR"])


class Driver:
    """A process that is connected to the cluster: Ray's threads stay out of that of the tests."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.process = cluster.start([sys.executable, __file__, "drive"])

    def begin(self, code: str) -> None:
        """Have it run code that sets `answer`, to JSON values."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()

    def end(self) -> Any:
        """Return the answer to what was begun."""
        reply = self._cluster.answer(self.process, "a driver")
        if "error" in reply:
            raise RuntimeError(f"{reply['error']}\n{self._cluster.logs()}")
        return reply["answer"]

    def do(self, code: str) -> Any:
        """Run code, and return its answer."""
        self.begin(code)
        return self.end()

    def close(self) -> None:
        """Kill it, if it has not ended."""
        self.process.kill()
        self.process.communicate()


def _drive() -> None:
    reply = _lone_output()
    for line in sys.stdin:
        names: dict[str, Any] = {}
        try:
            exec(json.loads(line), names)
            result = {"answer": names["answer"]}
        except Exception:
            result = {"error": traceback.format_exc()}
        print(json.dumps(result), file=reply, flush=True)


def _lone_output() -> Any:
    """Return standard output; what others print from now on goes to the errors."""
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return reply


# Tasks.


class Place(NamedTuple):
    """A task that says where it ran; with `meet` it ends when both nodes have begun one."""

    number: int
    directory: Path
    meet: bool = False
    seconds: float = 0.0


def report_place(task: Place) -> tuple[int, str]:
    """Return the number of a task, and the address of the node that did it."""
    address = _here()
    (task.directory / f"{task.number}@{address}@{os.getpid()}").touch()
    if task.meet:
        wait_for(
            lambda: all(list(task.directory.glob(f"*@{other}@*")) for other in ADDRESSES),
            "both nodes have a task", SECONDS / 2,
        )  # fmt: skip
    time.sleep(task.seconds)
    return task.number, address


class MeetingRelease(ToyRelease):
    """Has shards that are read only when both nodes have begun one."""

    def __init__(self, directory: str | Path, notes: str | Path, stuck: str = "") -> None:
        """Note each node that has begun in `notes`; the node `stuck` never ends its shard."""
        super().__init__(directory)
        self._notes, self._stuck = Path(notes), stuck

    def parse(self, *arguments: Any) -> None:
        """Note, wait, and read a record."""
        address = _here()
        (self._notes / address).touch()
        wait_for(
            lambda: all((self._notes / other).exists() for other in ADDRESSES),
            "both nodes have a shard", SECONDS / 2,
        )  # fmt: skip
        while address == self._stuck:
            time.sleep(0.1)
        super().parse(*arguments)


def _here() -> str:
    import ray

    return str(ray.util.get_node_ip_address())


if __name__ == "__main__":
    _serve() if sys.argv[1] == "serve" else _drive()
