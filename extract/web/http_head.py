"""The heads of HTTP answers: whole and in time, or an error.

http.client takes a head that ends too soon for a whole one, so that an answer cut off among its headers is one without
Content-Length, whose body may be anything; and it waits for as long as a byte comes now and then. Here the end of a
connection within a head is an error, and the head as a whole has the read timeout. Also, nobody is asked who answers
from a link-local address: what lives there (the metadata of a machine in a cloud) has secrets and no prices.
"""

import http.client
import io
import ipaddress
import socket
import time
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError


class _Lines:
    """The lines of a head; raises TimeoutError where they do not all come within the timeout of the socket."""

    def __init__(self, file: io.BufferedReader, sock: socket.socket) -> None:
        self._file, self._sock = file, sock
        self._timeout = sock.gettimeout()
        self._ends_at = time.monotonic() + (self._timeout or float("inf"))
        self._begun = False

    def readline(self, limit: int) -> bytes:
        """Return a line of at most `limit` bytes; raise ConnectionResetError where the head ends within."""
        line = b""
        while len(line) < limit and not line.endswith(b"\n"):
            if self._timeout is not None:
                left = self._ends_at - time.monotonic()
                if left <= 0:
                    raise TimeoutError("the head of the answer took too long")
                self._sock.settimeout(left)
            seen = self._file.peek(1)
            if not seen and not self._begun:
                return b""  # http.client knows this one: nobody answered at all
            if not seen:
                raise ConnectionResetError("the answer broke off in its head")
            self._begun = True
            line += self._file.read(min(seen.find(b"\n") + 1 or len(seen), limit - len(line)))
        return line

    def close(self) -> None:
        self._file.close()

    def release(self) -> io.BufferedReader:
        """Return the file, whose body is read with the socket's own timeout again."""
        self._sock.settimeout(self._timeout)
        return self._file


class Answer(http.client.HTTPResponse):
    """An answer whose head is read whole and in time."""

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self._sock = sock

    def begin(self) -> None:
        """Read the head."""
        if self.headers is not None:
            return
        lines: Any = _Lines(self.fp, self._sock)
        self.fp = lines
        try:
            super().begin()
        finally:
            if self.fp is lines:
                self.fp = lines.release()


class Plain(HTTPConnection):
    """A connection over HTTP."""

    response_class = Answer

    def _new_conn(self) -> socket.socket:
        return _elsewhere(self, super()._new_conn())


class Secure(HTTPSConnection):
    """A connection over HTTPS."""

    response_class = Answer

    def _new_conn(self) -> socket.socket:
        return _elsewhere(self, super()._new_conn())


class PlainPool(HTTPConnectionPool):
    """Connections over HTTP."""

    ConnectionCls = Plain


class SecurePool(HTTPSConnectionPool):
    """Connections over HTTPS."""

    ConnectionCls = Secure


def with_whole_heads(pools: urllib3.PoolManager) -> urllib3.PoolManager:
    """Return pools whose connections read heads so."""
    pools.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    return pools


def _elsewhere(connection: HTTPConnection, sock: socket.socket) -> socket.socket:
    """Return a new socket; raise NewConnectionError where it leads to a link-local address."""
    peer = str(sock.getpeername()[0]).partition("%")[0]
    if ipaddress.ip_address(peer).is_link_local:
        sock.close()
        raise NewConnectionError(connection, f"{peer} is a link-local address, where no prices are")
    return sock
