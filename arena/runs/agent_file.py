"""An agent in a file of one's own: ``--agent FILE.py:CLASS``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from arena.agents import Agent
from arena.errors import DataError, did_you_mean


def load_agent(text: str) -> str | type[Agent]:
    """Return the class that ``FILE.py:CLASS`` means; any other text is a name and comes back.

    Raises:
        DataError: if there is no such file or class, or the file does not import.
    """
    if text.endswith(".py"):
        raise DataError(f"--agent {text!r}: name the class in it, too: {text}:CLASS.")
    file, _, name = text.rpartition(":")
    if not file.endswith(".py"):
        return text
    path = Path(file)
    if not path.is_file():
        raise DataError(f"--agent {text!r}: there is no file {file!r}.")
    # A name of its own: a file json.py must not take the place of the library.
    specification = importlib.util.spec_from_file_location(f"agent_file_{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # so that the source of its classes is found
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        raise DataError(
            f"--agent {text!r}: {file!r} does not import: {type(error).__name__}: {error}."
        ) from error
    agents = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Agent) and value is not Agent
    }
    if name not in agents:
        raise DataError(
            f"--agent {text!r}: no agent {name!r} in {file!r}.{did_you_mean(name, agents)}"
        )
    return agents[name]
