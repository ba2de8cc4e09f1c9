"""The places a landing may lie at: a folder, and a bucket of moto's S3 server on loopback; and what lies there."""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from looks import day

from warehouse.documents import Document, ScopeFetch
from warehouse.landing.folder import Landing
from warehouse.landing.storage import Bucket

BODY = b"instance_type,price\n" + b"p5.48xlarge,55.04\n" * 200
BUCKET = "chipledger-landing"
NUMBERS = count(1)


@contextmanager
def s3_server() -> Iterator[str]:
    """Run moto's S3 server with one empty bucket; give its address. It takes a second to start."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def s3_environment(folder: Path) -> dict[str, str]:
    """Return the variables that let boto3 find credentials for the server, and nothing of this machine's own."""
    return {
        "AWS_ACCESS_KEY_ID": "tested", "AWS_SECRET_ACCESS_KEY": "tested", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(folder / "no-config"), "AWS_SHARED_CREDENTIALS_FILE": str(folder / "no-credentials"),
    }  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A place of a landing, and what lies at it by name; the endpoint is '' for a folder."""

    place: Path | str
    endpoint: str = ""

    def landing(self, part: str = "") -> Landing:
        return Landing(self.place, part=part, endpoint=self.endpoint)

    @property
    def bucket(self) -> Bucket:
        return Bucket(str(self.place), endpoint=self.endpoint)

    @property
    def is_bucket(self) -> bool:
        return isinstance(self.place, str)

    def names(self, below: str = "") -> list[str]:
        if isinstance(self.place, str):
            return list(self.bucket.names(below))
        found = sorted(file.relative_to(self.place).as_posix() for file in self.place.rglob("*") if file.is_file())
        return [name for name in found if name.startswith(below)]

    def read(self, name: str) -> bytes:
        return self.bucket.read(name) if isinstance(self.place, str) else (self.place / name).read_bytes()

    def write(self, name: str, content: bytes | None) -> None:
        """Put bytes there as another program would; None removes what is there."""
        if isinstance(self.place, Path):
            file = self.place / name
            file.unlink() if content is None else file.write_bytes(content)
            return
        given: dict[str, Any] = {"Bucket": self.bucket.bucket, "Key": self.bucket.key(name)}
        client = self.bucket.client
        client.delete_object(**given) if content is None else client.put_object(Body=content, **given)

    def add_line(self, line: bytes) -> None:
        """Put a line behind the last one of the part without a name, as another program would."""
        if isinstance(self.place, Path):
            with (self.place / "journal.jsonl").open("ab") as file:
                file.write(line)
        else:
            self.write(f"journal/-/{len(self.names('journal/-/')) + 1:012}.jsonl", line)


def new_place(endpoint: str) -> Place:
    """Return a place in the bucket of the server that nothing lies at; the bucket is made where it is not there."""
    place = Place(f"s3://{BUCKET}/of-{next(NUMBERS)}/", endpoint)
    place.bucket.client.create_bucket(Bucket=BUCKET)
    return place


def document(body: bytes = BODY) -> Document:
    return Document(source="s", scope="a", url="https://x.test/a", body=body, fetched_at=day(0))


def name_of(body: bytes = BODY) -> str:
    sha256 = document(body).sha256
    return f"{sha256[:2]}/{sha256}.gz"


def record(landing: Landing, at: float, body: bytes = BODY) -> None:
    one = ScopeFetch(source="s", scope="a", observed_at=day(at), complete=True, documents=(document(body),))
    landing.record_fetch(one, run_id=f"run {at}", recorded_at=day(at))


def land_many(place: Place, part: str, *, n_looks: int) -> None:
    """Land looks under a part's name, as a process of its own does: each body is landed by every part at once."""
    landing = place.landing(part)
    for number in range(n_looks):
        record(landing, number, BODY * (number + 1))


def side_by_side(place: Place, parts: list[str], *, n_looks: int) -> None:
    """Run `land_many` in a process for each part, all at once; raise where one of them failed."""
    # New processes: a fork of one that has run other tests inherits their state, and then failed at times.
    workers = [
        multiprocessing.get_context("spawn").Process(target=land_many, args=(place, part), kwargs={"n_looks": n_looks})
        for part in parts
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    failed = [worker.exitcode for worker in workers if worker.exitcode != 0]
    if failed:
        raise AssertionError(f"writers ended with {failed}")
