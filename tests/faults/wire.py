"""A server that answers as it should, or as badly as a fault says, down to the bytes on the wire."""

import gzip
import io
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import parse_headers
from types import TracebackType
from typing import Any, Self

from standin.exchange import Answer

Handle = Callable[[str, str, Mapping[str, str], bytes], tuple[Answer, Callable[[], None]]]
ROBOTS = "/robots.txt"


class Hangup(Exception):
    """The connection ends here."""


@dataclass(kw_only=True)
class Exchange:
    """One request, the answer that it should get, and the connection to spoil it on."""

    method: str
    path: str
    headers: Mapping[str, str]
    asked: bytes
    answer: Answer
    connection: Any
    stopping: threading.Event
    memory: dict[str, Any]
    """What a fault remembers of the requests before, for one server and one fault."""

    def write(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except (OSError, ValueError) as error:
            raise Hangup from error

    def pause(self, seconds: float) -> None:
        if self.stopping.wait(seconds):
            raise Hangup

    def send(
        self,
        body: bytes | None = None,
        *,
        status: int | None = None,
        length: str | None = "",
        close: bool = False,
        **headers: str,
    ) -> None:
        """Send an answer: the right one but for what is given; `length` None announces none."""
        body = self.answer.body if body is None else body
        status = self.answer.status if status is None else status
        self.head(status, str(len(body)) if length == "" else length, **headers)
        self.write(body)
        if close:
            raise Hangup

    def head(self, status: int = 200, length: str | None = None, /, **headers: str) -> None:
        told = {"Content-Type": self.answer.content_type, **dict(self.answer.headers)}
        told |= {} if length is None else {"Content-Length": length}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        self.write(f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode("latin-1"))


Spoil = Callable[[Exchange], None]
Pick = Callable[[str, Mapping[str, str], bytes], Spoil | None]
"""Takes path, headers and body of a request; gives what spoils its answer, None where it is answered well."""


@dataclass(kw_only=True)
class FaultServer:
    """Serves `handle` on a free port of 127.0.0.1; what `pick` gives spoils an answer."""

    handle: Handle
    tls: ssl.SSLContext | None = None
    pick: Pick | None = None
    asked: list[str] = field(default_factory=list)
    struck: int = 0
    memory: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stopping = threading.Event()
        server = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                server._serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            block_on_close = False
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Clients hang up on us; that is what this server is for."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def url(self, host: str = "127.0.0.1") -> str:
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    def wrong(self, pick: Pick | None) -> None:
        """Spoil answers from now on, or none."""
        self.pick, self.struck, self.memory = pick, 0, {}
        self.asked.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, connection: Any) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(30)
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            reader = connection.makefile("rb")
            while not self.stopping.is_set():
                self._exchange(connection, reader)
        except (Hangup, OSError, ValueError):
            pass
        finally:
            connection.close()

    def _exchange(self, connection: Any, reader: io.BufferedReader) -> None:
        words = reader.readline(1 << 17).decode("latin-1").split()
        if len(words) != 3:
            raise Hangup
        headers = {name.lower(): value for name, value in parse_headers(reader).items()}
        body = reader.read(int(headers.get("content-length", "0")))
        method, path = words[0], words[1]
        self.asked.append(path)
        answer, ended = self.handle(method, path, headers, body)
        exchange = Exchange(
            method=method, path=path, headers=headers, asked=body, answer=answer, connection=connection,
            stopping=self.stopping, memory=self.memory,
        )  # fmt: skip
        try:
            spoil = self.pick(path, headers, body) if self.pick is not None else None
            if spoil is None:
                exchange.send()
            else:
                self.struck += 1
                spoil(exchange)
        finally:
            ended()


def bomb(mebibytes: int) -> bytes:
    """Return gzip of so many MiB of zeros: a thousandth of it."""
    packed = io.BytesIO()
    block = bytes(1 << 20)
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as file:
        for _ in range(mebibytes):
            file.write(block)
    return packed.getvalue()
