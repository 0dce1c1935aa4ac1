"""What MCP itself checks: its conformance suite, and the cache fields."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import gymnasium
import pytest
import yaml
from serving import serving

from arena import Corpus
from arena.serving.mcp import FRESH, DatedLibrary, episode_server, http_app, library_server
from arena.session import Sessions

pytest.importorskip("mcp")
import httpx2

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / ".conformance/node_modules/.bin"
NEW = "2026-07-28"


@pytest.mark.slow
@pytest.mark.skipif(
    not (INSTALLED / "conformance").exists(),
    reason="the conformance suite is not installed; with npm: make conformance",
)
def test_the_conformance_suite_fails_in_nothing_that_applies(
    synthetic: Path, tmp_path: Path
) -> None:
    sessions = Sessions.make(synthetic)
    listed = Path(__file__).with_name("conformance") / "not_applicable.yaml"
    by_reason = yaml.safe_load(listed.read_text(encoding="utf-8"))
    expected = {"server": [check for checks in by_reason.values() for check in checks]}
    (tmp_path / "expected.yaml").write_text(yaml.safe_dump(expected), encoding="utf-8")
    with serving(http_app(episode_server(sessions), sessions)) as url:
        command = [
            INSTALLED / "node", INSTALLED / "conformance", "server",
            "--url", f"{url}/mcp?episode=conformance&seed=1", "--requirements", NEW,
            "--expected-failures", tmp_path / "expected.yaml", "--output-dir", tmp_path / "out",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert re.search(r"server-stateless: 23 passed, 2 failed", done.stdout), done.stdout[-4000:]
    assert (tmp_path / "out").exists()


def ask(server: Any, method: str) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": NEW,
        "mcp-method": method,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
    with serving(http_app(server)) as url:
        got = httpx2.post(f"{url}/mcp", json=body, headers=headers).json()
    result: dict[str, Any] = got["result"]
    return result


def test_what_a_server_says_of_itself_may_be_kept(synthetic: Path) -> None:
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic))
    library = DatedLibrary(Corpus.open(synthetic).at("2015-01-01"))
    kept, asked_again = (FRESH, "public"), (0, "private")
    servers = [
        (episode_server(sessions), "server/discover", kept),
        (episode_server(sessions), "tools/list", kept),
        (episode_server(sessions), "prompts/list", kept),
        (library_server(library), "server/discover", kept),
        (library_server(library), "tools/list", kept),
        # The instructions are those of one episode.
        (episode_server(sessions, sessions.open(seed=1)), "server/discover", asked_again),
    ]
    for server, method, expected in servers:
        result = ask(server, method)
        assert (result["ttlMs"], result["cacheScope"]) == expected, method
