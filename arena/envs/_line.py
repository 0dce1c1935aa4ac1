"""A connection to a process that shall work at once, beside this one and not instead of it."""

from __future__ import annotations

import os
import select
import socket
from multiprocessing.connection import Connection
from typing import Any, NamedTuple


class Line(NamedTuple):
    """One end of a connection for bytes.

    Linux takes it that who writes to a socket will wait, and lets the reader go on in its place, on
    the same processor. So a reader waits for a bell, an eventfd, of which nothing of the kind is
    taken. Elsewhere there is none.

    Attributes:
        connection: what is sent and received.
        bell: its descriptor, held as a connection, which can be sent to a process.
        room: bytes that are sent for certain while nobody reads.
    """

    connection: Connection
    bell: Connection | None
    room: int

    def send(self, message: bytes) -> None:
        """Send to one that waits with `wait`.

        Raises:
            OSError: if it is gone.
        """
        if len(message) > self.room:
            self._ring()
            self.connection.send_bytes(message)
        else:
            self.connection.send_bytes(message)
            self._ring()

    def wait(self) -> bytes:
        """Return what was sent next.

        Raises:
            EOFError, OSError: if the sender is gone.
        """
        if self.bell is not None:
            bell, gone = self.bell.fileno(), select.poll()
            gone.register(bell, select.POLLIN)
            gone.register(self.connection.fileno(), 0)  # of which only the end is told
            if any(descriptor == bell for descriptor, _ in gone.poll()):
                os.eventfd_read(bell)
        return self.connection.recv_bytes()

    def _ring(self) -> None:
        if self.bell is not None:
            os.eventfd_write(self.bell.fileno(), 1)

    def close(self) -> None:
        """Close this end."""
        self.connection.close()
        if self.bell is not None:
            self.bell.close()


def line(context: Any) -> tuple[Line, Line]:
    """Return the end for requests, and the one that waits for them."""
    ours, theirs = context.Pipe()
    if not hasattr(os, "eventfd") or os.environ.get("NOBELL"):
        return Line(ours, None, 0), Line(theirs, None, 0)
    with socket.socket(fileno=os.dup(ours.fileno())) as there:
        room = there.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 4
    bell = os.eventfd(0)
    return Line(ours, Connection(bell), room), Line(theirs, Connection(os.dup(bell)), room)
