"""A real SMTP server of a test's own: with TLS and password, without, or refusing an address."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword


@dataclass
class Server:
    """A running server: its port, what it took, its answers to those it refuses, its authority's certificate."""

    port: int
    taken: list[Envelope]
    refused: dict[str, str]
    context: ssl.SSLContext
    authority: bytes


class Handler:
    def __init__(self) -> None:
        self.taken: list[Envelope] = []
        self.refused: dict[str, str] = {}

    async def handle_RCPT(self, server: SMTP, session: Any, envelope: Envelope, address: str, options: Any) -> str:  # noqa: N802
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Envelope) -> str:  # noqa: N802
        self.taken.append(envelope)
        return "250 taken"


def authenticate(server: SMTP, session: Any, envelope: Envelope, mechanism: str, data: LoginPassword) -> AuthResult:
    return AuthResult(success=(data.login, data.password) == (b"me", b"secret"), handled=False)


@contextmanager
def serving(*, tls: str = "starttls") -> Iterator[Server]:
    ca = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ca.issue_cert("localhost").configure_cert(context)
    trusting = ssl.create_default_context()
    ca.configure_trust(trusting)
    handler = Handler()
    secured = {"starttls": {"tls_context": context}, "implicit": {"ssl_context": context}, "none": {}}[tls]
    controller = Controller(
        handler, hostname="127.0.0.1", port=0, authenticator=authenticate, auth_required=tls != "none",
        auth_require_tls=tls == "starttls", **secured,
    )  # fmt: skip
    # The port is chosen by the system; the controller's own check of its server does not know it.
    controller._trigger_server = lambda: socket.create_connection(controller.server.sockets[0].getsockname()).close()
    controller.start()
    try:
        port = controller.server.sockets[0].getsockname()[1]
        yield Server(
            port=port, taken=handler.taken, refused=handler.refused, context=trusting, authority=ca.cert_pem.bytes()
        )
    finally:
        controller.stop()
