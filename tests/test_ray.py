"""The executor ray on a real cluster of two nodes: the same files, whatever becomes of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from toy_release import write_toy

from arena.errors import DataError, WorkerError
from corpus_builder.executors import _ray_nodes, make_executor
from corpus_builder.release import Limits, ShardTask, parse_shard
from corpus_builder.world import WorldConfig

pytest.importorskip("ray", reason="the extra ray is not installed")
if not Path("/proc/self/stat").exists():
    pytest.skip("two loopback addresses and /proc are needed", allow_module_level=True)

from ray_cluster import ADDRESSES, Cluster

TESTS = Path(__file__).parent
WORLD = WorldConfig(seed=5, papers=300, surveys=4)
CONFIG = {
    "full_text_only": False,
    "surveys": {"title": "survey", "judge": "all"},
    "index": {"engines": ["bm25", "dense"], "fields": ["title", "abstract"]},
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes that no test harms."""
    started = Cluster()
    yield started
    started.close()


@pytest.fixture
def mortal() -> Iterator[Cluster]:
    """Two nodes of which a test may kill the second."""
    started = Cluster()
    yield started
    started.close()


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("toy") / "release"
    write_toy(directory, WORLD, shards=8)
    return directory


HEAD = f"""
import json, sys
sys.path.insert(0, {str(TESTS)!r})
from pathlib import Path
from corpus_builder.executors import make_executor
import ray_cluster
"""


def start(cluster: Cluster, code: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Start a driver: Ray's threads stay out of the process of the tests."""
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + code], env=cluster.environment, text=True, cwd=cwd,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def call(cluster: Cluster, code: str) -> Any:
    """Run a driver that prints JSON."""
    with start(cluster, code) as driver:
        out, err = driver.communicate(timeout=90)
    assert driver.returncode == 0, err
    return json.loads(out)


PLACES = """
from ray_cluster import Place, told_place
executor = make_executor("ray", {workers})
tasks = [Place(i, Path({directory!r}), {stuck!r}, {seconds}) for i in range({tasks})]
print(json.dumps(sorted(executor.run(told_place, tasks))))
executor.close()
"""


def places(directory: Path, **options: Any) -> str:
    usual = {"workers": None, "stuck": "", "seconds": 0.2, "tasks": 10}
    return PLACES.format(directory=str(directory), **{**usual, **options})


