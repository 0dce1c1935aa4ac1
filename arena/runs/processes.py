"""Play episodes in this process, or several at once in processes of their own."""

from __future__ import annotations

import multiprocessing
import pickle
import traceback
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, cast

from arena._internal.cores import block_sigint_in_children
from arena.errors import AgentError, ArenaError, DataError
from arena.registry import load_file, loaded_files
from arena.runs.episodes import Player

# Not "fork": a forked process has the memory of this one, a spawned one starts afresh.
_SPAWN = multiprocessing.get_context("spawn")
_GRACE = 2.0  # seconds
_Worker = tuple[BaseProcess, Connection]


def play_episodes(
    player: Player, places: Sequence[int], jobs: int, isolate: bool
) -> Generator[dict[str, Any], None, None]:
    """Yield the records of episodes in the order of `places`.

    Args:
        player: Plays the episodes.
        places: Places of the episodes in the run.
        jobs: Number of episodes that are played at once.
        isolate: Whether each episode has a new process.

    Raises:
        AgentError: The agent fails, or ends its process; the episodes before it were yielded.
        DataError: The agent cannot be sent to another process.
    """
    if jobs == 1 and not isolate:
        yield from map(player.play, places)
        return
    try:
        arguments = (loaded_files(), pickle.dumps(player))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise DataError(
            f"agent {player.agents.name!r} cannot be sent to another process: {error}. Define it "
            "in a module and name it as FILE.py:CLASS."
        ) from None
    waiting, results = deque(places), dict[int, Any]()
    idle: list[_Worker] = []
    busy: dict[Connection, tuple[BaseProcess, int]] = {}
    try:
        for place in places:
            while place not in results:
                while waiting and len(busy) < jobs:
                    process, connection = idle.pop() if idle else _start(arguments)
                    busy[connection] = process, waiting.popleft()
                    with suppress(ConnectionError):  # it ended: noticed below
                        connection.send(busy[connection][1])
                for ready in wait(list(busy)):
                    connection = cast("Connection", ready)
                    process, done = busy[connection]
                    results[done] = _received(process, connection, player, done)
                    del busy[connection]
                    if isolate or isinstance(results[done], BaseException):
                        _end(process, connection, idle=True)
                    else:
                        idle.append((process, connection))
            result = results.pop(place)
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        for connection, (process, _) in busy.items():
            _end(process, connection)
        for process, connection in idle:
            _end(process, connection, idle=True)


def _start(arguments: tuple[Any, ...]) -> _Worker:
    connection, end = _SPAWN.Pipe()
    process = _SPAWN.Process(target=_serve, args=(*arguments, end))
    with block_sigint_in_children():
        process.start()
    end.close()  # so that the process and nobody else holds it, and its end is noticed
    return process, connection


def _end(process: BaseProcess, connection: Connection, idle: bool = False) -> None:
    connection.close()
    if idle:  # it ends by itself and gives back what it holds, unless the agent's code hinders it
        process.join(_GRACE)
    process.terminate()
    process.join()


def _received(process: BaseProcess, connection: Connection, player: Player, place: int) -> Any:
    try:
        return connection.recv()
    except (EOFError, ConnectionError):
        process.join()
        return AgentError(
            f"agent {player.agents.name!r} failed on survey {player.surveys[place]!r}: its process "
            f"ended with exit code {process.exitcode}. The episodes before it are kept; the same "
            "command continues from here. (A script that plays in several processes must start "
            "under `if __name__ == '__main__':`.)"
        )


def _serve(files: list[str], pickled: bytes, connection: Connection) -> None:
    """Play the episodes that the parent asks for, until it closes the connection or ends."""
    try:
        for file in files:
            load_file(file)
        player = pickle.loads(pickled)
        while True:
            connection.send(player.play(connection.recv()))
    except (EOFError, ConnectionError):
        return
    except (ArenaError, KeyboardInterrupt) as error:  # Ctrl-C is blocked: it is the agent's own
        connection.send(error)
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        failure = RuntimeError(text)
        failure.add_note(traceback.format_exc())
        connection.send(failure)
