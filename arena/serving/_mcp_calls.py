"""The plain call of a tool over MCP's HTTP: carried out and answered in a few of the SDK's steps.

For each request the SDK starts what a session, a stream and a trace need, which costs more than a
search. A plain call needs its checks and its serialization alone, and gets the same bytes.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from arena.text.display import whole_letters

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp_types import CallToolRequestParams
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METHOD = "tools/call"
_ONCE = {b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"accept", b"content-type"}
_JSON = "application/json"


class PlainCalls:
    """An application that answers plain calls; `app`, the SDK's, answers everything else."""

    def __init__(self, app: ASGIApp, server: Server[Any]) -> None:
        self._app, self._server = app, server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", "/mcp"):
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body"):
            messages.append(await receive())
        body = whole_letters(b"".join(message.get("body", b"") for message in messages))
        messages = [{"type": "http.request", "body": body}]
        if answer := await self._answer(scope, body):
            kind, size = (b"content-type", _JSON.encode()), (b"content-length", b"%d" % len(answer))
            await send({"type": "http.response.start", "status": 200, "headers": [kind, size]})
            await send({"type": "http.response.body", "body": answer})
            return

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, again, send)

    async def _answer(self, scope: Scope, body: bytes) -> bytes | None:
        """Return the answer to a plain call; None where the SDK is to answer."""
        from mcp import MCPError
        from mcp_types import SERVER_INFO_META_KEY, JSONRPCResponse
        from mcp_types.methods import serialize_server_result
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
        from starlette.requests import Request

        if (call := plain_call(scope["headers"], body)) is None:
            return None
        id, version, params = call
        entry = self._server.get_request_handler(_METHOD)
        assert entry is not None
        context: Any = SimpleNamespace(
            request=Request(scope), meta=params.meta, request_id=id, protocol_version=version
        )
        try:
            made: Any = await entry.handler(context, params)
        except MCPError:  # the address is wrong: nothing was carried out
            return None
        dumped = made.model_dump(by_alias=True, mode="json", exclude_none=True)
        result = serialize_server_result(_METHOD, version, dumped)
        modern = version not in HANDSHAKE_PROTOCOL_VERSIONS
        if modern:
            info = {SERVER_INFO_META_KEY: self._server.server_info_stamp}
            result["_meta"] = result.get("_meta", {}) | info
        answer = JSONRPCResponse(jsonrpc="2.0", id=id, result=result)
        if not modern:
            return answer.model_dump_json(by_alias=True, exclude_unset=True).encode()
        shown = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        return json.dumps(shown, separators=(",", ":")).encode()


def plain_call(
    headers: list[tuple[bytes, bytes]], body: bytes
) -> tuple[int | str, str, CallToolRequestParams] | None:
    """Return id, version of the protocol and parameters of a call of a tool.

    It passes all of the SDK's checks. Everything else, wrong or merely unusual, is None.
    """
    from mcp.shared.inbound import InboundModernRoute, classify_inbound_request
    from mcp_types import DEFAULT_NEGOTIATED_VERSION, CallToolRequestParams
    from mcp_types.methods import validate_client_request
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    given: dict[str, str] = {}
    for name, value in headers:
        if name.startswith(b"mcp-param-") or (name in _ONCE and name.decode() in given):
            return None
        given[name.decode()] = value.decode("latin-1")
    version = given.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
    if given.get("content-type") != _JSON or _JSON not in given.get("accept", "").split(","):
        return None
    try:
        request = from_json(body)
        id, params = request["id"], request["params"]
        usual = request.keys() == {"jsonrpc", "id", "method", "params"}
        usual &= params.keys() <= {"name", "arguments", "_meta"} and type(id) in (int, str)
        usual &= request["jsonrpc"] == "2.0" and request["method"] == _METHOD
        validate_client_request(_METHOD, version, params)
        read = CallToolRequestParams.model_validate(params, by_name=False)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    if usual and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        route = classify_inbound_request(request, headers=given)
        usual = isinstance(route, InboundModernRoute)
    return (id, version, read) if usual else None
