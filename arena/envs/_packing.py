"""What goes to a worker process and comes back, as bytes: pickles, which are never kept.

An action may be any object of Python. What JSON could hold, and sets, tuples and bytes, goes over
as it is and means the same there. Anything else might not survive the way, or might be another
thing afterwards: such an action is read here, and what it was read as goes over.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import traceback
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from arena.errors import WorkerError
from arena.tools import Call, Tool, parse_action, refusal

if TYPE_CHECKING:
    from arena.envs._share import Share

_PROTOCOL = 5
_VALUES = (str, bytes, int, float, complex, dict, list, tuple, set, frozenset)
_REBUILD: Any = vars(copyreg)["_reconstructor"]
_SCALAR: Any = np.float64(0).__reduce__()[0]


def packed(method: str, *arguments: Any) -> bytes:
    """Return a request: the name of a method of `Share` and plain arguments."""
    return pickle.dumps((method, arguments), _PROTOCOL)


def packed_step(
    actions: Sequence[Any], surveys: Mapping[int, str], tools: Mapping[str, Tool]
) -> bytes:
    """Return a request to step, as `Share.step` takes it.

    Args:
        actions: of any kind.
        surveys: plain.
        tools: by which an action is read that cannot go over as it is.
    """
    try:
        return _plain(("step", (actions, surveys)))
    except Exception:  # also what an object of Python may raise when it is looked at
        pass
    alone: list[bytes | None] = []
    calls: dict[int, Any] = {}
    for place, action in enumerate(actions):
        try:
            alone.append(_plain(action))
        except Exception:
            alone.append(None)
            calls[place] = _read(action, tools)
    return packed("step", alone, surveys, calls)


def answered(share: Share, request: bytes) -> bytes:
    """Carry out a request; return what came of it, or the exception it raised."""
    try:
        method, arguments = pickle.loads(request)
        if method == "step" and len(arguments) == 3:
            alone, surveys, calls = arguments
            actions = [None if data is None else pickle.loads(data) for data in alone]
            tools = share.setting.tools
            calls = {place: _call(call, tools) for place, call in calls.items()}
            arguments = actions, surveys, calls
        return success(getattr(share, method)(*arguments))
    except BaseException as error:  # whatever it is, it is raised in the other process
        return failure(error)


def success(value: Any) -> bytes:
    """Return an answer that holds a value."""
    return pickle.dumps((True, value), _PROTOCOL)


def failure(error: BaseException) -> bytes:
    """Return an answer that holds an exception, or its text if it cannot be sent."""
    where = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"In a worker process:\n{where}")
        answer = pickle.dumps((False, error), _PROTOCOL)
        pickle.loads(answer)  # many an exception can be written and not be read
    except Exception:
        text = f"a worker process raised {type(error).__name__}: {error}"
        answer = pickle.dumps((False, WorkerError(text)), _PROTOCOL)
    return answer


def opened(answer: bytes) -> tuple[bool, Any]:
    """Return whether all went well, and the value, or else the exception."""
    good, value = pickle.loads(answer)
    return good, value


class _Plain(pickle.Pickler):
    """Takes what is exactly of a type of Python's own; asked for all else, it refuses."""

    def reducer_override(self, obj: Any) -> NoReturn:
        raise pickle.PicklingError(type(obj).__name__)


class _Reader(pickle.Unpickler):
    """Calls nothing but types of values: what an action's author wrote shall not run here."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        if isinstance(found, type) and issubclass(found, (*_VALUES, np.generic, np.dtype)):
            return found
        if any(found is maker for maker in (_REBUILD, _SCALAR, object)):
            return found
        raise pickle.UnpicklingError(f"{module}.{name}")


def _plain(value: Any) -> bytes:
    file = io.BytesIO()
    _Plain(file, _PROTOCOL).dump(value)
    return file.getvalue()


def _read(action: Any, tools: Mapping[str, Tool]) -> str | tuple[str, bytes, str]:
    """Return what is wrong with an action, or its tool, its arguments, and what if they fail."""
    found = parse_action(action, tools)
    if isinstance(found, str):
        return found
    refused = refusal(action)
    for dumps in (_plain, pickle.dumps):
        try:
            return found.tool.name, dumps(found.arguments), refused
        except Exception:
            continue
    return refused


def _call(read: str | tuple[str, bytes, str], tools: Mapping[str, Tool]) -> Call | str:
    if isinstance(read, str):
        return read
    name, data, refused = read
    try:
        return Call(tools[name], _Reader(io.BytesIO(data)).load())
    except Exception:  # also a class that this process cannot import
        return refused
