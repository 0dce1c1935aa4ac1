"""Requests to an OpenAI-compatible endpoint through the `openai` package, and the answers in them.

The package retries, waits as ``Retry-After`` asks, and keeps connections open. Here the bodies are
bounded, no redirect is followed, and the key is read from the environment for each request: no
object contains it, and no text of a server that repeats it.
"""

from __future__ import annotations

import json
import os
import re
import time
import weakref
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2
import openai

from arena.errors import DataError, clip, did_you_mean
from arena.llm.answers import (
    Completion,
    LLMError,
    RequestRefusedError,
    Usage,
    clean,
    describe_request,
)
from arena.llm.outcomes import FILTER
from arena.text.display import count

OPENAI = "https://api.openai.com/v1"
LARGEST_ANSWER = 16 << 20  # bytes; a larger answer is an error
_LARGEST_ERROR = 64 << 10  # the rest of an error's body is not read
_RETURNED = re.compile("reason|think|thought|signature|extra_content|provider_specific")
"""Fields of a message that servers want back with it, as those of thinking models do."""
_PLACEHOLDER = 8  # characters; a shorter key is a placeholder, whose text an answer may contain
_REFUSED = re.compile(
    r"context.{0,20}(?:length|window|size)|maximum context|too many tokens|(?:prompt|input|request)"
    r".{0,20}too long|content.{0,5}(?:filter|policy|management)|image.{0,30}(?:pars|decod|invalid|"
    r"read|process|large)|(?:invalid|process|decode|read|corrupt)\S*.{0,20}image",
    re.IGNORECASE,
)


class Server:
    """An OpenAI-compatible endpoint; threads may share one. For the arguments see `Client`."""

    def __init__(
        self,
        base_url: str | None,
        api_key_env: str,
        timeout: float,
        max_retries: int,
    ) -> None:
        self._api_key_env, self._timeout = api_key_env, timeout
        self._address = str(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)
        key = _key_in(api_key_env)
        if not key and self._address == OPENAI:
            raise LLMError(
                f"${api_key_env} is not set, and OpenAI needs a key. Set it, or name another "
                "endpoint (base_url)."
            )
        if not (key.isascii() and key.isprintable()):
            raise DataError(f"${api_key_env} contains characters that no key has.")
        try:
            url = httpx2.URL(self._address)
        except httpx2.InvalidURL:
            url = httpx2.URL()
        self._where = f"{url.host}{f':{url.port}' if url.port else ''}{url.path}".rstrip("/")
        if url.scheme not in ("http", "https") or not url.host:
            raise DataError(
                f"base_url={clip(self._where)} is not an address: give one such as "
                "'http://127.0.0.1:8000/v1'."
            )
        proxy = _proxy_of(url.scheme, url.host)
        self._proxy = proxy and (
            f" It was asked through the proxy in {proxy}: correct that, or leave the proxy out "
            f"with NO_PROXY={url.host}."
        )
        try:
            http = _BoundedClient(api_key_env, timeout)
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            raise _problem_of(error) from None
        weakref.finalize(self, http.close)
        self._sdk = openai.OpenAI(
            api_key="in the environment", base_url=self._address, timeout=timeout,
            max_retries=max_retries, http_client=http,
        )  # fmt: skip

    def answer(self, key: str, body: dict[str, Any], proven: bool = False) -> Completion:
        """Send a request, of which `key` is the hash, until it is answered; return the answer.

        Where the same endpoint and options are `proven` to work, a refusal without a known reason
        concerns the request, such as an image that cannot be read.
        """
        try:
            response = self._sdk.post("/chat/completions", cast_to=httpx2.Response, body=body)
            return completion_of(response.content, key)
        except openai.APIError as error:
            problem = self._problem(error, body, proven)
        raise problem  # out here, so that no traceback leads to the request and so to the key

    def _problem(self, error: openai.APIError, body: Mapping[str, Any], proven: bool) -> LLMError:
        """Return the error that a failure of the last attempt means."""
        where, variable, model = self._where, f"${self._api_key_env}", str(body["model"])
        tried = (
            f"({count(self._sdk.max_retries + 1, 'attempt')} at request {describe_request(body)})."
        )
        tried += " Earlier answers are kept."
        if isinstance(error, openai.APITimeoutError):
            why = f"{where} did not answer within {self._timeout:g} s (`timeout`)"
            return LLMError(f"{why} {tried}")
        if not isinstance(error, openai.APIStatusError):
            cause = error.__cause__
            if isinstance(cause, _NoMessageError):
                return RequestRefusedError(f"200: {cause}")
            if isinstance(cause, httpx2.DecodingError):
                return LLMError(f"{cause} {tried}")
            if "CERTIFICATE" in str(cause):
                why = f"the certificate of {where} is not trusted: {clip(str(cause), 200)}. Name "
                return LLMError(f"{why}the file of its authority in $SSL_CERT_FILE.")
            why = f"{where} cannot be reached or hung up ({type(cause).__name__}); is a server"
            return LLMError(f"{why} running there?{self._proxy} {tried}")
        status, headers, said = error.status_code, error.response.headers, _message(error.body)
        option = re.search("temperature|seed", said)
        if status == 413 or (
            status in (400, 422) and (_REFUSED.search(said) or (proven and not option))
        ):
            return RequestRefusedError(f"{status}{said}")
        if self._proxy and status >= 400 and not isinstance(error.body, Mapping):
            why = f"{where} did not answer like such an endpoint{said}.{self._proxy} {tried}"
        elif 300 <= status < 400:
            why = f"{where} redirects to {clip(headers.get('location', ''))}, which is not "
            why += "followed. Give the final address as base_url."
        elif status in (401, 403):
            problem = "is refused" if _key_in(self._api_key_env) else "is not set, as needed"
            why = f"the key in {variable} {problem} by {where}. Set it to a key that may use it."
        elif status == 404 and (known := self._models()) and model not in known:
            why = f"{where} has no model {clip(model)}.{did_you_mean(model, known)}"
        elif status == 404:
            why = f"{where} has no model {clip(model)}, or is not such an endpoint{said}. Check "
            why += "`model`; `base_url` usually ends with /v1."
        elif "insufficient_quota" in said:
            why = f"the account of the key in {variable} is empty."
        elif status in (408, 409, 429) or status >= 500:
            asked = headers.get("retry-after")
            why = f"{where} asks to wait {clip(asked)} seconds" if asked else f"{where} fails"
            why += f"{said} {tried}"
        else:
            why = f"{where} refuses the request{said}."
            if option:
                why += " Leave them out with temperature=None or seed=None."
        return LLMError(f"{status}: {why}")

    def _models(self) -> list[str]:
        """Return names of models that the server lists, for a hint; none if it does not say."""
        with suppress(Exception):
            models = self._sdk.with_options(timeout=min(self._timeout, 10.0), max_retries=0).models
            return sorted(str(model.id)[:200] for model in models.list().data[:1000])
        return []


