"""Spans of OpenTelemetry and counts for Prometheus; docs/monitoring.md.

Both are off, and import nothing, unless the standard variables `TRACES` and `METRICS` name an
exporter. No attribute has a label, and none a text unless `TEXTS` asks for texts.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sized
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import metadata
from typing import Any
from weakref import WeakSet

from arena.errors import DataError, clip
from arena.kit.lazy import load
from arena.version import __version__

TRACES, METRICS = "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER"
TEXTS = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
SESSIONS: WeakSet[Sized] = WeakSet()
"""The sum of their lengths is the number of open episodes of this process."""
CPU_PER_SPAN = 0.04
"""Seconds of the process for each span of a call: a span and its export take some 0.0005."""
_GROUP = "opentelemetry_traces_exporter"  # of entry points
_spans = 0  # of calls


def start() -> None:
    """Begin to watch if the environment asks for it; DataError if it asks for what is not there."""
    tracer(), _metrics()


@cache
def tracer() -> Any:
    """Return what makes spans; None if nobody asks for them."""
    if not (names := _asked(TRACES)):
        return None
    sdk = load("opentelemetry.sdk.trace.export", f"{TRACES}={','.join(names)}")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):  # none of the program's
        provider = TracerProvider()
        is_first = multiprocessing.parent_process() is None  # others are killed after their work
        processor = sdk.BatchSpanProcessor if is_first else sdk.SimpleSpanProcessor
        for name in names:
            provider.add_span_processor(processor(_exporter(name)))
        trace.set_tracer_provider(provider)
    return trace.get_tracer("researcharena", __version__)


def _asked(variable: str) -> list[str]:
    names = map(str.strip, os.environ.get(variable, "").split(","))
    return [name for name in names if name not in ("", "none")]


def _exporter(name: str) -> Any:
    installed = {entry.name: entry for entry in metadata.entry_points(group=_GROUP)}
    found = [n for n in (name, f"{name}_proto_http", f"{name}_proto_grpc") if n in installed]
    if not found:
        raise DataError(
            f"{TRACES}={clip(name)}: no such exporter is installed; there are "
            f"{', '.join(sorted(installed))} and none. Others are packages, such as "
            "opentelemetry-exporter-otlp-proto-http."
        )
    # Standard output has the answers of a command.
    return installed[found[0]].load()(**({"out": sys.stderr} if name == "console" else {}))


def texts() -> bool:
    """Return whether spans have texts: queries, results, requests to models and answers."""
    asked = os.environ.get(TEXTS, "").lower() in ("true", "span_only", "span_and_event")
    return asked and tracer() is not None


def text_of(value: object) -> str:
    """Return a text as it is, and anything else as JSON."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else json.dumps(value, default=str)


@contextmanager
def span(
    name: str, attributes: Mapping[str, Any], kind: str = "INTERNAL"
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Make this block a span if somebody watches; yield a function that adds attributes."""
    if tracer() is None:
        yield lambda more: None
        return
    from opentelemetry.trace import SpanKind, StatusCode, use_span

    made = tracer().start_span(name, kind=SpanKind[kind], attributes=attributes)
    with use_span(made, True, record_exception=False, set_status_on_exception=False):
        try:
            yield made.set_attributes
        except BaseException as error:  # its message may have a text
            made.set_attribute("error.type", type(error).__qualname__)
            made.set_status(StatusCode.ERROR)
            raise


def record(name: str, began: int, attributes: Mapping[str, Any]) -> None:
    """Make a trace of its own of what began at a time in nanoseconds and ends now."""
    if tracer() is not None:
        from opentelemetry.context import Context

        tracer().start_span(name, Context(), attributes=attributes, start_time=began).end()


@contextmanager
def part_of(carrier: Mapping[Any, Any]) -> Iterator[None]:
    """Make the spans in this block a part of the trace that headers or `_meta` name, if any."""
    given = {n: carrier.get(n) or carrier.get(n.encode()) for n in ("traceparent", "tracestate")}
    if tracer() is None or not given["traceparent"]:
        yield
        return
    from opentelemetry.context import attach, detach
    from opentelemetry.propagate import extract

    token = attach(extract({name: text_of(value) for name, value in given.items() if value}))
    try:
        yield
    finally:
        detach(token)


@contextmanager
def tool_call(
    tool: object, known: Collection[str], arguments: object, episode: str = "", request: Any = None
) -> Iterator[Callable[[bool, object], None]]:
    """Watch a call of a tool of a server; yield what takes whether it failed, and its result.

    It is counted, and a span as far as `CPU_PER_SPAN` allows. `request` is the SDK's context of a
    request of MCP. A tool that is not `known` is ``unknown``: models make up names without end.
    """
    name = tool if isinstance(tool, str) and tool in known else "unknown"
    about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    about |= {"gen_ai.conversation.id": episode} if episode else {}
    began, outcome, add = time.perf_counter(), "exception", None

    def ended(failed: bool, result: object) -> None:
        nonlocal outcome
        outcome = "error" if failed else "ok"
        if add is not None:
            add({"error.type": "tool_error"} if failed else {})
            add({"gen_ai.tool.call.result": text_of(result)} if texts() else {})

    with ExitStack() as stack:
        if _admits_call():
            about |= {"gen_ai.tool.call.arguments": text_of(arguments)} if texts() else {}
            method = "execute_tool"
            if request is not None:
                stack.enter_context(part_of(request.meta or {}))
                about["mcp.method.name"] = method = "tools/call"
                about["mcp.protocol.version"] = request.protocol_version
                about["jsonrpc.request.id"] = str(request.request_id)
            kind = "INTERNAL" if request is None else "SERVER"
            add = stack.enter_context(span(f"{method} {name}", about, kind))
        try:
            yield ended
        finally:
            if _metrics() is not None:
                _metrics()[1].labels(name, outcome).observe(time.perf_counter() - began)


def _admits_call() -> bool:
    """Return whether a call may be a span; a sampler that the user names decides alone."""
    global _spans
    limited = "OTEL_TRACES_SAMPLER" not in os.environ
    if tracer() is None or (limited and _spans * CPU_PER_SPAN > time.process_time()):
        return False
    _spans += 1
    return True


@cache
def _metrics() -> Any:
    """Return the registry of Prometheus and the histogram of calls; None if nobody asks."""
    if "prometheus" not in _asked(METRICS):
        return None
    prometheus = load("prometheus_client", f"{METRICS}=prometheus")
    registry = prometheus.CollectorRegistry()
    about = ("arena_tool_call_seconds", "Seconds that a call of a tool took.", ["tool", "outcome"])
    seconds = prometheus.Histogram(*about, registry=registry)
    opened = prometheus.Gauge("arena_open_episodes", "Episodes that are open.", registry=registry)
    opened.set_function(lambda: sum(map(len, list(SESSIONS))))
    return registry, seconds


def metrics_page() -> bytes | None:
    """Return what ``/metrics`` answers; None if nobody asks for it."""
    if _metrics() is None:
        return None
    from prometheus_client import generate_latest

    return generate_latest(_metrics()[0])
