"""Spans and counts: one span for each call, episode and request; nothing where nobody asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import requests
from llm_server import LLMServer, Trouble, tool_call

import arena
from arena import monitoring
from arena.cli import main
from arena.llm import LLMError
from arena.serving.mcp import DatedLibrary, episode_server, http_app, library_server
from arena.serving.retrieve import Searcher, make_app
from arena.session import Sessions
from arena.tasks import TaskSet

pytest.importorskip("opentelemetry.sdk", reason="needs the extra otel")
pytest.importorskip("mcp", reason="needs the extra serve")
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from serving import serving

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
NEW = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SEARCH = {"query": "dense retrieval", "k": 3}


@pytest.fixture
def spans(monkeypatch) -> Iterator[InMemorySpanExporter]:
    """An exporter that keeps the spans; every call is one."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(monitoring, "tracer", lambda: provider.get_tracer("test"))
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_on")
    yield kept
    provider.shutdown()


@pytest.fixture
def counted(monkeypatch) -> Iterator[None]:
    monkeypatch.setenv(monitoring.METRICS, "prometheus")
    monitoring._metrics.cache_clear()
    yield
    monkeypatch.delenv(monitoring.METRICS)
    monitoring._metrics.cache_clear()


def shown(spans: InMemorySpanExporter) -> list[tuple[str, dict]]:
    return [(span.name, dict(span.attributes)) for span in spans.get_finished_spans()]


def call(address: str, name: str, arguments: dict, accept: str = "application/json", **meta):
    """Call a tool; an unusual `accept` is answered by the SDK, a usual one without it."""
    params = {"name": name, "arguments": arguments, "_meta": META | meta}
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    headers = {"accept": accept, "mcp-protocol-version": NEW, "mcp-method": "tools/call",
               "mcp-name": name}  # fmt: skip
    got = requests.post(address, json=body, headers=headers, timeout=60)
    assert got.status_code == 200, got.text
    return got.json()["result"]


@pytest.mark.parametrize("accept", ["application/json", "application/json;q=1, text/event-stream"])
def test_calls_of_mcp(tiny, spans, counted, accept):
    sessions = Sessions.make(tiny)
    with serving(http_app(episode_server(sessions), sessions)) as address:
        url = f"{address}/mcp?episode=one&seed=3"
        call(url, "search", SEARCH, accept, traceparent=TRACEPARENT)
        call(url, "read", {"paper_id": "nobody"}, accept)
        call(url, "serch", {}, accept, traceparent="nonsense")
        page = requests.get(f"{address}/metrics", timeout=60)
        assert "arena_open_episodes 1.0" in page.text
        totals = requests.delete(url, timeout=60).json()
    common = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.conversation.id": "one",
        "mcp.method.name": "tools/call", "mcp.protocol.version": NEW, "jsonrpc.request.id": "7",
    }  # fmt: skip
    failed = {"error.type": "tool_error"}
    about = {"gen_ai.conversation.id": "one", "arena.topic.id": totals["topic_id"]}
    assert shown(spans) == [
        ("tools/call search", common | {"gen_ai.tool.name": "search"}),
        ("tools/call read", common | {"gen_ai.tool.name": "read"} | failed),
        ("tools/call unknown", common | {"gen_ai.tool.name": "unknown"} | failed),
        ("episode discovery", about | {"arena.calls": 4, "arena.termination": "finished"}),
    ]
    search, read, _, episode = spans.get_finished_spans()
    assert (f"{search.context.trace_id:032x}", f"{search.parent.span_id:016x}") == (TRACE, PARENT)
    assert search.kind.name == "SERVER"
    assert read.parent is None
    assert episode.start_time < search.start_time < episode.end_time
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    for line in (
        'arena_tool_call_seconds_count{outcome="ok",tool="search"} 1.0',
        'arena_tool_call_seconds_count{outcome="error",tool="read"} 1.0',
        'arena_tool_call_seconds_count{outcome="error",tool="unknown"} 1.0',
        'arena_tool_call_seconds_bucket{le="+Inf",outcome="ok",tool="search"} 1.0',
    ):
        assert line in page.text


