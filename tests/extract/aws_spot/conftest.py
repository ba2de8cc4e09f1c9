"""What the tests of spot prices share: contexts for the stand-in, saved answers, and records made up for edge cases."""

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standin import aws
from standin.ec2_cloud import NOW

from extract.base import Context
from extract.web.http import HttpWeb, Retries
from warehouse.documents import Document

Ask = Callable[..., Context]
Saved = Callable[[str], Document]
Record = Mapping[str, str]


@pytest.fixture
def ask(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a maker of contexts, whose clock stands where the stand-in's does."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    def context(now: datetime = NOW, **settings: object) -> Context:
        return Context(web=HttpWeb(retries=Retries(attempts=1)), settings=settings, now=lambda: now)

    return context


@pytest.fixture
def saved(shared: Path) -> Saved:
    """Return a reader of answers of 2021-05-30 that the AWS CLI saved: 90 days of one type in us-east-1."""

    def read(name: str) -> Document:
        path = shared / "data" / "aws_samples" / name
        body = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
        return document(body, fetched_at=datetime(2021, 5, 30, 22, tzinfo=UTC))

    return read


@pytest.fixture
def answer() -> Callable[[Iterable[Record]], Document]:
    """Return a maker of saved answers from records."""
    return lambda records: document(json.dumps({"SpotPriceHistory": list(records)}).encode())


def document(body: bytes, fetched_at: datetime = NOW, scope: str = "us-east-1", **parameters: str) -> Document:
    """Return bytes as a document of the source."""
    return Document(
        source="aws_spot", scope=scope, url="saved", body=body, fetched_at=fetched_at, parameters=parameters
    )
