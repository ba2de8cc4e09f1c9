"""What a source needs of the web: small documents whole, large ones as a stream of decoded blocks."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from warehouse.documents import Document
from warehouse.errors import Unavailable


class BrokenOff(Unavailable):
    """A body broke off after it had begun; only the whole of it can be fetched again."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """A small answer, read whole: bytes after decompression, HTTP status, content type, Location and Date if any.

    `headers` are all of them but cookies.
    """

    url: str
    body: bytes
    status: int
    content_type: str
    location: str = ""
    date: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self, source: str, scope: str, fetched_at: datetime, **others: Any) -> Document:
        """Return the answer as a document of a source."""
        others = {"url": self.url, "body": self.body, "content_type": self.content_type} | others
        return Document(source=source, scope=scope, fetched_at=fetched_at, status=self.status, **others)


class Web(Protocol):
    """The web as sources see it; real over HTTP, politely so (extract.web.polite), or the offline archive in the
    package.

    All methods raise Unavailable (refused, reset, cut short, timed out, 429, 5xx: after bounded retries) and
    SourceError (any other status, or an answer above its size limit); 404 gives a SourceError with field "status".
    A `post` carries a JSON body and asks for prices, so it is retried like a `get`; its redirects are not followed.
    The values of `headers` are secrets, such as a key: they stand in no error, log or repr, and go to one host only.
    """

    def get(self, url: str, *, accept: str = "application/json", headers: Mapping[str, str] = {}) -> Response: ...

    def post(
        self, url: str, *, json: object, accept: str = "application/json", headers: Mapping[str, str] = {}
    ) -> Response: ...

    def stream(self, url: str) -> AbstractContextManager[Iterator[bytes]]: ...
