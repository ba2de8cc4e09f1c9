"""A bucket as a place: which addresses are one, what its failures say, and that none of it tells a secret."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3.session
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber
from landing_places import BODY, Place, document, name_of

from warehouse.disk import DiskFault
from warehouse.errors import SettingsError
from warehouse.landing import storage
from warehouse.landing.folder import Landing
from warehouse.landing.storage import Bucket

SECRET = "AKIAEXAMPLE"


@pytest.fixture(autouse=True)
def fresh_clients() -> Iterator[None]:
    """Let no client of one test, or its credentials, serve another."""
    storage._client.cache_clear()
    yield
    storage._client.cache_clear()


def asked(bucket: Bucket) -> list[str]:
    """Return the list that the names of S3's operations are written to as they are asked for."""
    told: list[str] = []
    bucket.client.meta.events.register("before-call.s3", lambda model, **rest: told.append(model.name))
    return told


@pytest.mark.parametrize(
    ("place", "bucket", "key"),
    [
        ("s3://prices", "prices", "a"),
        ("s3://prices/", "prices", "a"),
        ("s3://prices.of.ours/landing", "prices.of.ours", "landing/a"),
        ("s3://prices/team=a/landing/", "prices", "team=a/landing/a"),
    ],
)
def test_an_address_is_a_bucket_and_a_prefix(place: str, bucket: str, key: str) -> None:
    """With or without a slash at its end, it is the same place."""
    found = Bucket(place)

    assert (found.bucket, found.key("a"), found.place + "a") == (bucket, key, f"s3://{bucket}/{key}")


@pytest.mark.parametrize(
    "place",
    [
        "s3://", "s3:///landing", "s3://ab", "s3://Prices/x", "s3://prices/../other", "s3://prices//x",
        "s3://prices/a b", "s3://prices/x\n", f"s3://{SECRET}:secret@prices/x", f"s3://prices/x?key={SECRET}",
        "s3://prices/%2e%2e/x",
    ],
)  # fmt: skip
def test_another_address_is_refused_and_not_shown_where_it_may_hold_a_key(place: str) -> None:
    """Nothing is guessed from a wrong address, and what stands in it for a key is in no message."""
    with pytest.raises(SettingsError, match="not a place in S3") as caught:
        Bucket(place)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("scheme", ["https://", "http://", ""])
def test_an_endpoint_with_credentials_is_refused_and_not_shown(scheme: str) -> None:
    """They belong to AWS's own settings, where no message of ours shows them."""
    with pytest.raises(SettingsError, match="credentials in it") as caught:
        Bucket("s3://prices/x", endpoint=f"{scheme}{SECRET}:secret@s3.test")
    assert SECRET not in str(caught.value)


def test_a_known_body_is_not_moved_again(bucket: Place) -> None:
    """Its name and the server's own checksum say that it is there: one question, and nothing up or down."""
    landing = bucket.landing()
    told = asked(bucket.bucket)
    landing.store(document())
    landing.store(document())

    assert told == ["HeadObject", "PutObject", "HeadObject"]


def test_a_server_without_checksums_is_read_instead(bucket: Place) -> None:
    """What the server does not vouch for is read, and written again only where it is damaged."""
    bucket.landing().store(document())
    bucket.write(name_of(), bucket.read(name_of()))
    told = asked(bucket.bucket)
    bucket.landing().store(document())

    assert told == ["HeadObject", "GetObject"]
    assert bucket.landing().body(document().sha256) == BODY


