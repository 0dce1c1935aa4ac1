"""``python -m arena.bench._worker JOB.json RESULT.json``: do one piece of a benchmark."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from arena._internal.files import write_json
from arena.bench import _machine
from arena.bench._jobs import ACTIONS
from arena.errors import ArenaError


def main(job_file: str, result_file: str) -> int:
    """Do the job; a mistake in the input is one line on standard error and status 2."""
    job = json.loads(Path(job_file).read_bytes())
    _machine.limit(int(job["threads"]))
    try:
        write_json(result_file, ACTIONS[job["action"]](job))
    except ArenaError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
