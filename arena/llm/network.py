"""Which variables of the environment lead to a proxy or to certificates, for messages."""

from __future__ import annotations

import os
from urllib.request import getproxies, proxy_bypass

from arena.errors import clip
from arena.llm.answers import LLMError


def proxy_of(scheme: str, host: str) -> str:
    """Return the variable whose proxy is asked for an address; empty if none is."""
    found = _variables(scheme) + _variables("all")
    return found[0] if found and not proxy_bypass(host) else ""


def problem_of(error: Exception) -> LLMError:
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
