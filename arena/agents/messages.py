"""Convert messages of OpenAI's chat format to actions, and observations to messages."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from arena.errors import DataError, clip


def actions_from(message: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls of a model's message as (id of the call, action), in order.

    Args:
        message: An assistant's message, as the `openai` package returns it or as a dict.

    Returns:
        A list, empty if the message calls no tool. A malformed call becomes an action too, which
        the environment refuses with the reason.

    Raises:
        DataError: `message` is something else, such as the whole response.
    """
    if not any(_get(message, key) is not None for key in ("role", "content", "tool_calls")):
        raise DataError(
            f"{clip(message)} is not a message of a model. Give response.choices[0].message."
        )
    actions = []
    calls = _get(message, "tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = _get(call, "function")
        name, arguments = _get(function, "name"), _get(function, "arguments")
        if isinstance(arguments, str):
            # Text that is not JSON stays text, which the environment refuses with the reason.
            with contextlib.suppress(ValueError, RecursionError):
                arguments = json.loads(arguments or "{}")
        action = {"tool": name, "arguments": {} if arguments is None else arguments}
        actions.append((str(_get(call, "id")), action))
    return actions


def tool_message(call_id: str, observation: Mapping[str, Any]) -> dict[str, Any]:
    """Return an observation as the message that answers a tool call.

    Args:
        call_id: Id of the call, as `actions_from` returned it.
        observation: Observation that the environment returned.

    Returns:
        A message of the role ``tool`` with the last result and the budget that is left.
    """
    budget = {name: int(left) for name, left in observation["budget"].items()}
    content = json.dumps({"budget": budget, "stage": observation["stage"]}, ensure_ascii=False)
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": f'{content[:-1]}, "result": {observation["result"]}}}',
    }


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
