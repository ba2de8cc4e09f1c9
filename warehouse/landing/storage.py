"""Where landed bytes lie: a folder, or objects below `s3://bucket/prefix/`.

Names are relative, with slashes: `ab/ab12....gz`. Credentials come from boto3's own chain and are never read, kept or
told here; an error names the place, the object and the server's code, and no text of the server.
"""

import base64
import functools
import gzip
import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warehouse import disk
from warehouse.disk import DiskFault
from warehouse.errors import ChipledgerError, SettingsError

SCHEME = "s3://"
PLACE = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/((?:[\w.=-]+/)*[\w.=-]*))?", re.ASCII)
ATTEMPTS = 5
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 10, 60
CONNECTIONS = 16
"""At once to one bucket: the journal is read this many objects ahead."""
LEFT_S = 86_400
"""A part file of another writer that is older was left by a killed one: no document takes a day to write."""
ABSENT = {"404", "NoSuchKey", "NotFound"}
EXISTS = {"412", "PreconditionFailed", "409", "ConditionalRequestConflict"}
PERMISSIONS = "It needs s3:GetObject, s3:PutObject and s3:ListBucket on the bucket and what lies in it"
NOT_VALID = ("ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch")
HINTS = {
    **dict.fromkeys(("403", "AccessDenied"), PERMISSIONS),
    **dict.fromkeys(NOT_VALID, "The credentials found are wrong, or valid no more: give the process new ones"),
    "RequestTimeTooSkewed": "Set this machine's clock (`timedatectl set-ntp true`)",
    "NoSuchBucket": "Make the bucket first, or correct its name: nothing is made in your account",
}


def is_bucket(place: Path | str) -> bool:
    """Return whether a place is one of S3."""
    return isinstance(place, str) and place.startswith(SCHEME)


