"""Processes that hold shares of a vector environment's episodes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

from arena._internal.signals import block_sigint_in_children
from arena.envs._packing import answered, failure, opened, success
from arena.envs._share import Share
from arena.errors import DataError, WorkerError, clip, did_you_mean

if TYPE_CHECKING:
    from arena.envs.core import SurveyEnv

_STARTING = threading.Lock()
"""A process forked by another thread would hold open what is open between two lines here."""

_PATIENCE = 5.0  # seconds for a process to end by itself, and again when it is told to


class _Worker(NamedTuple):
    process: Any
    connection: Connection


class Workers:
    """One process for each of `sizes`, with the episodes of so many environments.

    A request goes to all, the calling process does its own share meanwhile, then all answers are
    waited for. What breaks that order, as Ctrl-C does, ends the processes; `revive` starts others.
    They end also when this object is collected, when the interpreter ends, and when this process
    is killed.

    Args:
        kind: of the scalar environment.
        arguments: of it.
        sizes: environments of each process.
        context: how processes are started, as `multiprocessing.get_context` takes it.

    Raises:
        DataError: if processes cannot be started so, or an argument cannot be sent to them.
        WorkerError: if one ends before it is ready.

    And whatever the environment raises in a process.
    """

    def __init__(
        self,
        kind: type[SurveyEnv],
        arguments: Mapping[str, Any],
        sizes: Sequence[int],
        context: str | None,
    ) -> None:
        self._context: Any = multiprocessing.get_context(context)
        self._arguments = (kind, dict(arguments))
        self._sizes = sizes
        self._owner = os.getpid()
        self._workers: list[_Worker] = []
        self.close = weakref.finalize(self, _end, self._workers, self._owner)
        self.revive()

    @property
    def processes(self) -> list[Any]:
        """The processes that run now."""
        return [worker.process for worker in self._workers]

    def revive(self) -> None:
        """Start all processes anew unless all run; the episodes they had are lost."""
        self._check_owner()
        if self._workers and all(worker.process.is_alive() for worker in self._workers):
            return
        try:
            self.stop()
            self._start()
            for good, value in [opened(self._answer(w, _UNREADY)) for w in self._workers]:
                if not good:
                    raise value
        except BaseException:
            self.stop()
            raise

    def together(
        self, own: Callable[[], Any] | None, requests: Sequence[bytes | None]
    ) -> list[Any]:
        """Send a request to each process, call `own`, and wait for the answers.

        Args:
            own: the work of this process; None for none.
            requests: one for each process; None for none.

        Returns:
            What `own` returned, and what every request was answered with, None for none.

        Raises:
            WorkerError: if a process has ended.

        And what `own` or a process raised, the first of them, after all others are done.
        """
        self._check_owner()
        asked = [pair for pair in zip(self._workers, requests, strict=True) if pair[1] is not None]
        try:
            for worker, request in asked:
                self._send(worker, request)
            found: list[tuple[bool, Any]]
            try:
                found = [(True, None if own is None else own())]
            except Exception as error:
                found = [(False, error)]
            answers = iter([opened(self._answer(worker, _ENDED)) for worker, _ in asked])
        except BaseException:  # what is on its way now would be taken for another answer
            self.stop()
            raise
        found += [(True, None) if request is None else next(answers) for request in requests]
        for good, value in found:
            if not good:
                raise value
        return [value for _, value in found]

    def stop(self) -> None:
        """End the processes at once, whatever they are doing."""
        workers = [self._workers.pop() for _ in range(len(self._workers))]
        for worker in workers:
            worker.process.terminate()
        _join(workers)

    def _start(self) -> None:
        if multiprocessing.current_process().daemon:
            raise DataError(
                "this is a daemonic process, which may not start others. Give workers=1."
            )
        method = self._context.get_start_method()
        if method == "forkserver":  # started below, it would pass its deafness on to all it forks
            forkserver.ensure_running()
        for size in self._sizes:
            with _STARTING:
                self._start_one(method, size)

    def _start_one(self, method: str, size: int) -> None:
        ours, theirs = self._context.Pipe()
        # A forked process has all that is open here, and held open here none would ever end.
        inherited = (
            [worker.connection for worker in self._workers] + [ours] if method == "fork" else []
        )
        process = self._context.Process(
            target=_serve,
            args=(theirs, inherited, *self._arguments, size),
            name="arena worker",
            daemon=True,
        )
        try:
            with block_sigint_in_children():
                process.start()
                self._workers.append(_Worker(process, ours))
        except BaseException as error:
            ours.close()
            if not isinstance(error, pickle.PicklingError | AttributeError | TypeError):
                raise
            raise DataError(
                f"an argument cannot be sent to a process that is started by {method!r}: "
                f"{error}. Give another argument, or context='fork'."
            ) from error
        finally:
            theirs.close()

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise WorkerError(
                "this environment belongs to the process that this one was forked from. Make "
                "another one here."
            )

    def _send(self, worker: _Worker, request: bytes | None) -> None:
        assert request is not None
        try:
            worker.connection.send_bytes(request)
        except OSError:
            raise _ended(worker, _ENDED) from None

    def _answer(self, worker: _Worker, otherwise: str) -> bytes:
        try:
            return worker.connection.recv_bytes()
        except (EOFError, OSError):
            raise _ended(worker, otherwise) from None


_ENDED = "and its episodes with it. Call reset(), which starts another."
_UNREADY = (
    "before it was ready. Its own message is above; a script that starts processes by 'spawn' or "
    "'forkserver' must begin under `if __name__ == \"__main__\":`."
)


def start_method(context: Any) -> Any:
    """Return `context` if processes can be started so; None stands for Python's default.

    Raises:
        DataError: if they cannot.
    """
    known = multiprocessing.get_all_start_methods()
    if context is not None and context not in known:
        raise DataError(
            f"context={clip(context)}: processes are not started so here."
            f"{did_you_mean(context, known)}"
        )
    return context


def _serve(
    here: Connection,
    inherited: Sequence[Connection],
    kind: type[SurveyEnv],
    arguments: Mapping[str, Any],
    size: int,
) -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers for this process
    for other in inherited:
        other.close()
    share = None
    try:
        share = Share(kind(**arguments)._setting, size)
        answer = success(None)
    except BaseException as error:
        answer = failure(error)
    try:
        here.send_bytes(answer)
        while share is not None and (request := here.recv_bytes()):
            here.send_bytes(answered(share, request))
    except (EOFError, OSError):  # the parent was killed
        pass


def _ended(worker: _Worker, otherwise: str) -> WorkerError:
    worker.process.join(_PATIENCE)
    code = worker.process.exitcode
    how = f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"exit status {code}"
    return WorkerError(f"a worker process has ended ({how}), {otherwise}")


def _end(workers: list[_Worker], owner: int) -> None:
    """Let the processes end by themselves, all of which wait for a request."""
    if os.getpid() != owner:  # a copy in a forked process
        return
    ending = [workers.pop() for _ in range(len(workers))]
    for worker in ending:
        try:
            worker.connection.send_bytes(b"")
        except OSError:
            worker.process.terminate()
    _join(ending)


def _join(workers: Sequence[_Worker]) -> None:
    for process, there in workers:
        process.join(_PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
        there.close()
        process.close()
