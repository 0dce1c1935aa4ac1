"""What MCP itself checks: its conformance suite, cache fields, and the entry of its registry."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import gymnasium
import pytest
import yaml
from serving import serving

from arena import Corpus, __version__
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


# What the registry's schema of 2025-12-11 says of the fields that server.json has.
TEXT = {"type": "string"}
ARGUMENT = {
    "type": "object",
    "properties": {
        "type": {"enum": ["named", "positional"]},
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
        "isRequired": {"type": "boolean"},
        "description": TEXT,
        "name": TEXT,
        "value": TEXT,
    },
    "required": ["type"],
    "additionalProperties": False,
    "if": {"properties": {"type": {"const": "named"}}},
    "then": {"required": ["name"]},
    "else": {"required": ["value"]},
}
PACKAGE = {
    "type": "object",
    "properties": {
        "registryType": {"enum": ["npm", "pypi", "oci", "nuget", "mcpb"]},
        "identifier": {"type": "string", "minLength": 1},
        "version": {"type": "string", "minLength": 1, "not": {"const": "latest"}},
        "runtimeHint": {"enum": ["npx", "uvx", "docker", "dnx"]},
        "runtimeArguments": {"type": "array", "items": ARGUMENT},
        "packageArguments": {"type": "array", "items": ARGUMENT},
        "transport": {"properties": {"type": {"const": "stdio"}}, "required": ["type"]},
    },
    "required": ["registryType", "identifier", "transport"],
    "additionalProperties": False,
}
SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "$schema": {"pattern": r"/schemas/2025-12-11/server\.schema\.json$"},
        "name": {
            "type": "string",
            "minLength": 3,
            "maxLength": 200,
            "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
        },
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255, "pattern": r"^[^\^~<>=*x ]+$"},
        "packages": {"type": "array", "items": PACKAGE},
    },
    "required": ["name", "description", "version"],
    "additionalProperties": False,
}


def test_the_registry_can_read_server_json() -> None:
    validate = pytest.importorskip("jsonschema").validate
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    validate(server, SCHEMA)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (package,) = server["packages"]
    assert server["version"] == package["version"] == __version__
    assert package["identifier"] == project["name"]
    # uvx runs the command that is named like the package; PyPI shows who may use the name.
    assert project["name"] in project["scripts"]
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )


def test_the_command_of_server_json_is_one(synthetic: Path, capsys: Any) -> None:
    from arena.cli import main

    (package,) = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["packages"]
    named = {"--corpus": str(synthetic), "--before": "the past"}
    words = [
        word
        for each in package["packageArguments"]
        for word in ((each["name"], named[each["name"]]) if "name" in each else (each["value"],))
    ]
    assert main(words) == 2
    assert "the past" in capsys.readouterr().err
