"""Checks by MCP itself: its conformance suite, cache fields, and the entry of its registry."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import anyio
import gymnasium
import pytest
import yaml
from serving import serving

from arena import Corpus, __version__
from arena.cli import main
from arena.serving.mcp import FRESH, DatedLibrary, episode_server, http_app, library_server
from arena.session import Sessions

pytest.importorskip("mcp")
from mcp.client import Client

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).with_name("conformance")
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
    by_reason = yaml.safe_load((LISTS / "not_applicable.yaml").read_text(encoding="utf-8"))
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


def test_what_a_server_says_of_itself_may_be_kept(synthetic: Path) -> None:
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic))
    library = library_server(DatedLibrary(Corpus.open(synthetic).at("2015-01-01")))
    several, one = episode_server(sessions), episode_server(sessions, sessions.open(seed=1))

    async def said() -> None:
        # The instructions of a server of one episode are those of this one.
        for server, kept in ((library, (FRESH, "public")), (several, (FRESH, "public")),
                             (one, (0, "private"))):  # fmt: skip
            async with Client(server) as client:
                about, tools = client.session.discover_result, await client.list_tools()
                assert about is not None
                assert (about.ttl_ms, about.cache_scope) == kept
                assert (tools.ttl_ms, tools.cache_scope) == (FRESH, "public")

    anyio.run(said)


def test_the_registry_can_read_server_json(synthetic: Path, capsys: Any) -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    schema = yaml.safe_load((LISTS / "server.schema.yaml").read_text(encoding="utf-8"))
    pytest.importorskip("jsonschema").validate(server, schema)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (package,) = server["packages"]
    assert server["version"] == package["version"] == __version__
    assert package["identifier"] == project["name"]
    # uvx runs the command that is named like the package; PyPI shows who may use the name.
    assert project["name"] in project["scripts"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"<!-- mcp-name: {server['name']} -->" in readme
    values = {"--corpus": str(synthetic), "--before": "the past"}
    words: list[str] = []
    for each in package["packageArguments"]:
        words += [each["name"], values[each["name"]]] if "name" in each else [each["value"]]
    assert main(words) == 2
    assert "the past" in capsys.readouterr().err