def test_a_trace_of_a_request_over_http(mini, spans, counted):
    ask = {"query": "secret words"}
    with serving(make_app(Searcher(mini)), token="secret") as address:
        headers = {"traceparent": TRACEPARENT, "Authorization": "Bearer secret"}
        for day in ("2022", "never"):
            url = f"{address}/retrieve?before={day}"
            requests.post(url, json=ask, headers=headers, timeout=60)
        assert requests.get(f"{address}/metrics", timeout=60).status_code == 401
        assert requests.get(f"{address}/metrics", headers=headers, timeout=60).status_code == 200
    about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "retrieve"}
    failed = about | {"error.type": "tool_error"}
    assert shown(spans) == [("execute_tool retrieve", about), ("execute_tool retrieve", failed)]
    first, _ = spans.get_finished_spans()
    assert (f"{first.context.trace_id:032x}", f"{first.parent.span_id:016x}") == (TRACE, PARENT)


def test_texts_only_where_they_are_asked_for(mini, spans, monkeypatch):
    library = DatedLibrary(arena.Corpus.open(mini).at("2022"))
    with serving(http_app(library_server(library))) as address:
        call(f"{address}/mcp", "search", SEARCH)
        monkeypatch.setenv(monitoring.TEXTS, "true")
        call(f"{address}/mcp", "search", SEARCH)
    (_, without), (_, texts) = shown(spans)
    assert texts.keys() - without.keys() == {
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
    }
    assert json.loads(texts["gen_ai.tool.call.arguments"]) == SEARCH
    assert "p:day" in texts["gen_ai.tool.call.result"]


def test_an_episode_and_its_requests(tiny, tmp_path, spans, make_client):
    """The requests of an episode are in its trace; no step is a span, and no label is told."""
    with LLMServer(lambda body: tool_call("search", {"query": "secret words"})) as server:
        store = str(make_client(server).store.path)
        options = {"model": "scripted", "base_url": server.url, "store": store}
        run = (tiny, "discovery", "react", tmp_path / "run")
        arena.run(*run, agent_options=options, max_steps=3, parallel=2)
        asked = len(server.requests)
    made = spans.get_finished_spans()
    episodes = {span.context.trace_id: span for span in made if span.name == "invoke_agent react"}
    requested = [span for span in made if span.name == "chat scripted"]
    topics = TaskSet(arena.Corpus.open(tiny))
    assert len(made) == len(episodes) + len(requested)
    assert (len(episodes), len(requested)) == (len(topics.topics), asked)
    for span in requested:
        assert span.parent.span_id == episodes[span.context.trace_id].context.span_id
        used = {k: v for k, v in span.attributes.items() if k.startswith("gen_ai.usage.")}
        assert used.keys() == {"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"}
        assert min(used.values()) >= 0
    attributes = [span.attributes for span in episodes.values()]
    assert {a["arena.topic.id"] for a in attributes} == set(topics.topics)
    assert {(a["arena.task"], a["arena.calls"]) for a in attributes} == {("discovery", 3)}
    told = json.dumps([dict(span.attributes) for span in made])
    assert "secret words" not in told
    labels = {p for s in topics.scorable for p in topics.gold(s).gains}
    assert labels and not [paper for paper in labels if f'"{paper}"' in told]


def test_requests(spans, make_client, monkeypatch):
    monkeypatch.setenv(monitoring.TEXTS, "true")
    error = {"message": "maximum context length"}
    messages = [[{"role": "user", "content": text}] for text in ("one", "two", "three")]
    with LLMServer(lambda body: "yes") as server, monitoring.span("outer", {}):
        make_client(server).answers(messages)  # in threads
    *three, outer = spans.get_finished_spans()
    assert {span.parent.span_id for span in three} == {outer.context.span_id}
    assert len(three) == 3
    spans.clear()
    with LLMServer(["fine", Trouble(400, error=error), Trouble(401)]) as server:
        client = make_client(server, max_retries=0, mode="live")
        client.answers(messages[:1])
        client.answers(messages[1:2])
        with pytest.raises(LLMError):
            client.answers(messages[2:])
    fine, refused, failed = (attributes for _, attributes in shown(spans))
    assert json.loads(fine["gen_ai.input.messages"]) == messages[0]
    assert json.loads(fine["gen_ai.output.messages"])[0]["content"] == "fine"
    assert "error.type" not in fine
    assert (refused["error.type"], failed["error.type"]) == ("refused", "LLMError")
    assert not [event for span in spans.get_finished_spans() for event in span.events]


