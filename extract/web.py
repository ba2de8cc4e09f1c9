"""What a source needs of the web: small documents whole, large ones as a stream of decoded blocks."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Response:
    """A small answer, read whole: its bytes after decompression, HTTP status and content type."""

    url: str
    body: bytes
    status: int
    content_type: str


class Web(Protocol):
    """The web as sources see it; real over HTTP, or the offline archive in the package.

    Both methods raise Unavailable (refused, reset, cut short, timed out, 429, 5xx: after bounded retries) and
    SourceError (any other status, or an answer above its size limit); 404 gives a SourceError with field "status".
    """

    def get(self, url: str, *, accept: str = "application/json") -> Response: ...

    def stream(self, url: str) -> AbstractContextManager[Iterator[bytes]]: ...
