"""Names of release 0.9 are refused in one line that says the new one."""

from __future__ import annotations

import json

import gymnasium
import pytest
from helpers import make_env

import arena
from arena.cli import main
from arena.envs import EnvConfig
from arena.errors import CorpusError, DataError
from corpus_builder.cli import main as build_main


@pytest.mark.parametrize(
    ("command", "new"),
    [
        ("arena run --surveys 2", "--topics"),
        ("arena show RUN --corpus C --survey s1", "--topic"),
        ("arena serve mcp --corpus C --most 4", "--max-sessions"),
        ("arena judge statements RUN --corpus C --most 4", "--max-statements"),
        ("arena run --corpus CORPUS --agent title --output OUT --task survey", "pipeline"),
        ("arena list surveys", "topics"),
        ("arena replay RUN --corpus C", "verify"),
        ("arena list inputs", "paper_texts"),
        ("arena-corpus build world --output OUT", "synthetic"),
        ("arena-corpus select FILE --output OUT --most 3", "--max-surveys"),
        ("arena-corpus tasks DIR --output OUT --most 3", "--max-tasks"),
    ],
)
def test_commands(tiny, capsys, command, new):
    prog, *words = [str(tiny) if word == "CORPUS" else word for word in command.split()]
    with pytest.raises(SystemExit) as error:
        raise SystemExit((main if prog == "arena" else build_main)(words))
    assert error.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"It is called {new!r} now" in line


def test_settings_and_keys(tiny):
    with pytest.raises(DataError, match="'start_from' now"):
        EnvConfig.from_settings("organization", {"found": {}})
    with pytest.raises(DataError, match="'paper_text' now"):
        EnvConfig.from_settings("discovery", {"show": "summary"})
    with pytest.raises(DataError, match="'run' now"):
        EnvConfig.from_settings("organization", {"references": "found"})
    with pytest.raises(DataError, match="'topic_id' now"):
        make_env(tiny).reset(options={"survey": "s1"})
    with pytest.raises(DataError, match="arena/Pipeline-v0"):
        gymnasium.make("arena/Survey-v0", corpus=tiny)


def test_files(tiny, tmp_path):
    run = tmp_path / "run"
    arena.run(tiny, "discovery", "title", run)
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 2}))
    with pytest.raises(CorpusError, match=r"version 2, this release reads 3\. Run it again"):
        arena.rescore(run, tiny)
