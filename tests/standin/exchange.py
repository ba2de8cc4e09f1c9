"""One exchange over HTTP: the request as recorded, and the answer as it will be sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Request:
    """One request as it came, recorded before it is answered.

    `labels` are the names by which faults and counts find it; `region` is that of the regionCode filter or of the bulk
    file, empty where there is none. `at` and `until` are readings of time.monotonic; `until` is None while under way.
    """

    method: str
    path: str
    labels: tuple[str, ...]
    at: float
    operation: str = ""
    region: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    status: int = 0
    until: float | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What goes back: a body before compression, and how the sending goes wrong.

    `gzip` is asked (where the client accepts it), always or never. `delay` is slept before the first byte, `drip`
    spread over the body, both in seconds. `stop_at` is the share of the announced body after which the connection
    ends, with a reset where `reset` says so; a reset at 0 comes before the status line. `keep_of_gzip` is the share
    of the compressed bytes that is sent, announced by a Content-Length that fits.
    """

    status: int = 200
    body: bytes = field(default=b"", repr=False)
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    gzip: str = "asked"
    delay: float = 0.0
    drip: float = 0.0
    stop_at: float | None = None
    reset: bool = False
    keep_of_gzip: float | None = None


NOT_FOUND = Answer(
    status=404,
    content_type="application/xml",
    body=b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code></Error>',
)
