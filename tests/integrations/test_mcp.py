"""`arena serve mcp`: the official client over stdio and HTTP, on the real command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import gymnasium
import pytest

import arena
from arena.serving.mcp import HEADER, STEP, DatedLibrary, episode_server
from arena.session import Sessions, opening_text
from arena.tasks import TaskSet

pytest.importorskip("mcp")
import httpx2
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

SEARCH = {"query": "nested lattice", "k": 3}


def run(test: Any) -> Any:
    async def within() -> Any:
        with anyio.fail_after(60):
            return await test()

    return anyio.run(within)


def command(*words: object) -> list[str]:
    return ["-m", "arena", "serve", "mcp", *map(str, words)]


@pytest.fixture(scope="module")
def address(synthetic: Path) -> Iterator[str]:
    """Run ``arena serve mcp --http`` on a free port; yield its address."""
    process = subprocess.Popen(
        [
            sys.executable,
            *command("--corpus", synthetic, "--task", "discovery", "--http", "--port", 0),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        yield found[0]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()  # type: ignore[union-attr]


def test_over_http_each_key_is_an_episode(synthetic: Path, address: str) -> None:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)

    async def play() -> None:
        for mode in ("auto", "legacy"):
            one, other_url = (f"{address}?episode={mode}{n}&seed=3" for n in (1, 2))
            async with Client(one, mode=mode) as first, Client(other_url, mode=mode) as other:
                observation, _ = env.reset(seed=3)
                asked = await first.get_prompt("task")
                assert asked.messages[0].content.text == opening_text(observation)  # type: ignore[union-attr]
                step = env.step({"tool": "search", "arguments": SEARCH})
                got = await first.call_tool("search", SEARCH)
                assert json.loads(got.content[0].text)["result"] == json.loads(step[0]["result"])  # type: ignore[union-attr]
                assert got.meta[STEP]["reward"] == step[1]  # type: ignore[index]
                bad = await first.call_tool("serch", {})
                assert bad.is_error
                assert "Did you mean" in bad.content[0].text  # type: ignore[union-attr]
                end = await other.call_tool("finish", {})
                assert end.meta[STEP]["terminated"]  # type: ignore[index]
            # The episode lives on when the connection ends.
            async with Client(one, mode=mode) as again:
                got = await again.call_tool("finish", {})
                assert json.loads(got.content[0].text)["budget"]["steps"] == 97  # type: ignore[union-attr]
                assert "recall@100" in got.meta[STEP]["info"]["metrics"]  # type: ignore[index]
                over = await again.call_tool("search", SEARCH)
                assert over.is_error
                assert "the episode is over" in over.content[0].text  # type: ignore[union-attr]

    run(play)


def test_what_names_no_episode_is_an_error(synthetic: Path, address: str) -> None:
    topics = TaskSet(arena.Corpus.open(synthetic)).scorable
    assert topics

    async def ask() -> None:
        for query, message in (
            ("", "the address names no episode"),
            ("?episode=a&seed=-1", "seed='-1'"),
            ("?episode=b&seed=1e3", "seed='1e3'"),
            ("?episode=c&topic=nobody", "topic='nobody': the corpus has no such topic."),
            (f"?episode={'k' * 201}", "1 to 200"),
        ):
            async with Client(address + query) as client:
                # No result of a tool: a model would read of topics and seeds.
                with pytest.raises(MCPError, match=re.escape(message)) as error:
                    await client.call_tool("search", SEARCH)
                assert not [topic for topic in topics if topic in str(error.value)]
                with pytest.raises(MCPError, match=re.escape(message)):
                    await client.get_prompt("task")

    run(ask)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_stdio_there_is_one_episode(synthetic: Path, mode: str) -> None:
    words = command("--corpus", synthetic, "--task", "discovery", "--seed", 3)
    observation, _ = gymnasium.make("arena/Discovery-v0", corpus=synthetic).reset(seed=3)

    async def play() -> None:
        server = StdioServerParameters(command=sys.executable, args=words)
        async with Client(server, mode=mode) as client:
            assert client.instructions == opening_text(observation)
            tools = (await client.list_tools()).tools
            assert "submit" in [tool.name for tool in tools]
            got = await client.call_tool("search", SEARCH)
            assert json.loads(got.content[0].text)["budget"]["searches"] == 49  # type: ignore[union-attr]

    run(play)


def test_half_a_letter_is_answered_over_stdio(synthetic: Path) -> None:
    def line(id: int, method: str, **params: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n"

    info = {"clientInfo": {"name": "test", "version": "1"}, "capabilities": {}}
    calls = [
        line(number, "tools/call", name="search", arguments={"query": f"{half} lattice"})
        for number, half in enumerate(("nested \udc8a", "nested \ud83d\ude00", "nested"), 1)
    ]
    with subprocess.Popen(
        [sys.executable, *command("--corpus", synthetic, "--before", "2015-01-01")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdin and server.stdout
        server.stdin.write("\ufeff")  # as PowerShell begins
        server.stdin.write(line(0, "initialize", protocolVersion="2025-06-18", **info))
        server.stdin.writelines(calls)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(4)]
        server.stdin.close()
    assert sorted(answer["id"] for answer in answers) == [0, 1, 2, 3]
    assert all("hits" in str(answer) for answer in answers if answer["id"])


def test_a_dated_library(synthetic: Path) -> None:
    """Without a task: search, read, references and citations, as of a day."""
    words = command("--corpus", synthetic, "--before", "2015-01-01")
    view = arena.Corpus.open(synthetic).at("2015-01-01")
    paper = view.search("lattice", 1)[0].id
    late = next(
        hit.id
        for hit in arena.Corpus.open(synthetic).at("2030").search("lattice", 50)
        if hit.id not in view
    )

    async def play() -> None:
        server = StdioServerParameters(command=sys.executable, args=words)
        async with Client(server) as client:
            assert "2015-01-01" in str(client.instructions)
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["search", "read", "references", "citations"]

            async def ask(tool: str, arguments: dict[str, Any]) -> Any:
                got = await client.call_tool(tool, arguments)
                assert STEP not in (got.meta or {})
                return got.is_error, json.loads(got.content[0].text)  # type: ignore[union-attr]

            _, found = await ask("search", {"query": "lattice", "k": 5})
            assert [h["id"] for h in found["hits"]] == [h.id for h in view.search("lattice", 5)]
            _, cited = await ask("references", {"paper_id": paper})
            assert [p["id"] for p in cited["references"]] == view.references(paper)
            assert (await ask("read", {"paper_id": paper}))[1]["title"] == view.paper(paper).title
            hidden, unknown = (
                await ask("read", {"paper_id": late}),
                await ask("read", {"paper_id": "w"}),
            )
            assert hidden[0] is unknown[0] is True
            assert str(hidden[1]).replace(late, "w") == str(unknown[1])

    run(play)


def test_a_library_whose_engine_breaks_shows_no_file(synthetic: Path, tmp_path: Path) -> None:
    corpus = shutil.copytree(synthetic, tmp_path / "synthetic")
    shutil.rmtree(corpus / "index" / "bm25")
    library = DatedLibrary(arena.Corpus.open(corpus).at("2015-01-01"))  # opens no engine yet
    text, failed = library.call("search", SEARCH)
    assert failed
    assert json.loads(text) == {"error": "the tool failed, which is no fault of the call."}
    assert not library.call("read", {"paper_id": "w"})[0].count("fault")


def test_optional_arguments_are_nullable_and_null_is_accepted(synthetic: Path) -> None:
    """Some clients demand every argument that is not nullable, and send null."""
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic))

    async def play() -> None:
        async with Client(episode_server(sessions, sessions.open(seed=1))) as client:
            for tool in (await client.list_tools()).tools:
                required = tool.input_schema["required"]
                for name, part in tool.input_schema["properties"].items():
                    assert part.get("nullable", False) == (name not in required)
            arguments = {"query": "lattice", "k": None, "offset": None, "retriever": None}
            assert not (await client.call_tool("search", arguments)).is_error

    run(play)


def test_a_header_may_name_the_episode(address: str) -> None:
    async def play() -> None:
        async with (
            httpx2.AsyncClient(headers={HEADER: "mine"}) as web,
            Client(streamable_http_client(address, http_client=web)) as client,
        ):
            await client.call_tool("search", SEARCH)
        async with Client(f"{address}?episode=mine") as client:
            got = await client.call_tool("search", SEARCH)
            assert json.loads(got.content[0].text)["budget"]["steps"] == 98  # type: ignore[union-attr]

    run(play)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--task"),
        (("--task", "discovery", "--before", "2015"), "--before"),
        (("--before", "2015", "--retriever", "bm52"), "Did you mean 'bm25'"),
        (("--before", "2015", "--seed", "1"), "--seed"),
        (("--task", "discovery", "--http", "--seed", "1"), "seed"),
        (("--task", "discovery", "--max-sessions", "0"), "max_sessions"),
    ],
    ids=str,
)
def test_bad_options_are_one_line(
    synthetic: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from arena.cli import main

    assert main(["serve", "mcp", "--corpus", str(synthetic), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
