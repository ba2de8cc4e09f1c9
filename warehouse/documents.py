"""The values that pass from a source to the warehouse: documents, and fetches made of them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

WHOLE_HASHES = ("sha256", "blake3")
"""The algorithms that a large file's hash may have; each has a column of core.document."""


@dataclass(frozen=True, kw_only=True)
class Whole:
    """The large file that a kept excerpt was cut from, after decompression: its size in bytes and its hash, in hex.

    `algorithm` is one of WHOLE_HASHES: BLAKE3 for what streams by, many times as fast on a processor without SHA
    instructions.
    """

    size: int
    digest: str
    algorithm: str

    @property
    def entry(self) -> list[int | str]:
        """Return it as the journal has it."""
        return [self.size, self.digest, self.algorithm]

    @classmethod
    def of(cls, entry: Sequence[Any] | None) -> "Whole | None":
        """Return it from the journal; an entry without an algorithm is of a version that knew SHA-256 only."""
        if not entry:
            return None
        size, digest, algorithm = (*entry, "sha256")[:3]
        return cls(size=size, digest=digest, algorithm=algorithm)


@dataclass(frozen=True, kw_only=True)
class Document:
    """Bytes as received from a source, with where and when they came from.

    `url` is the address, or the operation for an API call, whose `parameters` stand beside it.
    `version_key` names content that never changes once published (a versioned address); empty where there is none.
    `published_at` is the provider's own date of the content, if it states one. All times are aware UTC.
    """

    source: str
    scope: str
    url: str
    body: bytes = field(repr=False)
    fetched_at: datetime
    parameters: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    content_type: str = ""
    version_key: str = ""
    published_at: datetime | None = None
    whole: Whole | None = None

    @property
    def sha256(self) -> str:
        """Return the address of the document: the SHA-256 of its body, in hex."""
        return hashlib.sha256(self.body).hexdigest()

    def seen_again(self, at: datetime) -> "Document":
        """Return the same content as fetched at a later time."""
        return replace(self, fetched_at=at)


@dataclass(frozen=True, kw_only=True)
class RefusedRow:
    """A row of a document that could not be read, while the others could: why, in which field, and what stands there.

    `content` is the row as text, cut where it is long.
    """

    reason: str
    field: str
    value: str
    content: str


@dataclass(frozen=True, kw_only=True)
class ScopeFetch:
    """One fetch of one scope of a source: the documents it gave, and whether they are the whole answer.

    Only a complete fetch allows to say that an offer is gone; archives and imports are never complete.
    `observed_at` is the moment the prices were true of: the time of the fetch itself for a live one,
    the provider's date of publication for an archived one. `clock_ahead_s` says by how many seconds the clock of the
    machine that fetched was ahead of the median of the answers' Date headers; None where no answer had one.
    """

    source: str
    scope: str
    observed_at: datetime
    complete: bool
    documents: tuple[Document, ...]
    archived: bool = False
    notes: tuple[str, ...] = ()
    clock_ahead_s: float | None = None
