"""Print the table of docs/systems.md: ``python requirements/systems.py``, with uv and a network.

uv resolves each extra for other systems and versions of Python from the wheels on the index.
"""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from lock import HERE, PROJECT

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = {
    "Linux, x86-64": "x86_64-unknown-linux-gnu",
    "Linux, arm64": "aarch64-unknown-linux-gnu",
    "macOS 15, arm64": "aarch64-apple-darwin",
}
# On the index as source alone, in Python, which every system can build.
PURE = ("pyserini", "langdetect", "pptree", "sqlitedict", "wikipedia-api")
LEFT_OUT = {"demo", "dev", "docs"}


def lacking(extra: str, system: str, version: str) -> str:
    """Return why an extra cannot be installed, mostly a package without a wheel; "" if it can."""
    options = ["--only-binary", ":all:", *(f"--no-binary={name}" for name in PURE)]
    options += ["--python-platform", system, "--python-version", version]
    options += ["--extra", extra] if extra else []
    command = ["uv", "pip", "compile", "--quiet", *options, HERE.parent / "pyproject.toml"]
    environment = os.environ | {"MACOSX_DEPLOYMENT_TARGET": "15.0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode == 0:
        return ""
    found = re.search(r"(\S+?)(?:[=<>]\S*)? (?:has no|depends on Python)", done.stderr)
    return found[1] if found else done.stderr.strip().splitlines()[-1]


def cell(extra: str, system: str) -> str:
    """Return the versions of Python for which an extra has wheels, and what others lack."""
    why = {version: lacking(extra, system, version) for version in VERSIONS}
    works = [version for version in VERSIONS if not why[version]]
    text = f"{works[0]} to {works[-1]}" if len(works) > 1 else "".join(works) or "none"
    reasons = ", ".join(sorted({f"`{each}`" for each in why.values() if each}))
    return f"{text} ({reasons})" if reasons else text


if __name__ == "__main__":
    print(f"| extra | {' | '.join(SYSTEMS)} |\n|---|{'---|' * len(SYSTEMS)}")
    for name in ["", *(e for e in PROJECT["optional-dependencies"] if e not in LEFT_OUT)]:
        with ThreadPoolExecutor() as pool:
            row = " | ".join(pool.map(partial(cell, name), SYSTEMS.values()))
        print(f"| {f'`{name}`' if name else '(core)'} | {row} |", flush=True)
