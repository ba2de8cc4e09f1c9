"""Packs of documents as the version before made them: documents of one source and month in one .tar.zst."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow

from warehouse.landing.folder import Landing


def packed(bodies: Mapping[str, bytes]) -> bytes:
    """Return a pack of bodies by their hashes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, body in bodies.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))
    return bytes(pyarrow.Codec("zstd", compression_level=19).compress(written.getvalue(), asbytes=True))


def pack(data_dir: Path, *, before: str = "9999") -> None:
    """Pack the documents of each month before another, and remove their own files."""
    landing = Landing(data_dir / "landing")
    by_month: dict[str, dict[str, bytes]] = {}
    for entry in landing.entries():
        for document in entry.content.get("documents", ()):
            if (month := document["fetched_at"][:7]) < before:
                by_month.setdefault(month, {})[document["sha256"]] = landing.body(document["sha256"])
    for month, bodies in by_month.items():
        folder = Path(landing.place) / "packs" / month
        folder.mkdir(parents=True)
        (folder / "toy.1.tar.zst").write_bytes(packed(bodies))
        (folder / "toy.1.sha256").write_text("".join(f"{sha256}  {sha256}\n" for sha256 in bodies))
        for sha256 in bodies:
            (Path(landing.place) / sha256[:2] / f"{sha256}.gz").unlink(missing_ok=True)
    (Path(landing.place) / "packs/until").write_text(f"{before}\n")
