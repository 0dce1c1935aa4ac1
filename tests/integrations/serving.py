"""A server of an application in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from arena.serving import http


@contextmanager
def serving(app, token: str | None = None, websockets: bool = False) -> Iterator[str]:
    """Serve while the block runs; yield the address, such as http://127.0.0.1:40000."""
    with http.listen("127.0.0.1", 0) as listening:
        server = http.make_server(app, "127.0.0.1", token, websockets)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield http.address(listening)
        finally:
            server.should_exit = True
            thread.join()
