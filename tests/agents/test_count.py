"""An agent reports its own calls of a model; a run reports refused actions."""

from __future__ import annotations

import arena
from arena.cli import main
from arena.results.comparison import as_text

AGENT = """
import arena

class Own(arena.Agent):
    def act(self, observation):
        self.count(prompt=100, completion=20, dollars=0.5)
        last = observation["budget"]["steps"] < 99
        return {"tool": "finish" if last else "serach", "arguments": {}}
"""


def test_counted_calls_and_refused_actions_are_shown(synthetic, tmp_path, capsys):
    (tmp_path / "own.py").write_text(AGENT)
    command = ["run", "--corpus", str(synthetic), "--task", "discovery", "--topics", "2"]
    command += ["--agent", f"{tmp_path}/own.py:Own", "--output", str(tmp_path / "run")]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "4 of 6 actions were refused, for example:\n     4 times: no tool 'serach'" in out
    effort = arena.compare([tmp_path / "run"]).efforts["Own, bm25"]
    assert (effort.calls, effort.prompt_tokens, effort.completion_tokens) == (6, 600, 120)
    assert effort.dollars == 3.0
    assert "prompt tokens" in as_text(arena.compare([tmp_path / "run"]))


HELPER = "import numpy\n\ndef shape(value):\n    return numpy.reshape(value, (7, 7))\n"
BREAKS = """
import arena, own_helper

class Breaks(arena.Agent):
    def act(self, observation):
        return own_helper.shape([1, 2])
"""


def test_an_error_names_the_innermost_line_of_the_agents_own_folder(synthetic, tmp_path, capsys):
    (tmp_path / "own_helper.py").write_text(HELPER)
    (tmp_path / "breaks.py").write_text(BREAKS)
    command = ["run", "--corpus", str(synthetic), "--task", "discovery", "--topics", "1"]
    command += ["--agent", f"{tmp_path}/breaks.py:Breaks", "--output", str(tmp_path / "run")]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "(own_helper.py line 4). ARENA_DEBUG=1 shows the traceback" in error
