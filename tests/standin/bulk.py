"""The bulk files: which file a path names, from a catalogue or from a directory tree."""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from standin import render
from standin.api import Spoil
from standin.catalogue import OFFER, Catalogue
from standin.exchange import NOT_FOUND, Answer

CONTENT_TYPES = {".csv": "text/csv", ".json": "application/json"}
_PATH = re.compile(
    rf"/offers/v1\.0/(?P<partition>aws|cn)(/{OFFER}(/(?P<version>current|\d{{14}})(/(?P<region>[a-z0-9-]+))?)?)?"
    r"/(?P<file>index|region_index)(?P<suffix>\.csv|\.json)"
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """What a path names: `kind` is index, versions, regions or prices; empty for a path that is none of ours."""

    kind: str = ""
    partition: str = "aws"
    version: str = ""
    region: str = ""
    suffix: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names for faults and counts: of a region's file its region, of an index its kind."""
        if self.kind != "prices":
            return ("bulk", f"bulk:{self.kind}")
        return ("bulk", "bulk:prices", f"bulk:{self.region}", f"bulk:{self.region}:{self.version}")


def place(path: str) -> Place:
    """Return what a path names."""
    match = _PATH.fullmatch(path)
    if match is None:
        return Place()
    partition, version, region, file, suffix = match.group("partition", "version", "region", "file", "suffix")
    if file == "region_index":
        kind = "regions" if version and not region else ""
    elif OFFER not in path:
        kind = "index"
    else:
        kind = "prices" if version else "versions"
    return Place(kind=kind, partition=partition, version=version or "", region=region or "", suffix=suffix)


def answer(where: Place, catalogues: Mapping[str, Catalogue], spoil: Spoil) -> Answer:
    """Return the file at a place, rendered from the catalogue of its partition."""
    catalogue = catalogues.get(where.partition)
    if catalogue is None or not where.kind:
        return NOT_FOUND
    if where.kind == "index":
        return Answer(body=render.offer_index(catalogue))
    if where.kind == "versions":
        return Answer(body=render.version_index(catalogue))
    edition = catalogue.edition(where.version)
    if edition is None:
        return NOT_FOUND
    if where.kind == "regions":
        return Answer(body=render.region_index(catalogue, edition))
    products = edition.of_region(where.region) if where.region else edition.products
    if not products:
        return NOT_FOUND
    form = render.bulk_csv if where.suffix == ".csv" else render.bulk_json
    return Answer(body=form(spoil(products), edition), content_type=CONTENT_TYPES[where.suffix])


def from_tree(root: Path, path: str) -> Answer:
    """Return a file below a folder; a file kept as .gz goes out under its own name, gzip-encoded."""
    file = (root / path.lstrip("/")).resolve()
    if not file.is_relative_to(root.resolve()):
        return NOT_FOUND
    content_type = CONTENT_TYPES.get(file.suffix, "application/octet-stream")
    if file.is_file():
        return Answer(body=file.read_bytes(), content_type=content_type)
    packed = file.with_name(file.name + ".gz")
    if packed.is_file():
        return Answer(body=gzip.decompress(packed.read_bytes()), content_type=content_type, gzip="always")
    return NOT_FOUND