def failing(monkeypatch: pytest.MonkeyPatch, code: str, status: int, *, times: int = 1) -> Bucket:
    """Return a bucket whose server refuses so many writings with a code, and takes the next."""
    client = boto3.session.Session().client(
        "s3", region_name="us-east-1", aws_access_key_id=SECRET, aws_secret_access_key="secret"
    )
    stub = Stubber(client)
    for _ in range(times):
        stub.add_client_error("put_object", code, f"refused: {SECRET}", status)
    stub.add_response("put_object", {})
    stub.activate()
    monkeypatch.setattr(storage, "_client", lambda endpoint, process: client)
    return Bucket("s3://prices/landing")


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("AccessDenied", 403, "s3:PutObject"),
        ("InvalidAccessKeyId", 403, "give the process new ones"),
        ("ExpiredToken", 400, "give the process new ones"),
        ("RequestTimeTooSkewed", 403, "clock"),
        ("NoSuchBucket", 404, "Make the bucket first"),
        ("SlowDown", 503, "Try again later"),
    ],
)
def test_a_refusal_names_object_and_code(monkeypatch: pytest.MonkeyPatch, code: str, status: int, words: str) -> None:
    """And what to do about it, but no word of the server, which may repeat a key."""
    bucket = failing(monkeypatch, code, status)
    with pytest.raises(DiskFault, match="the bucket refuses it") as caught:
        bucket.put("a.gz", b"")

    assert (caught.value.source, caught.value.field, caught.value.value) == ("s3://prices/landing/a.gz", "S3", code)
    assert words in caught.value.hint
    assert SECRET not in str(caught.value)


def test_a_name_that_another_is_writing_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 refuses the one of two at once and asks him to come again; a name that is taken for good is told at once."""
    conflict, taken = ("ConditionalRequestConflict", 409), ("PreconditionFailed", 412)

    assert failing(monkeypatch, *conflict, times=2).put("a", b"", only_new=True)
    assert not failing(monkeypatch, *taken).put("a", b"", only_new=True)
    with pytest.raises(DiskFault, match="the bucket refuses it"):
        failing(monkeypatch, *conflict, times=storage.ATTEMPTS).put("a", b"", only_new=True)


def test_a_bucket_that_is_not_there_is_not_made(bucket: Place, s3_server: str) -> None:
    """Reading and writing say that it is missing; an absent document is another matter."""
    landing = Landing("s3://chipledger-absent/landing", endpoint=s3_server)
    for ask in (lambda: landing.store(document()), landing.journal.parts, lambda: landing.body("0" * 64)):
        with pytest.raises(DiskFault, match="the bucket") as caught:
            ask()
        assert caught.value.value == "NoSuchBucket"
    with pytest.raises(ClientError):
        bucket.bucket.client.head_bucket(Bucket="chipledger-absent")


def test_without_credentials_it_is_said(monkeypatch: pytest.MonkeyPatch, bucket: Place) -> None:
    """Nobody is asked for anything; the error says where credentials belong."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    storage._client.cache_clear()
    with pytest.raises(DiskFault, match="no credentials") as caught:
        bucket.landing().store(document())

    assert caught.value.value == "NoCredentialsError"


def test_a_server_that_is_gone_is_said(monkeypatch: pytest.MonkeyPatch, bucket: Place) -> None:
    """After the attempts that boto3 makes: what could not be reached, by its place."""
    monkeypatch.setattr(storage, "ATTEMPTS", 1)
    landing = Landing(bucket.place, endpoint="http://127.0.0.1:9")
    with pytest.raises(DiskFault, match="cannot be reached") as caught:
        landing.store(document())

    assert caught.value.source == f"{bucket.place}{name_of()}"


def test_a_body_that_is_cut_on_its_way_is_an_error(bucket: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of an answer is none: the read fails, and no half is taken for the body."""
    landing = bucket.landing()
    landing.store(document())
    client: Any = bucket.bucket.client
    real = client.get_object

    def cut(**given: Any) -> Any:
        answer = real(**given)
        answer["Body"]._content_length = str(int(answer["Body"]._content_length) + 9)
        return answer

    monkeypatch.setattr(client, "get_object", cut)
    with pytest.raises(DiskFault, match="cannot be reached"):
        landing.body(document().sha256)


def test_a_folder_needs_no_boto3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has a folder asks for no client."""
    monkeypatch.setattr(storage, "_client", None)
    landing = Landing(tmp_path)
    landing.store(document())

    assert landing.body(document().sha256) == BODY
