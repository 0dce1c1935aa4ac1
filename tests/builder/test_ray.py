"""The executor ray on a real cluster of two nodes: the same files, whatever becomes of them.

The tests share one cluster, and the last one kills half of it.
"""

from __future__ import annotations

import pickle
import signal
from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from toy_release import ToyRelease, write_toy

from arena.errors import DataError, WorkerError
from arena.executors import make_executor
from arena_engines.executors import ray as ray_executor
from corpus_builder.stages import plan, read_config, run_stages
from corpus_builder.synthetic import SyntheticConfig

pytest.importorskip("ray", reason="the extra ray is not installed")
if not Path("/proc/self/stat").exists():
    pytest.skip("two loopback addresses and /proc are needed", allow_module_level=True)

import ray_cluster
from ray_cluster import ADDRESSES, Cluster, Driver, wait_for

pytestmark = pytest.mark.slow

SYNTHETIC = SyntheticConfig(seed=5, papers=300, surveys=4)
CONFIG = {
    "full_text_only": False,
    "surveys": {"title": "survey", "judge": "all"},
    "index": {"engines": ["bm25", "dense"], "fields": ["title", "abstract"]},
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("toy") / "release"
    write_toy(directory, SYNTHETIC, shards=8)
    return directory


@pytest.fixture(scope="module")
def built(release: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every file of the build as one process of this machine makes it."""
    directory = tmp_path_factory.mktemp("local")
    toy, config = ToyRelease(release), read_config(CONFIG)
    run_stages(plan("toy", toy, directory / "c", config, workers=1, executor="local"))
    return contents(directory)


PLACES = """
from pathlib import Path
from arena.executors import make_executor
from ray_cluster import Place, report_place
executor = make_executor("ray", {workers})
tasks = [Place(i, Path({directory!r}), {meet}, {seconds}) for i in range({tasks})]
answer = sorted(executor.run(report_place, tasks))
executor.close()
"""


def places(directory: Path, **options: Any) -> str:
    usual = {"workers": None, "meet": False, "seconds": 0.0, "tasks": 4}
    return PLACES.format(directory=str(directory), **{**usual, **options})


def test_tasks_run_on_both_nodes(driver: Driver, tmp_path: Path) -> None:
    reply = driver.do(places(tmp_path, meet=True))
    assert [number for number, _ in reply] == [0, 1, 2, 3]
    assert {address for _, address in reply} == set(ADDRESSES)
    # Nothing is left of the file by which the nodes were asked what they see.
    assert not [path for path in tmp_path.iterdir() if "probe" in path.name]


BUILD = """
from corpus_builder.stages import plan, read_config, run_stages
from ray_cluster import MeetingRelease
release = MeetingRelease({release!r}, {notes!r}, {stuck!r})
run_stages(plan("toy", release, {output!r}, read_config({config!r}), workers=2, executor="ray"))
answer = None
"""


def build(release: Path, directory: Path, stuck: str = "") -> str:
    """Return code that builds into the folder ``ray`` of a directory, with notes next to it."""
    (directory / "notes").mkdir()
    (directory / "ray").mkdir()
    return BUILD.format(
        release=str(release), notes=str(directory / "notes"), stuck=stuck, config=CONFIG,
        output=str(directory / "ray" / "c"),
    )  # fmt: skip


def test_a_whole_build(
    driver: Driver, release: Path, built: dict[str, str], tmp_path: Path
) -> None:
    """Read, linked and encoded by Ray, every file is as a process of this machine makes it."""
    driver.do(build(release, tmp_path))
    assert {path.name for path in (tmp_path / "notes").iterdir()} == set(ADDRESSES)
    assert "c/index/dense/vectors.npy" in built
    assert contents(tmp_path / "ray") == built


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_driver_that_ends_ends_its_tasks(
    cluster: Cluster, driver: Driver, tmp_path: Path, how: int
) -> None:
    other = Driver(cluster)
    try:
        other.begin(places(tmp_path, seconds=600.0))
        begun = wait_for(
            lambda: len(found := list(tmp_path.glob("*@*"))) == 2 and found, "two tasks have begun"
        )
        pids = [int(path.name.rpartition("@")[2]) for path in begun]
        other.process.send_signal(how)
        other.process.wait(ray_cluster.SECONDS)
    finally:
        other.close()
    assert other.process.returncode in (-how, 1)
    wait_for(lambda: not {p.pid for p in ray_cluster.processes()} & set(pids), "tasks have ended")
    assert [number for number, _ in driver.do(places(tmp_path))] == [0, 1, 2, 3]


# What needs no cluster.


@pytest.mark.parametrize(
    ("address", "reply"),
    [
        ("127.0.0.2:1", "no Ray cluster answers at RAY_ADDRESS='127.0.0.2:1'"),
        ("ray://127.0.0.2:10001", "ray:// is not supported"),
        ("here", "give HOST:PORT"),
    ],
)
def test_no_cluster_answers(monkeypatch: pytest.MonkeyPatch, address: str, reply: str) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises((DataError, WorkerError), match=reply):
        list(make_executor("ray", None).run(abs, [1]))


def called(known: dict[str, str], probe: tuple[str, str] | None = None) -> Any:
    return ray_executor.run_on_node((known, probe, [], pickle.dumps(abs)), pickle.dumps(-3))


def test_a_node_with_other_versions() -> None:
    with pytest.raises(WorkerError, match=r"has numpy .*, the machine that asks 0\.1"):
        called({"numpy": "0.1"})
    with pytest.raises(WorkerError, match=r"lacks pyserini, the machine that asks 1\.6"):
        called({"pyserini": "1.6"})


def test_a_node_that_does_not_see_the_files(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(ray_executor, "limit_threads", lambda: None)
    monkeypatch.setattr(ray_executor, "_PATIENCE", 0.0)
    probe = tmp_path / "probe"
    for content in (None, "", "another token"):
        if content is not None:
            probe.write_text(content)
        with pytest.raises(WorkerError, match=f"does not share '{tmp_path}' with this machine"):
            called({}, (str(probe), "token"))
    probe.write_text("token")
    assert called({}, (str(probe), "token")) == 3


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"not installed. Run: pip install 'researcharena\[ray\]'"):
        make_executor("ray", None)


# The last: one node is left.


def test_a_node_dies_and_the_build_continues(
    cluster: Cluster, driver: Driver, release: Path, built: dict[str, str], tmp_path: Path
) -> None:
    """The second node never ends the shard that it has begun, until its power fails."""
    driver.begin(build(release, tmp_path, stuck=ADDRESSES[1]))
    wait_for((tmp_path / "notes" / ADDRESSES[1]).exists, "the second node has a shard")
    cluster.kill(ADDRESSES[1])
    driver.end()
    assert contents(tmp_path / "ray") == built
    reply = driver.do(places(tmp_path))
    assert reply == [[number, ADDRESSES[0]] for number in range(4)]
