"""Vector environments of several processes: the same as of one, and none is left behind."""

from __future__ import annotations

import collections
import enum
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from helpers import arena_surveys, call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_vector import MODES, STORY, actions_of, assert_same, corpus, ids  # noqa: F401

import arena
from arena._register import ENVIRONMENTS
from arena.envs import DiscoveryEnv, SurveyVectorEnv
from arena.errors import CorpusError, DataError, WorkerError

ENGINE = "hybrid(bm25,dense)"


@pytest.fixture
def make(corpus: Any) -> Iterator[Any]:  # noqa: F811
    """Vector environments by options; all are closed in the end, and no process is left."""
    made = []

    def vector(name: str = "arena/Discovery-v0", num_envs: int = 3, **options: Any) -> Any:
        options = {"corpus": corpus, "context": "fork", **options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
            made.append(gymnasium.make_vec(name, num_envs=num_envs, **options))
        return made[-1]

    yield vector
    for env in made:
        env.close()
    assert not workers()


KEPT: list[Any] = []  # processes that several tests share


def workers() -> list[Any]:
    """The processes of environments that a test has made."""
    running = multiprocessing.active_children()
    return [p for p in running if p.name == "arena worker" and p not in KEPT]


def pids(env: Any) -> list[int]:
    return [process.pid for process in env._team.workers.processes]


def gone(process: int) -> bool:
    """Whether a process has ended within some seconds; a zombie has."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


# The same as one process.


@pytest.fixture(scope="module")
def pairs(corpus: Any) -> Iterator[Any]:  # noqa: F811
    """(id, mode) -> five environments in one process, and in three, made once."""
    made: dict[tuple[str, str], Any] = {}

    def pair(name: str, mode: str) -> Any:
        if (name, mode) not in made:
            options = {
                "num_envs": 5, "autoreset_mode": mode, "corpus": corpus, "retriever": ENGINE,
                "retrievers": ["bm25"], "max_k": 100, "max_steps": 5, "max_searches": 3,
                "max_reads": 3, "max_characters": 9_000, "reward": "gain+cost",
                "render_mode": "ansi",
            }  # fmt: skip
            made[name, mode] = [
                gymnasium.make_vec(name, workers=number, context="fork", **options)
                for number in (1, 3)
            ]
            KEPT.extend(made[name, mode][1]._team.workers.processes)
        return made[name, mode]

    yield pair
    for envs in made.values():
        for env in envs:
            env.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ENVIRONMENTS)
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_as_one_process(pairs, ids, name, mode, data):  # noqa: F811
    one, three = pairs(name, mode)
    actions = st.lists(actions_of(ids), min_size=5, max_size=5)
    seed = data.draw(st.integers(0, 99))
    assert_same(three.reset(seed=seed), one.reset(seed=seed))
    over = np.zeros(5, np.bool_)
    for given_ in data.draw(st.lists(actions, min_size=1, max_size=8)):
        if mode == "Disabled" and over.any():
            masks = [{"reset_mask": over.copy()} for _ in range(2)]
            assert_same(three.reset(options=masks[0]), one.reset(options=masks[1]))
        step = one.step(given_)
        assert_same(three.step(given_), step)
        assert three.render() == one.render()
        over = step[2] | step[3]
    assert three.np_random_seed == one.np_random_seed
    states = [[rng.bit_generator.state for rng in env.np_random] for env in (one, three)]
    assert states[0] == states[1]


@pytest.mark.parametrize(
    ("context", "mode"),
    [("spawn", "NextStep"), ("fork", "SameStep"), ("forkserver", "SameStep"), (None, "NextStep")],
)
def test_however_processes_are_started(make, context, mode):
    options = {"num_envs": 2, "retriever": ENGINE, "max_steps": 4, "autoreset_mode": mode}
    one = make(**options)
    expected = [one.reset(seed=3), *map(one.step, STORY)]  # so this process has searched
    two = make(workers=2, context=context, **options)
    assert len(pids(two)) == 1
    assert_same([two.reset(seed=3), *map(two.step, STORY)], expected)
    assert two.single_observation_space == one.single_observation_space
    assert two.single_action_space == one.single_action_space
    assert two.metadata == one.metadata


@pytest.mark.parametrize(
    ("num_envs", "number", "sizes"),
    [(2, 2, [1, 1]), (5, 2, [2, 3]), (5, 3, [1, 2, 2]), (7, 7, [1] * 7), (64, 2, [32, 32])],
)
def test_the_shares_are_contiguous_and_of_one_size_but_for_one(make, num_envs, number, sizes):
    env = make(num_envs=num_envs, workers=number)
    assert [high - low for low, high in env._team._bounds] == sizes
    assert len(pids(env)) == number - 1
    observations, _ = env.reset(seed=0)
    assert observations["topic"] == make(num_envs=num_envs).reset(seed=0)[0]["topic"]


def test_one_worker_is_no_process(make):
    make(num_envs=4).reset(seed=0)
    assert not workers()


def test_seeds_options_and_masks(make, corpus):  # noqa: F811
    survey = list(arena_surveys(corpus.directory))[2]
    one, three = make(num_envs=4), make(num_envs=4, workers=3)
    for arguments in (
        lambda: {"seed": [5, 5, 7, 8]},
        dict,
        lambda: {"seed": [None, 3, None, None], "options": {}},
        lambda: {"options": {"survey": survey}},
        lambda: {"seed": 9, "options": {"reset_mask": np.array([False, True, True, False])}},
        lambda: {"options": {"reset_mask": np.array([False] * 3 + [True]), "survey": survey}},
        lambda: {"options": {"reset_mask": np.array([True] + [False] * 3)}},
    ):
        assert_same(three.reset(**arguments()), one.reset(**arguments()))
        actions = [call("search", query="knots"), call("finish"), None, call("finish")]
        for _ in range(2):
            assert_same(three.step(actions), one.step(actions))
    for env in (one, three):  # what draws is at hand, and a draw of one's own counts
        env.np_random[3].random(5)
    assert_same(three.reset(), one.reset())


def test_pickling_keeps_the_arguments(make):
    env = make(num_envs=3, workers=2, max_steps=3, autoreset_mode="SameStep")
    twin = pickle.loads(pickle.dumps(env))
    gc.collect()  # what was made to be copied must not take the processes with it
    assert len(pids(twin)) == 1
    assert pids(twin) != pids(env)
    assert_same(twin.reset(seed=3), env.reset(seed=3))
    for _ in range(4):
        actions = [call("search", query="lattice", k=3), None, call("finish")]
        assert_same(twin.step(actions), env.step(actions))
    twin.close()


# Actions that may be anything.


class Odd:
    """Refuses to be looked at and to be pickled."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    def __reduce__(self) -> Any:
        raise ZeroDivisionError


class Leaves:
    """Can be pickled, and ends the process that reads it."""

    def __reduce__(self) -> Any:
        return os._exit, (7,)


class Text(str):
    """Strings that are told apart from strings."""


class Tool(enum.StrEnum):
    FINISH = "finish"


def itself() -> list[Any]:
    one: list[Any] = []
    one.append(one)
    return one


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def shared() -> Any:
    value: Any = ["x"]
    for _ in range(60):  # as text it would be 2**60 long
        value = [value, value]
    return value


def search(query: Any, **more: Any) -> dict[str, Any]:
    return {"tool": "search", "arguments": {"query": query, **more}}


ODD = [
    lambda: None,
    Odd(),
    Leaves(),
    type("Local", (), {})(),
    object,
    {"tool": "search", "arguments": {"query": Odd()}},
    {"tool": "search", "arguments": {"query": "knots", "k": lambda: 3}},
    {"tool": Leaves(), "arguments": {}},
    {Leaves(): 3},
    search(Text("knots"), k=np.int64(3)),
    search("knots", k=np.float64(3.0)),
    search("knots", k=True),
    search("knots", k=np.bool_(True)),
    search("knots", k=3.0, offset=10**30),
    search("knots \ud800 漢"),
    search("x" * 1_000_000),
    search(np.array(["knots"])),
    search(float("nan")),
    collections.OrderedDict(tool="search", arguments={"query": "knots"}),
    types.MappingProxyType({"tool": "search", "arguments": {"query": "knots"}}),
    {"tool": Tool.FINISH, "arguments": {}},
    {"tool": "submit", "arguments": {"paper_ids": (Text("a"), "b")}},
    {"tool": "submit", "arguments": {"paper_ids": {"a", "b"}}},
    {"tool": "submit", "arguments": {"paper_ids": (name for name in "ab")}},
    {1, 2, 3},
    b'{"tool": "finish"}',
    bytearray(b'{"tool": "finish"}'),
    memoryview(b"x"),
    1j,
    ...,
    itself(),
    nested(150),
    nested(100_000),
    search(nested(490)),
    shared(),
]


def test_an_action_of_any_kind_is_answered_alike(make):
    number = len(ODD)
    one, two = make(num_envs=2 * number), make(num_envs=2 * number, workers=2)
    assert_same(two.reset(seed=5), one.reset(seed=5))
    step = two.step(ODD + ODD)
    assert_same(step, one.step(ODD + ODD))
    assert "error" in step[0]["result"][number]
    assert '"hits"' in step[0]["result"][number + ODD.index(search("knots", k=True)) - 1]


MAP = {"label": "membranes", "children": [{"label": "knots"}]}


@pytest.mark.parametrize(
    "mind_map",
    [
        {**MAP, "papers": Text("x")},
        {**MAP, "weight": np.float64(3)},
        collections.OrderedDict(MAP),
        {**MAP, "papers": (np.str_("a"),)},
        {**MAP, "label": Text("membranes")},
    ],
)
def test_a_mind_map_of_what_is_nearly_plain(make, mind_map):
    one, two = (make("arena/Organization-v0", num_envs=2, workers=n) for n in (1, 2))
    actions = [{"tool": "organize", "arguments": {"mind_map": mind_map}}] * 2
    assert_same(two.reset(seed=0), one.reset(seed=0))
    assert_same(two.step(actions), one.step(actions))


def test_a_mind_map_that_cannot_be_sent_is_an_error_told(make):
    env = make("arena/Organization-v0", num_envs=2, workers=2)
    env.reset(seed=0)
    for odd, kind in ((lambda: 3, "function"), (Leaves(), "Leaves")):
        organize = {"tool": "organize", "arguments": {"mind_map": {**MAP, "made by": odd}}}
        observations, _, terminations, *_ = env.step([None, organize])
        assert f"the action holds a {kind}, which JSON cannot hold" in observations["result"][1]
        assert not terminations[1]
    env.step([None, {"tool": "organize", "arguments": {"mind_map": MAP}}])


# What breaks.


class TellingError(Exception):
    """Written and read by pickle with all that it holds."""

    def __init__(self, text: str, number: int) -> None:
        super().__init__(text, number)


class SilentError(Exception):
    """Written by pickle, and never read again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def breaks(monkeypatch: Any, corpus: arena.Corpus, what: Any) -> None:  # noqa: F811
    """Let the engine call `what` with every batch, in processes forked from now on too."""
    kind = type(corpus.retriever())
    batch = kind.search_batch

    def search_batch(engine: Any, asks: Any) -> Any:
        what([ask.query for ask in asks])
        return batch(engine, asks)

    monkeypatch.setattr(kind, "search_batch", search_batch)


GOOD = call("search", query="knots")
BAD = call("search", query="membrane")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TellingError("told", 3), TellingError),
        (CorpusError("an index broke"), CorpusError),
        (SystemExit(3), SystemExit),
        (SilentError(1, 2), WorkerError),
    ],
)
def test_what_an_engine_raises_there_is_raised_here(
    make, corpus, monkeypatch, mode, error, expected  # noqa: F811
):  # fmt: skip
    def what(queries: list[str]) -> None:
        if "membrane" in queries:
            raise error

    breaks(monkeypatch, corpus, what)
    one, env = make(num_envs=4), make(num_envs=4, workers=2, autoreset_mode=mode)
    before = env.reset(seed=0)
    env.step([GOOD] * 4)
    process = pids(env)
    with pytest.raises(expected) as caught:
        env.step([GOOD, GOOD, GOOD, BAD])
    assert type(caught.value) is expected
    if expected is WorkerError:
        assert "a worker process raised SilentError: 1 and 2" in str(caught.value)
    else:
        assert caught.value.args == error.args
        assert "In a worker process" in caught.value.__notes__[0]
    for refused in (
        lambda: env.step([GOOD] * 4),
        lambda: env.reset(options={"reset_mask": np.array([True] * 3 + [False])}),
    ):
        with pytest.raises(ResetNeeded):
            refused()
    assert pids(env) == process  # nothing was lost but the episodes
    assert_same(env.reset(seed=0), before)
    one.reset(seed=0)
    assert_same(env.step([GOOD] * 4)[0], one.step([GOOD] * 4)[0])


def test_when_several_processes_raise_the_first_is_heard(make, corpus, monkeypatch):  # noqa: F811
    def what(queries: list[str]) -> None:
        if "seepage" not in queries:
            raise CorpusError(queries[0])

    breaks(monkeypatch, corpus, what)
    env = make(num_envs=3, workers=3)
    env.reset(seed=0)
    for queries, heard in (("knots membrane lattice", "knots"), ("seepage a membrane", "a")):
        with pytest.raises(CorpusError) as caught:
            env.step([call("search", query=query) for query in queries.split()])
        assert str(caught.value) == heard
        env.reset(seed=0)
    env.step([call("search", query="seepage")] * 3)  # every answer was taken


def test_a_worker_that_was_killed_between_steps(make):
    env = make(num_envs=3, workers=3)
    before = env.reset(seed=0)
    os.kill(pids(env)[1], signal.SIGKILL)
    with pytest.raises(WorkerError, match=r"killed by SIGKILL.*Call reset\(\)"):
        env.step([GOOD] * 3)
    assert not workers()
    with pytest.raises(ResetNeeded):
        env.step([GOOD] * 3)
    assert_same(env.reset(seed=0), before)
    assert len(pids(env)) == 2
    os.kill(pids(env)[0], signal.SIGTERM)
    with pytest.raises(WorkerError, match="killed by SIGTERM"):
        env.reset(options={"reset_mask": np.array([True, False, True])})
    assert_same(env.reset(seed=0), before)
    process = env._team.workers.processes[0]
    process.kill()
    process.join()
    assert_same(env.reset(seed=0), before)  # nothing is lost with a reset of all


def test_a_worker_that_is_killed_in_a_step(make, corpus, monkeypatch):  # noqa: F811
    breaks(monkeypatch, corpus, lambda queries: time.sleep(60 * ("membrane" in queries)))
    env = make(num_envs=2, workers=2)
    env.reset(seed=0)
    timer = threading.Timer(0.3, os.kill, (pids(env)[0], signal.SIGKILL))
    timer.start()
    with pytest.raises(WorkerError, match="killed by SIGKILL"):
        env.step([GOOD, BAD])
    timer.join()


@pytest.mark.parametrize("place", [0, 1])
def test_an_interrupt_in_a_step_ends_the_processes(make, corpus, monkeypatch, place):  # noqa: F811
    """Here, while the others are at work, and while they are waited for."""
    here = os.getpid()

    def what(queries: list[str]) -> None:
        if "membrane" in queries and os.getpid() == here:
            raise KeyboardInterrupt
        if "membrane" in queries:
            os.kill(here, signal.SIGINT)
            time.sleep(60)

    breaks(monkeypatch, corpus, what)
    env = make(num_envs=2, workers=2)
    before = env.reset(seed=0)
    process = pids(env)
    with pytest.raises(KeyboardInterrupt):
        env.step([BAD, GOOD][:: 1 - 2 * place])
    assert all(gone(number) for number in process)
    with pytest.raises(ResetNeeded):
        env.step([GOOD] * 2)
    assert_same(env.reset(seed=0), before)
    env.step([GOOD] * 2)


class NoStart(DiscoveryEnv):
    """Cannot be made in a worker."""

    def __init__(self, reward_options: Any = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        if multiprocessing.parent_process() is not None:
            if reward_options == {"leave": {}}:
                os._exit(3)
            raise TellingError("not here", 1)


class NoStartVector(SurveyVectorEnv):
    kind = NoStart


def test_a_worker_that_cannot_begin(corpus):  # noqa: F811
    with pytest.raises(TellingError, match="not here"):
        NoStartVector(3, workers=3, context="fork", corpus=corpus)
    with pytest.raises(WorkerError, match=r"exit status 3.*before it was ready"):
        NoStartVector(
            3, workers=3, context="fork", corpus=corpus, reward_options={"leave": {}}
        )  # fmt: skip
    assert not workers()


def test_an_argument_that_cannot_be_sent(make):
    options = {"workers": 2, "retriever_options": types.MappingProxyType({})}
    with pytest.raises(DataError, match="cannot be sent to a process that is started by 'spawn'"):
        make(context="spawn", **options)
    make(context="fork", **options).reset(seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers=0: give an integer from 1 to 3"),
        ({"workers": 4}, "workers=4: give an integer from 1 to 3, the number of environments"),
        ({"workers": True}, "workers=True"),
        ({"workers": "2"}, "workers='2'"),
        ({"workers": 2.0}, "workers=2.0"),
        ({"workers": None}, "workers=None"),
        ({"context": "spwan"}, "context='spwan': .* Did you mean 'spawn'"),
        ({"context": 3}, "context=3"),
        ({"context": []}, r"context=\[\]"),
        ({"workers": 2, "max_steps": 0}, "max_steps=0"),
    ],
)
def test_bad_arguments(make, options, message):
    with pytest.raises(DataError, match=message):
        make(**options)
    assert not workers()


# Ends.


def test_closing(make):
    env = make(num_envs=3, workers=3)
    env.reset(seed=0)
    process = pids(env)
    env.close()
    assert not workers()
    assert all(gone(number) for number in process)
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.reset(seed=0)
    with pytest.raises(ResetNeeded):
        env.step([None] * 3)


def test_what_is_collected_ends_its_processes(corpus):  # noqa: F811
    env = gymnasium.make_vec(
        "arena/Discovery-v0", num_envs=2, workers=2, context="fork", corpus=corpus
    )
    process = pids(env)
    del env
    gc.collect()
    assert not workers()
    assert all(gone(number) for number in process)


def test_a_forked_copy_is_refused_and_harms_nothing(make):
    env = make(num_envs=2, workers=2)
    env.reset(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            env.step([GOOD] * 2)
        except WorkerError:
            env.close()
            os._exit(5)
        os._exit(6)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    env.reset(seed=0)
    env.step([GOOD] * 2)


SCRIPT = """
import os, sys
import gymnasium
import arena

def main():
    env = gymnasium.make_vec("arena/Discovery-v0", num_envs=4, workers=3, context=sys.argv[2],
                             corpus=sys.argv[1])
    env.reset(seed=0)
    print(*[process.pid for process in env._team.workers.processes], flush=True)
    search = {"tool": "search", "arguments": {"query": "knots"}}
    number = 0
    while sys.argv[3] == "go on" or number < 3:
        number += 1
        env.step([search] * 4)
    if sys.argv[3] == "leave":
        sys.exit(3)
    if sys.argv[3] == "raise":
        raise ZeroDivisionError

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def start(corpus: Any, tmp_path: Path) -> Any:  # noqa: F811
    """Start a script that steps; give it and the numbers of its workers."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")

    def started(context: str, how: str) -> tuple[Any, list[int]]:
        process = subprocess.Popen(
            [sys.executable, path, corpus.directory, context, how],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        return process, [int(number) for number in process.stdout.readline().split()]

    return started


@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.parametrize(("how", "status", "lines"), [("leave", 3, 0), ("raise", 1, 1)])
def test_the_end_of_the_interpreter_ends_all_without_a_word(start, context, how, status, lines):
    process, others = start(context, how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert err.count("Traceback") == lines
    assert bool(err) == bool(lines)
    assert len(others) == 2
    assert all(gone(number) for number in others)


@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_from_outside_ends_all(start, context, sent):
    process, others = start(context, "go on")
    time.sleep(0.3)
    if sent == signal.SIGINT:
        os.killpg(process.pid, sent)  # as a terminal does
    else:
        process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -sent
    assert err.count("Traceback") == err.count("KeyboardInterrupt") == (sent == signal.SIGINT)
    assert len(others) == 2
    assert all(gone(number) for number in others)