class Folder:
    """Files below a folder; `part` names the writer, '' the only one."""

    def __init__(self, path: Path, *, part: str = "") -> None:
        self.path = path
        self._part = part

    def where(self, name: str) -> str:
        """Return the path of a name, for people."""
        return str(self.path / name)

    def read(self, name: str) -> bytes:
        """Return a file's bytes. Raises FileNotFoundError."""
        return (self.path / name).read_bytes()

    def put(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        with disk.replacing(self.path / name) as part:
            part.write_bytes(content)

    def is_whole(self, name: str) -> bool | None:
        """Return None: of a file only reading it tells whether it is there, undamaged."""
        return None

    def write_packed(self, name: str, body: bytes, *, mode: int | None = None) -> None:
        """Compress a body into a file of its own, flushed to disk and then renamed into place."""
        target = self.path / name
        target.parent.mkdir(exist_ok=True)
        # On a shared disk two machines may count the same process: the writer's name tells them apart.
        writer = f"{self._part}.{os.getpid()}" if self._part else f"{os.getpid()}"
        part = self.path / f"{target.name.removesuffix('.gz')}.{writer}.part"
        try:
            with part.open("wb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                # mtime 0: the same body gives the same file
                with gzip.GzipFile(fileobj=file, mode="wb", mtime=0, compresslevel=6) as packed:
                    packed.write(body)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def remove_parts(self) -> None:
        """Remove what killed writers left.

        The only writer holds the lock, so nobody is writing these; one of several leaves those of the others for a day.
        """
        for left in (*self.path.glob("*.part"), *self.path.glob("packs/*/*.part")):
            if not self._part or f".{self._part}." in left.name or _age_s(left) > LEFT_S:
                left.unlink(missing_ok=True)


class Bucket:
    """Objects below a prefix of an S3 bucket; safe to use from several threads, and after a fork.

    Raises SettingsError for a place that is none, and DiskFault where the bucket cannot be read or written.
    """

    def __init__(self, place: str, *, endpoint: str = "") -> None:
        found = PLACE.fullmatch(place)
        if not found or ".." in place or "//" in place.removeprefix(SCHEME):
            raise SettingsError(
                "not a place in S3",
                source="warehouse",
                field="place",
                # What stands before an @ or after a ? may be a key.
                value="not shown" if set("@?:") & set(place.removeprefix(SCHEME)) else place,
                hint="Write s3://bucket/prefix/; credentials come from AWS's own settings, never from the address",
            )
        if endpoint and "://" not in endpoint:
            endpoint = f"https://{endpoint}"
        if "@" in urlsplit(endpoint).netloc:
            message = "an S3 server's address with credentials in it"
            hint = "Write https://host:port; credentials come from AWS's own settings"
            raise SettingsError(message, source="warehouse", field="s3_endpoint", value="not shown", hint=hint)
        self.bucket, prefix = found[1], (found[2] or "").strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self.place = f"{SCHEME}{self.bucket}/{self._prefix}"
        self._endpoint = endpoint

    @property
    def client(self) -> Any:
        """Return boto3's client, made when this process first asks for one of this endpoint."""
        return _client(self._endpoint, os.getpid())

    def key(self, name: str) -> str:
        """Return the key of a name."""
        return self._prefix + name

    def where(self, name: str) -> str:
        """Return the address of a name, for people."""
        return self.place + name

    def read(self, name: str) -> bytes:
        """Return an object's bytes. Raises FileNotFoundError."""
        return self.read_tagged(name)[0]

    def read_tagged(self, name: str) -> tuple[bytes, str]:
        """Return an object's bytes, and the server's tag of them. Raises FileNotFoundError."""
        with self._faults(name):
            answer = self.client.get_object(Bucket=self.bucket, Key=self.key(name))
            return bytes(answer["Body"].read()), answer["ETag"]

    def put(self, name: str, content: bytes, *, only_new: bool = False, only_over: str = "") -> bool:
        """Write an object, whole or not at all.

        Return False, with `only_new` where one is there, and with `only_over` where not that with this tag is.
        """
        checksum = hashlib.sha256(content)
        supplied = {"IfNoneMatch": "*"} if only_new else {"IfMatch": only_over} if only_over else {}
        for left in reversed(range(ATTEMPTS)):
            try:
                with self._faults(name):
                    self.client.put_object(
                        Bucket=self.bucket,
                        Key=self.key(name),
                        Body=content,
                        # The server refuses other bytes than these, and says later whether it still has them.
                        ChecksumAlgorithm="SHA256",
                        ChecksumSHA256=base64.b64encode(checksum.digest()).decode(),
                        Metadata={"sha256": checksum.hexdigest()},
                        **supplied,
                    )
            except _Refused as taken:
                if taken.is_resolved:
                    return False
                if not left:  # others try for the same name at this moment, again and again
                    raise taken.fault from taken
            else:
                break
        return True

    def is_whole(self, name: str) -> bool | None:
        """Return whether an object is there as `put` wrote it, by the server's own checksum, without moving its bytes.

        None where the server has no checksum of it, or another: only reading it tells.
        """
        try:
            with self._faults(name):
                text = self.client.head_object(Bucket=self.bucket, Key=self.key(name), ChecksumMode="ENABLED")
        except FileNotFoundError:
            return False
        written, has = text["Metadata"].get("sha256"), text.get("ChecksumSHA256")
        return True if written and has and base64.b64decode(has).hex() == written else None

    def write_packed(self, name: str, body: bytes, *, mode: int | None = None) -> None:
        """Compress a body into an object of its own."""
        if mode is not None:
            message = "an object of a bucket has no rights of its own"
            hint = "What others may not read stays in a folder; a bucket has its policy"
            raise ChipledgerError(message, source=self.where(name), field="mode", value=oct(mode), hint=hint)
        self.put(name, gzip.compress(body, 6, mtime=0))

    def names(self, below: str, *, after: str = "", most: int | None = None) -> Iterator[str]:
        """Yield the names that begin with `below` in their order, from behind `after` on, `most` of them at most."""
        supplied: dict[str, Any] = {"StartAfter": self.key(after)} if after else {}
        if most is not None:
            supplied["MaxKeys"] = most
        for page in self._pages(below, **supplied):
            for each in page.get("Contents", ()):
                yield each["Key"].removeprefix(self._prefix)
            if most is not None:
                return

    def folders(self, below: str) -> Iterator[str]:
        """Yield what follows `below` up to the next slash, each once, in order."""
        for page in self._pages(below, Delimiter="/"):
            for each in page.get("CommonPrefixes", ()):
                yield each["Prefix"].removeprefix(self.key(below)).rstrip("/")

    def refuse_unreadable(self) -> None:
        """Raise DiskFault where what lies here cannot be listed."""
        next(self.names("", most=1), None)

    def refuse_unwritable(self) -> None:
        """Raise DiskFault where nothing can be written here; no object is made, as an upload is begun and given up."""
        name = "doctor"
        with self._faults(name):
            what = {"Bucket": self.bucket, "Key": self.key(name)}
            begun = self.client.create_multipart_upload(**what)
            self.client.abort_multipart_upload(**what, UploadId=begun["UploadId"])

    def remove_parts(self) -> None:
        """Do nothing: an object is there whole or not at all, so that a killed writer leaves none to remove."""

    def _pages(self, below: str, **supplied: Any) -> Iterator[dict[str, Any]]:
        pages = self.client.get_paginator("list_objects_v2")
        with self._faults(below):
            yield from pages.paginate(Bucket=self.bucket, Prefix=self.key(below), **supplied)

    @contextmanager
    def _faults(self, name: str) -> Iterator[None]:
        """Turn botocore's errors into ours; FileNotFoundError and _Refused are for the callers."""
        from botocore import exceptions

        try:
            yield
        except exceptions.ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in ABSENT:
                raise FileNotFoundError(self.where(name)) from error
            hint = HINTS.get(code, "Try again later; if it persists, read the server's documentation of this code")
            fault = self._fault("the bucket refuses it", name, code, hint)
            if code in EXISTS:
                raise _Refused(fault, is_resolved=code in ("412", "PreconditionFailed")) from error
            raise fault from error
        except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError) as error:
            hint = f"Give the process a role, or AWS's own settings. {PERMISSIONS}"
            raise self._fault("no credentials for the bucket", name, type(error).__name__, hint) from error
        except (exceptions.BotoCoreError, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            hint = "See that the network and the S3 server are there, and AWS's settings whole"
            raise self._fault("the bucket cannot be reached", name, type(error).__name__, hint) from error

    def _fault(self, message: str, name: str, code: str, hint: str) -> DiskFault:
        return DiskFault(message, source=self.where(name), field="S3", value=code, hint=hint)


class _Refused(Exception):
    """An object of that name is there (`is_resolved`), or is being written by another at this moment."""

    def __init__(self, fault: DiskFault, *, is_resolved: bool) -> None:
        super().__init__(fault.message)
        self.fault, self.is_resolved = fault, is_resolved


@functools.lru_cache(maxsize=8)
def _client(endpoint: str, process: int) -> Any:
    # Imported here: who has a folder must not wait for boto3.
    import boto3.session
    from botocore.config import Config

    elsewhere = endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return boto3.session.Session().client(
        "s3",
        endpoint_url=endpoint or None,
        config=Config(
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            max_pool_connections=CONNECTIONS,
            # Other servers have the bucket in the path, not in the host's name.
            s3={"addressing_style": "path" if elsewhere else "auto"},
        ),
    )


def _age_s(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0
