"""A web site for tests, in this process: answers by path, as told, and remembers what was asked."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from extract.web.http import HttpWeb, Retries

Answer = Callable[[BaseHTTPRequestHandler], None]
QUICK = Retries(attempts=3, seconds=5, pause_s=0.001)
BODY = b"".join(b"%d,line\n" % number for number in range(300_000))


def web(**settings: int) -> HttpWeb:
    """Return a client that tries thrice with hardly a pause."""
    return HttpWeb(retries=QUICK, **settings)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came in."""

    command: str
    path: str
    headers: Message
    body: bytes


class Site:
    """A web site in this process: answers by path, in turn, the last one for ever; remembers what was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[Asked] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                site.asked.append(Asked(command=self.command, path=self.path, headers=self.headers, body=body))
                turns = site.answers[self.path]
                (turns.pop(0) if len(turns) > 1 else turns[0])(self)

            def do_POST(self) -> None:
                self.do_GET()

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@dataclass
class Clock:
    """A clock that stands still but for those who sleep."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@contextmanager
def open_site() -> Iterator[Site]:
    """Give a site that serves until the end of the block."""
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        thread.join()
        site.server.server_close()


def send(body: bytes = b"", *, status: int = 200, length: int | None = None, **headers: str) -> Answer:
    """Return an answer; `length` is the Content-Length announced, the true one by default."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)
        if length is not None and length != len(body):
            handler.close_connection = True

    return answer


def chunked(*chunks: bytes, end: bool = True) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for chunk in chunks:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if end:
            handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = not end

    return answer
