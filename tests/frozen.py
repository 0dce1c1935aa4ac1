"""Outputs of small runs, frozen: what a change of structure must not change.

``python tests/frozen.py`` compares today's outputs with ``tests/data/frozen.json``, and
``--write`` freezes them anew, after a change that is meant to change numbers. Hashes of code,
versions and names of keys are not frozen; what agents did, saw and scored is.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

FROZEN = Path(__file__).parent / "data" / "frozen.json"
AGENTS = {
    "discovery": ("random", "title", "scout", "oracle"),
    "selection": ("random", "title", "oracle"),
    "question": ("random", "title", "oracle"),
    "organization": ("random", "clustering", "organizer", "oracle"),
    "report": ("random", "digest", "oracle"),
    "pipeline": ("random", "title", "oracle"),
}
_FILES = ("run*.trec", "qrels.trec", "mind_maps.jsonl", "reports.jsonl", "reports/*.md")
_UNFROZEN = (
    "sha256", "task", "agent", "retriever", "seed", "directions", "headlines", "left_out", "unit",
    "unseen",
)  # fmt: skip
_UNFROZEN_OF_TOPICS = ("cluster", "domain", "unseen")
_STEP = ("action", "observation_sha256", "reward", "reward_terms")


def outputs(directory: Path) -> dict[str, dict[str, str]]:
    """Return ``CORPUS/TASK/AGENT`` -> name of an output -> its hash; plays all runs."""
    import arena
    from corpus_builder.build import build
    from corpus_builder.sources.example import Example
    from corpus_builder.sources.synthetic import SyntheticSource
    from corpus_builder.synthetic import SyntheticConfig

    build(Example(), directory / "tiny")
    build(SyntheticSource(SyntheticConfig(seed=7, papers=300, surveys=4)), directory / "synthetic")
    found = {}
    for corpus in ("tiny", "synthetic"):
        for task, agents in AGENTS.items():
            for agent in agents:
                output = directory / f"{corpus}-{task}-{agent}"
                arena.run(directory / corpus, task, agent, output, seed=3)
                found[f"{corpus}/{task}/{agent}"] = hashes(output)
    return found


def hashes(run: Path) -> dict[str, str]:
    """Return name -> hash of each frozen output of one run."""
    found = {}
    for pattern in _FILES:
        for path in sorted(run.glob(pattern)):
            found[path.relative_to(run).as_posix()] = _hash(path.read_bytes())
    lines = (run / "trajectories.jsonl").read_text(encoding="utf-8").splitlines()
    episodes = [json.loads(line) for line in lines]
    steps = [[step.get(key) for key in _STEP] for each in episodes for step in each["steps"]]
    found["steps"] = _hash(json.dumps(steps, sort_keys=True).encode())
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    numbers = {name: value for name, value in metrics.items() if name not in _UNFROZEN}
    numbers["counts"].pop("unknown", None)
    for row in numbers["per_topic"].values():
        for name in _UNFROZEN_OF_TOPICS:
            row.pop(name, None)
    found["numbers"] = _hash(json.dumps(numbers, sort_keys=True).encode())
    return found


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Return ``RUN OUTPUT`` for every hash that differs or stands on one side alone."""
    return [
        f"{run} {name}"
        for run in sorted(found.keys() | expected.keys())
        for name in sorted(found.get(run, {}).keys() | expected.get(run, {}).keys())
        if found.get(run, {}).get(name) != expected.get(run, {}).get(name)
    ]


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        today = outputs(Path(made))
    if "--write" in sys.argv:
        FROZEN.write_text(json.dumps(today, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    else:
        differing = differences(today, json.loads(FROZEN.read_text(encoding="utf-8")))
        print("\n".join(differing) or "all equal")
        sys.exit(bool(differing))