def test_spans_of_calls_take_their_share_of_the_cpu(spans, monkeypatch):
    """At 0.04 seconds a span, 1 second has room for the spans 0 to 25."""
    monkeypatch.delenv("OTEL_TRACES_SAMPLER")
    monkeypatch.setattr(monitoring, "_spans", 0)
    monkeypatch.setattr("time.process_time", lambda: 1.0)
    for _ in range(100):
        with monitoring.tool_call("search", ["search"], {}) as ended:
            ended(False, "")
    assert len(spans.get_finished_spans()) == 26


OFF = """
import sys, arena
from arena.serving.retrieve import Searcher, make_app
from arena.serving.http import make_server
from arena.session import Sessions
arena.run(sys.argv[1], "discovery", "title", sys.argv[2])
Sessions.make(sys.argv[1]).open("one", seed=1).step({"tool": "search", "arguments": {"query": "x"}})
make_server(make_app(Searcher(sys.argv[1])), "127.0.0.1", None)
print([m for m in sys.modules if m.startswith(("opentelemetry", "prometheus"))])
import arena.serving.mcp as mcp
mcp.http_app(mcp.episode_server(sessions := Sessions.make(sys.argv[1])), sessions)
print([m for m in sys.modules if m.startswith(("opentelemetry.sdk", "prometheus"))])
"""


def test_off_imports_nothing(tiny, tmp_path):
    """MCP's SDK itself imports the API of OpenTelemetry, which alone does nothing."""
    command = [sys.executable, "-c", OFF, tiny, tmp_path / "run"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.stdout == "[]\n[]\n", done.stderr


def test_over_stdio_spans_are_at_standard_error(mini):
    params = {"name": "search", "arguments": SEARCH, "_meta": META | {"traceparent": TRACEPARENT}}
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    words = ["serve", "mcp", "--corpus", str(mini), "--before", "2022"]
    with subprocess.Popen(
        [sys.executable, "-m", "arena", *words], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {monitoring.TRACES: "console", "OTEL_SERVICE_NAME": "gym"},
    ) as server:  # fmt: skip
        server.stdin.write(json.dumps(ask) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        _, printed = server.communicate(timeout=100)
    assert "p:day" in answer["result"]["content"][0]["text"]
    span = json.loads(printed)
    assert (span["name"], span["context"]["trace_id"]) == ("tools/call search", f"0x{TRACE}")
    assert span["resource"]["attributes"]["service.name"] == "gym"


def test_a_server_that_is_ended_sends_its_last_spans(mini):
    words = ["serve", "retrieve", "--corpus", str(mini), "--before", "2022", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "arena", *words], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=os.environ | {monitoring.TRACES: "console"},
    ) as server:  # fmt: skip
        address = server.stdout.readline().split()[2]
        requests.post(address, json={"query": "x"}, timeout=60)
        server.terminate()
        _, printed = server.communicate(timeout=100)
    assert json.loads(printed)["name"] == "execute_tool retrieve"
    assert server.returncode == 128 + 15


def test_what_is_not_there(tiny, tmp_path, monkeypatch, capsys):
    words = ["run", "--corpus", str(tiny), "--task", "discovery", "--agent", "title"]
    words += ["--output", str(tmp_path / "run")]
    monkeypatch.setenv(monitoring.TRACES, "zipkin")
    monitoring.tracer.cache_clear()
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(
        "arena: error: OTEL_TRACES_EXPORTER='zipkin': no such exporter is installed; there are "
    )
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace.export", None)
    assert main(words) == 2
    assert capsys.readouterr().err == (
        "arena: error: OTEL_TRACES_EXPORTER=zipkin needs the package 'opentelemetry', which is not "
        "installed. Run: pip install 'researcharena[otel]'\n"
    )
    monkeypatch.setenv(monitoring.TRACES, "none")
    monitoring.tracer.cache_clear()
    assert main(words) == 0
