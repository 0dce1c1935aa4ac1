"""Where a card lies: it appears whole, is verified, is replaced, and no agent ever reads it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import contents

from arena.corpus import Corpus
from corpus_builder.card import write_card
from corpus_builder.cli import main
from corpus_builder.manifest import verify

ROOT = Path(__file__).resolve().parents[2]
INTACT: dict[str, str] = {}


def manifest(corpus: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((corpus / "manifest.json").read_text())
    return found


def test_only_the_card_and_the_hash_of_the_manifest_change(copy: Path) -> None:
    before, files = manifest(copy), contents(copy)
    entries = write_card(copy)
    after = manifest(copy)
    assert after.pop("card") == entries and "card/README.md" in entries
    assert after.pop("manifest_sha256") != before.pop("manifest_sha256")
    assert after == before
    now = contents(copy)
    assert {name for name in now if name not in files} == set(entries)
    assert all(now[name] == data for name, data in files.items() if name != "manifest.json")
    assert verify(copy)["problems"] == INTACT
    assert not (copy / ".card.building").exists()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda card: (card / "README.md").unlink(), "is missing"),
        (lambda card: (card / "README.md").write_text("!"), "has other content"),
    ],
)
def test_a_damaged_card_is_seen_and_repaired(copy: Path, damage: Any, told: str) -> None:
    write_card(copy)
    whole = contents(copy)
    damage(copy / "card")
    assert verify(copy)["problems"] == {"card/README.md": told}
    assert Corpus.open(copy).at("2030").search("dense")  # it does not need its card
    write_card(copy)
    assert contents(copy) == whole


def test_the_command(copy: Path, capsys: Any) -> None:
    assert main(["card", str(copy)]) == 0
    out = capsys.readouterr().out
    # sv:1 has 40 references, 11 of them there; sv:2 all of 3; sv:3 its one, which is later.
    assert (
        "(2 of 3) have at least 50 % of their references" in (copy / "card/README.md").read_text()
    )
    assert out.startswith("card  card/README.md")
    assert main(["card", str(copy), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == manifest(copy)["card"]
    assert main(["verify", str(copy)]) == 0
    assert f"{len(contents(copy))} files are as built." in capsys.readouterr().out
    assert main(["info", str(copy)]) == 0


# No agent ever reads it.


SPY = """
import sys
opened = []
sys.addaudithook(lambda event, arguments: event in ("open", "os.listdir", "os.scandir") and
                 opened.append(str(arguments[0])))
import arena, arena.cli
corpus, output = sys.argv[1:]
import arena.testing.auditor
arena.testing.auditor.check_contract = lambda *_: None
assert arena.cli.main(["audit", "arena/Discovery-v0", "--corpus", corpus, "--actions", "60"]) == 0
for task in arena.TASKS.names():
    arena.run(corpus, task, "random", f"{output}/{task}", topics=2)
assert any("/tasks/gold.parquet" in path for path in opened)  # it does see what is opened
print([path for path in opened if "/card" in path and not path.endswith(".py")])
"""


def test_audits_environments_and_runs_open_no_card(synthetic: Path, tmp_path: Path) -> None:
    corpus = Path(shutil.copytree(synthetic, tmp_path / "corpus"))
    write_card(corpus)
    done = subprocess.run(
        [sys.executable, "-c", SPY, str(corpus), str(tmp_path)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
