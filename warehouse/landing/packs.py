"""Packs: documents of one source and month, compressed together, as what a source says differs little by the day.

`landing/packs/2026-05/<source>.<number>.tar.zst` holds bodies, each under its SHA-256; the text file of the same name
that ends in `.sha256` lists them as sha256sum does and is written last: a pack without it counts for nothing. Any tar
that knows Zstandard reads a pack, and a document costs the reading of one pack, which is 8 MB of bodies, not more.
"""

import hashlib
import io
import os
import re
import tarfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from warehouse.errors import ChipledgerError

BODIES_BYTES = 8_000_000
"""Bodies of one pack, unless the first alone is larger: as much as Zstandard looks back over at this level."""
LEVEL = 19
HELD_BYTES = 64_000_000
"""Bodies that a reader keeps in memory: a rebuild reads many documents of the same few packs."""
MOST_BYTES = 2 << 30
"""Unpacked: one body of the greatest size, and more."""
PACK, LIST = ".tar.zst", ".sha256"


class Packs:
    """The packs below a landing folder; they are listed when the first body is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, Path] | None = None
        self._held: OrderedDict[Path, Mapping[str, bytes]] = OrderedDict()

    @property
    def path(self) -> Path:
        """Return the folder of the packs, which need not exist."""
        return self._path

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._listed()

    def body(self, sha256: str) -> bytes | None:
        """Return a body as it lies in its pack; None where no pack holds it. Raises ChipledgerError for damage."""
        place = self._listed().get(sha256)
        return self._opened(place).get(sha256) if place else None

    def write(self, month: str, source: str, bodies: Iterable[tuple[str, bytes]]) -> Iterator[tuple[Path, list[str]]]:
        """Pack bodies in their order; yield path and hashes of each pack when it lies on disk and was read back."""
        batch: dict[str, bytes] = {}
        for sha256, body in bodies:
            if batch and sum(map(len, batch.values())) + len(body) > BODIES_BYTES:
                yield self._write_one(month, source, batch)
                batch = {}
            batch[sha256] = body
        if batch:
            yield self._write_one(month, source, batch)

    def _write_one(self, month: str, source: str, bodies: Mapping[str, bytes]) -> tuple[Path, list[str]]:
        folder = self.path / month
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w-]", "-", source, flags=re.ASCII)
        numbers = [int(file.name.removesuffix(LIST).rpartition(".")[2]) for file in folder.glob(f"{name}.*{LIST}")]
        stem = f"{name}.{max(numbers, default=0) + 1}"
        place, words = folder / (stem + PACK), folder / (stem + LIST)
        _put(place, packed(bodies))
        if unpacked(place) != dict(bodies):
            raise ChipledgerError("a pack does not give back what was put into it", source=str(place))
        _put(words, "".join(f"{sha256}  {sha256}\n" for sha256 in bodies).encode())
        if self._places is not None:
            self._places |= dict.fromkeys(bodies, place)
        return place, list(bodies)

    def _listed(self) -> Mapping[str, Path]:
        if self._places is None:
            self._places = {
                line.partition("  ")[0]: words.with_name(words.name.removesuffix(LIST) + PACK)
                for words in sorted(self.path.glob(f"*/*{LIST}"))
                for line in words.read_text(encoding="ascii").splitlines()
            }
        return self._places

    def _opened(self, place: Path) -> Mapping[str, bytes]:
        if place in self._held:
            self._held.move_to_end(place)
            return self._held[place]
        bodies = self._held[place] = unpacked(place)
        while len(self._held) > 1 and sum(sum(map(len, held.values())) for held in self._held.values()) > HELD_BYTES:
            self._held.popitem(last=False)
        return bodies


class NoPacks(Packs):
    """A bucket's packs: it has none, and says so to who would write one or asks for their folder."""

    def __init__(self, place: str) -> None:
        super().__init__(Path())
        self._place = place
        self._places = {}

    @property
    def path(self) -> Path:
        """Raise ChipledgerError: there is no folder."""
        raise self._refusal()

    def write(self, month: str, source: str, bodies: Iterable[tuple[str, bytes]]) -> Iterator[tuple[Path, list[str]]]:
        """Raise ChipledgerError: what lies in a bucket is not packed."""
        raise self._refusal()

    def _refusal(self) -> ChipledgerError:
        return ChipledgerError(
            "documents in a bucket are not packed",
            source=self._place,
            field="landing",
            value=self._place,
            hint="A lifecycle rule of the bucket moves old documents to a cheaper class",
        )


def packed(bodies: Mapping[str, bytes]) -> bytes:
    """Return a .tar.zst of bodies by name, with nothing in it of this machine or moment."""
    # Read and written rarely; it costs a command that does neither nothing.
    import pyarrow

    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, body in bodies.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))
    return bytes(pyarrow.Codec("zstd", compression_level=LEVEL).compress(written.getvalue(), asbytes=True))


def unpacked(place: Path) -> dict[str, bytes]:
    """Return the bodies of a pack by their names. Raises ChipledgerError where it cannot be read."""
    import pyarrow

    try:
        with pyarrow.CompressedInputStream(pyarrow.OSFile(str(place)), "zstd") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise OSError("it swells without end")
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            files = {member.name: tar.extractfile(member) for member in tar if member.isfile()}
            return {name: file.read() for name, file in files.items() if file}
    except (OSError, tarfile.TarError) as error:
        raise ChipledgerError(
            "a pack of documents is missing or damaged",
            source=str(place),
            field="pack",
            value=place.name,
            hint="Restore the landing folder from a backup",
        ) from error


def is_named(sha256: str, body: bytes) -> bool:
    """Return whether a body is the one of that hash."""
    return hashlib.sha256(body).hexdigest() == sha256


def _put(target: Path, content: bytes) -> None:
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
