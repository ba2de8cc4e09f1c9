"""Certificates of servers: a good one, and those that nobody should trust."""

import ssl
from datetime import UTC, datetime, timedelta
from functools import cache

import trustme

from faults.table import Way


@cache
def authority() -> trustme.CA:
    return trustme.CA()


@cache
def certified(way: Way) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if way == "tls wrong name":
        made = authority().issue_cert("elsewhere.example")
    elif way == "tls expired":
        made = authority().issue_cert(
            "127.0.0.1",
            not_after=datetime.now(UTC) - timedelta(days=1),
            not_before=datetime.now(UTC) - timedelta(days=9),
        )
    elif way == "tls self-signed":
        made = trustme.CA().issue_cert("127.0.0.1")
    else:
        made = authority().issue_cert("127.0.0.1")
    made.configure_cert(context)
    return context
