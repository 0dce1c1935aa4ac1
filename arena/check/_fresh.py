"""A process of its own that plays recorded episodes again: standard input to standard output."""

from __future__ import annotations

import importlib
import os
import pickle
import sys

HASH_SEED = "4711"


def environment() -> dict[str, str]:
    """Return environment variables for such a process: other hashes, the same import path."""
    return {
        **os.environ,
        "PYTHONHASHSEED": HASH_SEED if os.environ.get("PYTHONHASHSEED") != HASH_SEED else "4712",
        "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path),
    }


def main() -> None:
    """Read a job, play it, write the traces."""
    output = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what an environment prints is no answer
    import gymnasium

    import arena  # noqa: F401 - registers the environments
    from arena.check._episodes import replay

    env_id, spec, arguments, traces = pickle.loads(sys.stdin.buffer.read())
    if module := env_id.rpartition(":")[0]:
        importlib.import_module(module)
    env = gymnasium.make(spec, **arguments)
    with os.fdopen(output, "wb") as file:
        file.write(pickle.dumps([tuple(replay(env, trace)) for trace in traces]))


if __name__ == "__main__":
    main()
