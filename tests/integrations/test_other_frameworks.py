"""The scripts of examples/frameworks/ run where their framework is.

Some frameworks exclude each other. `make integrations` gives each an environment, such as
.venv-skyrl; one without it is looked for beside the tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest
from llm_server import LLMServer, tool_call
from serving import serving

import arena
from arena.session import Sessions

ROOT = Path(__file__).parents[2]
CALLS = [("search", {"query": "lattice", "k": 3}), ("submit", {"paper_ids": []})]


def run(name: str, module: str, replacing: dict[str, str], then: str = "") -> str:
    """Run the script of a framework in the environment of that; return what it prints."""
    script = ROOT / "examples" / "frameworks" / f"play_{name.replace('-', '_')}.py"
    code = script.read_text(encoding="utf-8") + then
    for old, new in replacing.items():
        assert old in code
        code = code.replace(old, new)
    own = ROOT / f".venv-{name}" / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    find = f"import sys, importlib.util as u; sys.exit(u.find_spec({module!r}) is None)"
    if subprocess.run([python, "-c", find]).returncode:
        pytest.skip(f"{name} needs the module {module}")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def sessions(synthetic: Path) -> Sessions:
    """The episodes behind a server."""
    return Sessions.make(synthetic, task="discovery")


@pytest.fixture
def address(sessions: Sessions) -> Iterator[str]:
    """The address of a server of MCP."""
    pytest.importorskip("mcp.server", reason="the server needs mcp 2")
    from arena.serving.mcp import episode_server, http_app

    with serving(http_app(episode_server(sessions))) as url:
        yield url


def script(body: dict) -> dict | str:
    """A model that searches, submits, and ends."""
    said = sum(message["role"] == "assistant" for message in body["messages"])
    if said < len(CALLS):
        return tool_call(*CALLS[said], f"call_{said}")
    ends = [t["function"]["name"] for t in body["tools"] if t["function"]["name"] == "final_answer"]
    return tool_call("final_answer", {"answer": "done"}, "call_9") if ends else "done"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "module", "asks"),
    [
        ("openai-agents", "agents", True),
        ("langchain", "langchain_mcp_adapters", True),
        ("smolagents", "smolagents", False),
    ],
)
def test_a_client_of_mcp_plays_an_episode(
    sessions: Sessions, address: str, name: str, module: str, asks: bool
) -> None:
    with LLMServer(script) as model:
        where = {"http://127.0.0.1:8000": address, "http://127.0.0.1:9000/v1": model.url}
        assert "done" in run(name, module, where)
    env = sessions.env.fork()
    first, info = env.reset(seed=7)
    steps = [env.step({"tool": tool, "arguments": given}) for tool, given in CALLS]
    totals = sessions.close(name)
    assert len(sessions) == 0
    assert (totals.topic_id, totals.steps, totals.over) == (info["topic_id"], 2, True)
    assert totals.metrics == steps[-1][4]["metrics"]
    assert totals.reward == sum(step[1] for step in steps)
    shown = str(model.requests[-1]["messages"])
    assert (first["topic"] in shown) is asks
    seen = {tool["function"]["name"]: tool["function"] for tool in model.requests[0]["tools"]}
    for tool in arena.tool_schemas(env):
        ours = tool["function"]["parameters"]["properties"]
        assert seen[tool["function"]["name"]]["parameters"]["properties"].keys() == ours.keys()


@pytest.mark.slow
def test_skyrl_plays_an_episode(synthetic: Path) -> None:
    then = """
import json, skyrl_gym
env = skyrl_gym.make("arena-discovery", env_config=None, extras={"seed": 7})
chat, _ = env.init([{"role": "system", "content": "Search."}])
bad = env.step("I think.")
search = env.step('So: <tool>{"tool": "search", "arguments": {"query": "lattice", "k": 3}}</tool>')
end = env.step('<tool>{"tool": "submit", "arguments": {"paper_ids": []}}</tool>')
metrics = env.get_metrics()
env.close()
print(json.dumps([chat, bad, search, end, metrics, len(SESSIONS)]))
"""

    printed = run("skyrl", "skyrl_gym", {"demo/synthetic": str(synthetic)}, then)
    chat, bad, search, end, metrics, left = json.loads(printed.splitlines()[-1])
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    first, _ = env.reset(seed=7)
    assert chat[0]["role"] == "system"
    assert json.loads(chat[1]["content"])["topic"] == first["topic"]
    env.step("")
    assert '"error"' in bad["observations"][0]["content"]
    assert bad["done"] is search["done"] is False
    assert end["done"] is True
    for got, (tool, given) in ((search, CALLS[0]), (end, CALLS[1])):
        observation, reward, *_, info = env.step({"tool": tool, "arguments": given})
        assert observation["result"] in got["observations"][0]["content"]
        assert got["reward"] == reward
    assert metrics == info["metrics"]
    assert left == 0


@pytest.mark.slow
def test_rllib_trains(synthetic: Path) -> None:
    then = """
assert result["env_runners"]["num_episodes"] > 0
assert result["num_env_steps_sampled_lifetime"] >= 256
"""
    printed = run("rllib", "ormsgpack", {"demo/synthetic": str(synthetic)}, then)
    assert 0 <= float(printed.splitlines()[-1]) <= 1


@pytest.mark.slow
def test_stable_baselines_trains(synthetic: Path) -> None:
    printed = run("sb3", "stable_baselines3", {"demo/synthetic": str(synthetic)})
    assert 0 <= float(printed.splitlines()[-1]) <= 1
