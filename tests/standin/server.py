"""HTTP/1.1 on loopback: reads requests, sends answers, and breaks off in the ways that answers ask for."""

import gzip
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standin.exchange import Answer

Handle = Callable[[str, str, Mapping[str, str], bytes], tuple[Answer, Callable[[], None]]]
"""Takes method, path, lower-case headers and body; gives the answer, and what to call when it is sent or broken off."""

DRIPS = 20


class _BrokenOffError(Exception):
    """The answer asked for the connection to end here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes; their pause would be 40 ms a request
    wbufsize = -1
    server: "LoopbackServer"

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._exchange(b"")

    def do_HEAD(self) -> None:
        """Send what a GET would, without its body."""
        answer, _ = self.server.handle(
            "HEAD", self.path, {name.lower(): each for name, each in self.headers.items()}, b""
        )
        self.send_response(answer.status)
        for name, value in ({"Content-Length": str(len(answer.body))} | dict(answer.headers)).items():
            self.send_header(name, value)
        self.end_headers()

    def do_POST(self) -> None:
        self._exchange(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def _exchange(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer, ended = self.server.handle(self.command, self.path, headers, body)
        try:
            self._send(answer, ended, accepts_gzip="gzip" in headers.get("accept-encoding", ""))
        except (_BrokenOffError, ConnectionError):
            ended()
            self.close_connection = True

    def _send(self, answer: Answer, ended: Callable[[], None], *, accepts_gzip: bool) -> None:
        self._pause(answer.delay)
        if answer.reset and answer.stop_at == 0:
            self._break_off(reset=True)
        packed = answer.gzip == "always" or (answer.gzip == "asked" and accepts_gzip)
        body = gzip.compress(answer.body, compresslevel=1, mtime=0) if packed else answer.body
        if answer.keep_of_gzip is not None:
            body = body[: int(len(body) * answer.keep_of_gzip)]
        self.send_response(answer.status)
        fixed = {"Content-Type": answer.content_type, "Content-Length": str(len(body))}
        for name, value in {**fixed, **({"Content-Encoding": "gzip"} if packed else {}), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        kept = body if answer.stop_at is None else body[: int(len(body) * answer.stop_at)]
        self._write(kept[:-1], over_seconds=answer.drip)
        if answer.stop_at is None:
            ended()  # before the last byte, so that a client that has the whole answer finds the request ended
        self._write(kept[-1:])
        if answer.stop_at is not None:
            self._break_off(reset=answer.reset)

    def _write(self, body: bytes, *, over_seconds: float = 0.0) -> None:
        step = len(body) // DRIPS + 1 if over_seconds else len(body) or 1
        for start in range(0, len(body), step):
            self.wfile.write(body[start : start + step])
            if over_seconds:
                self.wfile.flush()
                self._pause(over_seconds / DRIPS)
        self.wfile.flush()

    def _pause(self, seconds: float) -> None:
        if seconds and self.server.stopping.wait(seconds):
            raise _BrokenOffError

    def _break_off(self, *, reset: bool) -> None:
        if reset:  # closing a socket that lingers for no time at all sends RST in place of FIN
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
        raise _BrokenOffError

    def log_message(self, *_: object) -> None:
        """Keep quiet; requests are recorded, not printed."""


class LoopbackServer(ThreadingHTTPServer):
    """Serves on a free port of 127.0.0.1 until stopped, each connection in its own thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handle: Handle) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.handle = handle
        self.stopping = threading.Event()
        self.connections: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop listening and end every open connection, so that nobody is served by a stand-in of the past."""
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        for connection in tuple(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # closed in the meantime
                continue
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over clients that hang up; show anything else, as the library does."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
