"""Packs of old documents, which earlier versions made: each document gets a file of its own again, once.

A pack is `landing/packs/2026-05/<source>.<number>.tar.zst`, with bodies under their SHA-256; the `.sha256` file next to
it lists them, and was written last: a pack without it was never finished, and its documents are all in files.
"""

import io
import os
import tarfile
from pathlib import Path

from warehouse.errors import ChipledgerError, count
from warehouse.landing.folder import Landing, is_named
from warehouse.landing.storage import is_bucket

PACK, LIST = ".tar.zst", ".sha256"
MAX_BYTES = 2 << 30
"""Unpacked: one body of the greatest size, and more."""


def unpack(landing: Landing) -> list[str]:
    """Store each packed document in a file of its own and remove the packs; return notes for the summary.

    The caller holds the writer's lock. A pack is removed only after all its documents were read back from their files
    and flushed to disk; a damaged one stays in place, and what it still holds is stored.
    """
    if is_bucket(landing.place) or not (folder := Path(landing.place) / "packs").exists():
        return []
    n_documents, done, notes = 0, [], []
    for place in sorted(folder.glob(f"*/*{PACK}")):
        names = place.with_name(place.name.removesuffix(PACK) + LIST)
        listed = [line.partition("  ")[0] for line in names.read_text("ascii").splitlines()] if names.exists() else []
        try:
            bodies = read(place)
        except ChipledgerError as error:
            if listed:
                notes.append(f"{error}")
                continue
            bodies = {}
        stored = {sha256 for sha256, body in bodies.items() if is_named(sha256, body)}
        for sha256 in sorted(stored):
            landing.store_body(sha256, bodies[sha256])
            landing.body(sha256)
        n_documents += len(stored)
        if missing := sorted({*listed, *bodies} - stored):
            notes.append(
                f"{place}: {count(len(missing), 'damaged document')}, such as {missing[0]}; the pack is not removed"
            )
            continue
        done += [names, place]
    os.sync()  # before anything is removed
    for file in done:
        file.unlink(missing_ok=True)
    _remove_empty(folder)
    return [f"{count(n_documents, 'document')} unpacked: each has a file of its own again"] * bool(n_documents) + notes


def read(place: Path) -> dict[str, bytes]:
    """Return the bodies of a pack by their names. Raises ChipledgerError where it cannot be read."""
    import pyarrow

    try:
        with pyarrow.CompressedInputStream(pyarrow.OSFile(str(place)), "zstd") as stream:
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise OSError(f"more than {MAX_BYTES} bytes")
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            files = {member.name: tar.extractfile(member) for member in tar if member.isfile()}
            return {name: file.read() for name, file in files.items() if file}
    except (OSError, tarfile.TarError) as error:
        message = "a pack of documents cannot be read"
        hint = "Restore it from a backup; the next run unpacks it"
        raise ChipledgerError(message, source=str(place), field="pack", value=place.name, hint=hint) from error


def _remove_empty(folder: Path) -> None:
    if any(path.is_file() and path.name != "until" for path in folder.rglob("*")):
        return
    (folder / "until").unlink(missing_ok=True)
    for path in [*folder.iterdir(), folder]:
        path.rmdir()