def wait_for(found: Any, seconds: float = 60.0) -> Any:
    """Return what `found` returns once that is true."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "nothing has happened"
        time.sleep(0.05)
    return value


def test_tasks_run_on_both_nodes(cluster: Cluster, tmp_path: Path) -> None:
    told = call(cluster, places(tmp_path))
    assert [number for number, _, _ in told] == list(range(10))
    assert {address for _, address, _ in told} == set(ADDRESSES)
    # Nothing is left of the file by which the nodes were asked what they see.
    assert not [path for path in tmp_path.iterdir() if "probe" in path.name]


def test_no_more_tasks_at_once_than_workers(cluster: Cluster, tmp_path: Path) -> None:
    told = call(cluster, places(tmp_path, workers=1, seconds=0.0))
    assert len(told) == 10
    taken = call(
        cluster,
        "taken = []\n"
        "def numbers():\n"
        "    for i in range(50):\n"
        "        taken.append(i)\n"
        "        yield i\n"
        "executor = make_executor('ray', 3)\n"
        "results, ahead = [], 0\n"
        "for result in executor.run(abs, numbers()):\n"
        "    results.append(result)\n"
        "    ahead = max(ahead, len(taken) - len(results))\n"
        "print(json.dumps([sorted(results), ahead]))\n"
        "executor.close()\n",
    )
    assert taken[0] == list(range(50))
    assert taken[1] <= 3


def test_a_node_dies_and_the_work_goes_on(mortal: Cluster, tmp_path: Path) -> None:
    """The second node never ends what it begins, until its power fails."""
    code = places(tmp_path, stuck=ADDRESSES[1], seconds=0.0)
    with start(mortal, code) as driver:
        try:
            begun = wait_for(lambda: list(tmp_path.glob(f"*@{ADDRESSES[1]}@*")))
            mortal.kill(ADDRESSES[1])
            out, err = driver.communicate(timeout=90)
        finally:
            driver.kill()
    assert driver.returncode == 0, err
    told = json.loads(out)
    assert [(number, address) for number, address, _ in told] == [
        (number, ADDRESSES[0]) for number in range(10)
    ]
    number = begun[0].name.partition("@")[0]
    assert len(list(tmp_path.glob(f"{number}@*"))) == 2  # begun twice, done once


PARSED = """
from ray_cluster import parsed_at
from corpus_builder.release import Limits, ShardTask
from toy_release import ToyRelease
release = ToyRelease({release!r})
tasks = [ShardTask(release, s, Limits(), Path({output!r}) / s.name) for s in release.shards()]
executor = make_executor("ray", None)
print(json.dumps(sorted(executor.run(parsed_at, tasks), key=str)))
executor.close()
"""


def test_shards_read_on_two_nodes(cluster: Cluster, release: Path, tmp_path: Path) -> None:
    from toy_release import ToyRelease

    output = tmp_path / "ray"
    (output / "papers").mkdir(parents=True)
    told = call(cluster, PARSED.format(release=str(release), output=str(output)))
    assert {address for _, address in told} == set(ADDRESSES)
    (tmp_path / "here" / "papers").mkdir(parents=True)
    source = ToyRelease(release)
    for shard in source.shards():
        task = ShardTask(source, shard, Limits(), tmp_path / "here" / shard.name)
        assert [parse_shard(task)] == [r for r, _ in told if r["shard"] == shard.name]
    assert contents(output) == contents(tmp_path / "here")


BUILD = """
from toy_release import ToyRelease
from corpus_builder.stages import plan, read_config, run_stages
config = read_config({config!r})
run_stages(plan("toy", ToyRelease({release!r}), {output!r}, config, workers=2, engine={engine!r}))
print(json.dumps(None))
"""


def test_a_whole_build(cluster: Cluster, release: Path, tmp_path: Path) -> None:
    """Read, linked and encoded by Ray, every file is as processes of this machine make it."""
    found = {}
    for engine in ("local", "ray"):
        output = tmp_path / engine / "c"
        output.parent.mkdir()
        code = BUILD.format(config=CONFIG, release=str(release), output=str(output), engine=engine)
        call(cluster, code)
        files = contents(output.parent)
        assert "c/index/dense/vectors.npy" in files
        found[engine] = files
    assert found["ray"] == found["local"]


def index(cluster: Cluster, corpus: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "corpus_builder.cli", "index", str(corpus), "--engine", "dense",
         *arguments],
        env=cluster.environment, capture_output=True, text=True, timeout=90,
    )  # fmt: skip


def test_vectors_encoded_on_the_cluster(cluster: Cluster, world: Path, tmp_path: Path) -> None:
    corpora = {name: shutil.copytree(world, tmp_path / name) for name in ("one", "ray")}
    for name, arguments in (("one", ()), ("ray", ("--executor", "ray"))):
        result = index(cluster, corpora[name], "--name", "mine", *arguments)
        assert result.returncode == 0, result.stderr
    assert contents(corpora["one"] / "index/mine") == contents(corpora["ray"] / "index/mine")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_driver_that_ends_ends_its_tasks(cluster: Cluster, tmp_path: Path, how: int) -> None:
    with start(cluster, places(tmp_path, seconds=300)) as driver:
        try:
            wait_for(lambda: len(list(tmp_path.glob("*@*"))) >= 2)
            pids = {int(path.name.rpartition("@")[2]) for path in tmp_path.glob("*@*")}
            driver.send_signal(how)
            driver.communicate(timeout=60)
        finally:
            driver.kill()
    assert driver.returncode in (-how, 1)
    wait_for(lambda: not any(Path(f"/proc/{pid}/stat").exists() for pid in pids))
    assert [n for n, _, _ in call(cluster, places(tmp_path, tasks=2))] == [0, 1]


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("fail", "DataError 3 is no good"),
        ("fail_oddly", "WorkerError Odd: 'an odd error'"),
    ],
)
def test_errors_of_tasks(cluster: Cluster, function: str, error: str) -> None:
    code = (
        "executor = make_executor('ray', 2)\n"
        "try:\n"
        f"    list(executor.run(ray_cluster.{function}, range(100)))\n"
        "except Exception as error:\n"
        "    print(json.dumps(f'{type(error).__name__} {error}'))\n"
        "executor.close()\n"
    )
    assert call(cluster, code) == error


def test_no_cluster_answers(cluster: Cluster, world: Path, tmp_path: Path) -> None:
    corpus = shutil.copytree(world, tmp_path / "c")
    for address, told in (
        ("127.0.0.2:1", "no Ray cluster answers at RAY_ADDRESS='127.0.0.2:1'"),
        ("ray://127.0.0.2:10001", "ray:// is not supported"),
        ("here", "give HOST:PORT"),
    ):
        environment = {**cluster.environment, "RAY_ADDRESS": address}
        result = subprocess.run(
            [sys.executable, "-m", "corpus_builder.cli", "index", str(corpus), "--engine", "dense",
             "--name", "x", "--executor", "ray"],
            env=environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert result.returncode == 2
        assert told in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_cluster_of_its_own(tmp_path: Path) -> None:
    """Where none runs, one is started on this machine, and ends with its driver."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    environment |= {"RAY_ADDRESS": "local", "PYTHONPATH": str(TESTS), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", HEAD + places(tmp_path, workers=2)],
        env=environment, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {address for _, address, _ in told} == {ADDRESSES[0]}
    assert not (tmp_path / ".ray").exists()  # its token is in no file
    for _, _, pid in told:
        wait_for(lambda pid=pid: not Path(f"/proc/{pid}/stat").exists())


