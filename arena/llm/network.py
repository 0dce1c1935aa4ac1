"""Which variables of the environment lead to a proxy or to certificates, for messages."""

from __future__ import annotations

import os
from urllib.request import getproxies, proxy_bypass

from arena.errors import clip
from arena.llm.answers import LLMError

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def proxy_of(scheme: str, host: str) -> str:
    """Return the variable whose proxy is asked for an address; empty if none is."""
    if proxy_bypass(host):
        return ""
    return next((name for kind, name, _ in _proxies() if kind in (scheme, "all")), "")


def problem_of(error: Exception) -> LLMError:
    """Return what is wrong with the environment, if no client of HTTP can be made."""
    if isinstance(error, OSError):
        files = [
            f"${name}={clip(os.environ[name])}" for name in _CERTIFICATES if name in os.environ
        ]
        return LLMError(
            f"{' or '.join(files) or 'the file of certificates'} cannot be read "
            f"({error.strerror or error}). Name a file of certificates that exists, or unset it."
        )
    names = " or ".join(name for _, name, _ in _proxies())
    if isinstance(error, ImportError):
        socks = [name for _, name, proxy in _proxies() if proxy.startswith("socks")]
        return LLMError(
            f"{' or '.join(socks) or names} names a SOCKS proxy, for which httpx2 needs another "
            "package: pip install socksio. Or unset it."
        )
    return LLMError(
        f"{names or 'a proxy'} is no address of a proxy ({clip(str(error))}). Write it as "
        "http://HOST:PORT, or unset it."
    )


def _proxies() -> list[tuple[str, str, str]]:
    """Return the kind of address, the variable and the proxy, the more special ones first."""
    known, found = getproxies(), []
    for kind in ("http", "https", "all"):
        if kind in known:
            name = f"{kind}_proxy"
            found.append((kind, f"${name if name in os.environ else name.upper()}", known[kind]))
    return found