class _BoundedClient(openai.DefaultHttpxClient):
    """Signs requests, and reads whole responses of bounded size without the key."""

    def __init__(self, api_key_env: str, timeout: float) -> None:
        super().__init__(follow_redirects=False, timeout=timeout)
        self._api_key_env, self._seconds = api_key_env, timeout

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send one request; `DecodingError`, after which it is sent again, without an answer."""
        key = _key_in(self._api_key_env)
        request.headers["Accept-Encoding"] = "identity"
        request.headers.pop("Authorization", None)
        if key:
            request.headers["Authorization"] = f"Bearer {key}"
        end = time.monotonic() + self._seconds
        response = super().send(request, **(options | {"stream": True}))
        largest = LARGEST_ANSWER if response.status_code == 200 else _LARGEST_ERROR
        content = bytearray()
        with closing(response):
            for part in response.iter_raw():
                content += part
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout("the answer takes too long", request=request)
                if len(content) > largest:
                    break
        if len(content) > largest and response.status_code == 200:
            raise LLMError(f"an answer of {request.url.host} exceeds {largest >> 20} MiB.")
        headers = {n: v for n, v in response.headers.items() if n != "content-encoding"}
        if len(key) >= _PLACEHOLDER:
            content = content.replace(key.encode(), b"***")
            headers = {name: value.replace(key, "***") for name, value in headers.items()}
        status = response.status_code
        if status == 200 and request.method == "POST" and (status := _status_of(content)) == 200:
            completion_of(content, "")
        return httpx2.Response(
            status, headers=headers, content=bytes(content[:largest]), request=request
        )


def _proxy_of(scheme: str, host: str) -> str:
    """Return the variable whose proxy is asked for an address; empty if none is."""
    found = _variables(scheme) + _variables("all")
    return found[0] if found and not proxy_bypass(host) else ""


def _problem_of(error: Exception) -> LLMError:
    """Return what is wrong with the environment, if no client of HTTP can be made."""
    names = _variables("http") + _variables("https") + _variables("all")
    what, do = f"is no address of a proxy ({clip(str(error))})", "Write http://HOST:PORT"
    if isinstance(error, OSError):
        files = ("SSL_CERT_FILE", "SSL_CERT_DIR")
        names = [f"${name}={clip(os.environ[name])}" for name in files if name in os.environ]
        what, do = f"cannot be read ({error.strerror or error})", "Name certificates that exist"
    elif isinstance(error, ImportError):
        names = [
            name for name in names if os.environ.get(name[1:], "").startswith("socks")
        ] or names
        what, do = "is a SOCKS proxy, for which httpx2 needs a package", "pip install socksio"
    return LLMError(f"{' or '.join(names) or 'a file of certificates'} {what}. {do}, or unset it.")


def _variables(scheme: str) -> list[str]:
    name = f"{scheme}_proxy"
    known = scheme in getproxies() and (name if name in os.environ else name.upper())
    return [f"${known}"] if known else []


def _key_in(variable: str) -> str:
    return os.environ.get(variable, "").strip()


class _NoMessageError(httpx2.DecodingError):
    """The answer is well-formed and has no message."""


def _status_of(content: bytearray) -> int:
    """Return the status that a body of status 200 means: some gateways put errors into it."""
    with suppress(ValueError, RecursionError):
        body = json.loads(content)
        error = isinstance(body, dict) and not body.get("choices") and body.get("error")
        if error:
            code = error.get("code") if isinstance(error, dict) else None
            return code if type(code) is int and 400 <= code < 600 else 502
    return 200


def completion_of(content: bytes | bytearray, key: str) -> Completion:
    """Return the answer in the body of a response; raise `DecodingError` if it contains none."""
    try:
        answer = json.loads(content, parse_constant=lambda name: None)
        if not answer.keys() & {"choices", "object", "usage"}:
            raise LookupError
        choice = (answer.get("choices") or [{}])[0]
        message, reason = choice.get("message"), choice.get("finish_reason")
        if message is None:
            said = content[:2000].decode(errors="replace")
            why = f"the answer has no message: {clip(said, 300)}"
            if not FILTER.search(said):  # a filter says the same when it is asked again
                raise _NoMessageError(why)
            return Completion(key, "", refused=f"200: {why}")
        calls = message.get("tool_calls")
        calls = [
            _tool_call(call, number)
            for number, call in enumerate(calls if isinstance(calls, list) else ())
            if isinstance(call, dict) and isinstance(call.get("function"), dict)
        ]
        text, reason = _content(message.get("content")), reason if isinstance(reason, str) else ""
        return Completion(
            key, clean(text), tuple(clean(calls)), clean(reason), _usage(answer.get("usage")),
            extra=clean(_returned(message)),
        )  # fmt: skip
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        shown = clip(content[:500].decode(errors="replace"))
    raise httpx2.DecodingError(f"the answer is not a chat completion: {shown}")


def _message(body: object) -> str:
    """Return the server's own words, on one line and cut."""
    words = body
    if isinstance(body, Mapping):
        words = body.get("message") or body
        words = f"{body['code']}: {words}" if body.get("code") else words
    text = " ".join(str(words or "")[:2000].split())
    return f": {clip(text, 300)}" if text else ""


def _content(content: Any) -> str:
    if isinstance(content, list):  # parts
        return "".join(_content(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tool_call(call: dict[str, Any], number: int) -> dict[str, Any]:
    arguments = call["function"].get("arguments")
    if not isinstance(arguments, str):  # some servers send the object
        arguments = "" if arguments is None else json.dumps(arguments)
    function = {"name": str(call["function"].get("name") or ""), "arguments": arguments}
    call_id = str(call.get("id") or f"call_{number}")
    function |= _returned(call["function"])
    return {"id": call_id, "type": "function", "function": function, **_returned(call)}


def _returned(sent: dict[str, Any]) -> dict[str, Any]:
    """Return what goes back to the server with a message, or with a call in it."""
    return {name: value for name, value in sent.items() if value and _RETURNED.search(name)}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    numbers = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    return Usage(*(n if type(n) is int and 0 <= n < 1 << 53 else None for n in numbers))