# What a cluster must be like.


def test_a_node_with_another_version(tmp_path: Path) -> None:
    other = tmp_path / "other" / "arena"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text('__version__ = "0.0.1"\n')
    started = Cluster({}, {"PYTHONPATH": f"{other.parent}{os.pathsep}{TESTS}"})
    try:
        # Elsewhere than in the checkout: workers look for modules where their driver was started.
        with start(started, places(tmp_path), tmp_path) as driver:
            _, err = driver.communicate(timeout=90)
    finally:
        started.close()
    last = err.strip().splitlines()[-1]
    assert "WorkerError: the Ray node" in last
    assert f"({ADDRESSES[1]}) has researcharena 0.0.1, this machine" in last


def test_a_node_that_does_not_see_the_files(tmp_path: Path) -> None:
    look = _ray_nodes._looker(_ray_nodes.SHAPING, 0.0)
    probe = tmp_path / "probe"
    for content in (None, "another token"):
        if content is not None:
            probe.write_text(content)
        told = look(str(probe), "token")
        assert not told["sees"]
        with pytest.raises(WorkerError, match=f"far .* does not share '{tmp_path}'"):
            _ray_nodes._compare("far (192.0.2.9)", told, probe)
    probe.write_text("token")
    _ray_nodes._compare("near", look(str(probe), "token"), probe)


def test_a_node_that_lacks_a_package() -> None:
    told = {"versions": {**_ray_nodes._versions()}, "node": "n", "sees": True}
    _ray_nodes._compare("near", told, None)
    del told["versions"]["pyarrow"]
    with pytest.raises(WorkerError, match="the Ray node far lacks pyarrow, this machine"):
        _ray_nodes._compare("far", told, None)


def test_no_room_for_a_task() -> None:
    nodes = [{"Resources": {"CPU": 4.0, "memory": 1e8}}, {"Resources": {"memory": 1e9}}]
    with pytest.raises(WorkerError, match=r"none of the 2 nodes .* 500 MB"):
        _ray_nodes._check_room(nodes, 500 * 10**6)
    _ray_nodes._check_room([*nodes, {"Resources": {"CPU": 1.0, "memory": 5e8}}], 500 * 10**6)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"not installed. Run: pip install 'researcharena\[ray\]'"):
        make_executor("ray", None)


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_workers_out_of_range(workers: Any) -> None:
    with pytest.raises(DataError, match="give at least 1"):
        make_executor("ray", workers)
