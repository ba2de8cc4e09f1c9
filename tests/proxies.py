"""Proxies on this machine: HTTP with CONNECT, SOCKS5, and one that inspects TLS; any host name leads where they say."""

import base64
import contextlib
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Route = Callable[[str], int]
"""The port of 127.0.0.1 at which a host name is."""
SUCCEEDED, NO_METHOD = b"\x05\x00\x00\x01\0\0\0\0\0\0", b"\x05\xff"


@dataclass(kw_only=True)
class Proxy:
    """One proxy. `login` is what it wants ("user:password"), `inspects` the certificate with which it signs all TLS.

    `passed` are the hosts to which it let requests through, `refused` counts those that it did not.
    """

    route: Route
    speaks: str = "http"
    login: str = ""
    inspects: ssl.SSLContext | None = None
    passed: list[str] = field(default_factory=list)
    refused: int = 0
    address: str = ""

    def serve(self, client: socket.socket) -> None:
        """Serve one connection."""
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.speaks == "socks":
            self._socks(client)
        elif self.speaks == "http":
            self._http(client)
        else:
            client.sendall(b"220 mail.example ESMTP\r\n")

    def _http(self, client: socket.socket) -> None:
        first, *lines = _head(client).decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        login = base64.b64decode(headers.get("proxy-authorization", "").removeprefix("Basic ")).decode()
        if login != self.login:
            self.refused += 1
            client.sendall(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n"
                b"Content-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        if method == "CONNECT":
            host = target.rpartition(":")[0]
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._tunnel(client, host)
        else:
            host, _, path = target.removeprefix("http://").partition("/")
            ended = [f"{method} /{path} HTTP/1.1"]
            ended += [line for line in lines if not line.lower().startswith("proxy-")]
            body = client.recv(int(headers.get("content-length", "0")), socket.MSG_WAITALL)
            self._tunnel(client, host.partition(":")[0], "\r\n".join(ended).encode("latin-1") + body)

    def _socks(self, client: socket.socket) -> None:
        _, count = client.recv(2)
        method = 2 if self.login else 0
        if method not in client.recv(count):
            self.refused += 1
            client.sendall(NO_METHOD)
            return
        client.sendall(bytes((5, method)))
        if method:
            client.recv(1)
            user = client.recv(client.recv(1)[0]).decode()
            password = client.recv(client.recv(1)[0]).decode()
            is_right = f"{user}:{password}" == self.login
            client.sendall(b"\x01" + bytes([not is_right]))
            if not is_right:
                self.refused += 1
                return
        kind = client.recv(4)[3]
        host = client.recv(client.recv(1)[0]).decode() if kind == 3 else socket.inet_ntoa(client.recv(4))
        client.recv(2)
        client.sendall(SUCCEEDED)
        self._tunnel(client, host)

    def _tunnel(self, client: socket.socket, host: str, first: bytes = b"") -> None:
        self.passed.append(host)
        if self.inspects is not None:
            client = self.inspects.wrap_socket(client, server_side=True)
        with client, socket.create_connection(("127.0.0.1", self.route(host)), timeout=20) as server:
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if first:  # one request a connection: the next one may be for another host
                server.sendall(first)
                client.sendall(_head(server)[:-2] + b"Connection: close\r\n\r\n")
            ends = {client: server, server: client}
            while True:
                ready = [each for each in ends if isinstance(each, ssl.SSLSocket) and each.pending()]
                for each in ready or select.select(list(ends), [], [], 20)[0]:
                    data = each.recv(1 << 16)
                    if not data:
                        return
                    ends[each].sendall(data)


def _head(connection: socket.socket) -> bytes:
    """Return the head of a message, read a byte at a time, so that nothing of what follows is gone."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        if not (byte := connection.recv(1)):
            raise ConnectionError("hung up")
        head += byte
    return head


@contextmanager
def running(**chosen: Any) -> Iterator[Proxy]:
    """Give a proxy that serves until the end of the block."""
    proxy = Proxy(**chosen)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError, ValueError):
                proxy.serve(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        proxy.address = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()
