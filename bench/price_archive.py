"""An archive of a region's price list in any number of versions: files as AWS keeps them, served on loopback.

Each version is rendered from the world of tests/standin, whose lines of every kind have misled a reader, and copies of
its machines under other names. From one version to the next every so many machines move all their prices by some
percent, and halfway new machines come. Lines of machines without accelerators fill the files; they never change.
"""

import functools
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from standin import aws, faults, render, world  # noqa: E402
from standin.catalogue import Catalogue, Edition, Product, sku_of  # noqa: E402
from standin.exchange import Answer  # noqa: E402
from standin.facts import PRICES  # noqa: E402

REGION = "us-east-1"
FIRST, APART = datetime(2024, 10, 1, 20, tzinfo=UTC), timedelta(days=7)
WITHOUT_ACCELERATOR = "m5.xlarge"
MOVES_EVERY = 20
"""One machine in so many moves its prices from one version to the next."""
MOST_PERCENT = 2
"""Less than what waits where several prices move by one factor: all prices of a machine do here."""
SEED = 20261121


class _Unpacked(faults.Effect):
    """The body goes out as it is: packing it anew for each request would be time of the stand-in, not of its client."""

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, gzip="never")


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large an archive is: versions, copies of each machine with an accelerator, and of one without."""

    versions: int
    copies: int
    others: int


def names(versions: int) -> list[str]:
    """Return the names of so many versions, oldest first."""
    return [(FIRST + number * APART).strftime("%Y%m%d%H%M%S") for number in range(versions)]


def make(folder: Path, size: Size) -> list[Path]:
    """Write the indexes and files of an archive below a folder; return the files, oldest first."""
    editions = list(_editions(size))
    plain = [each for each in editions[0].products if each.attributes.get("instanceType") == WITHOUT_ACCELERATOR]
    filling = [_copy(each, number) for each in plain for number in range(size.others)]
    lines = render.bulk_csv(filling, editions[0]).split(b"\n", len(render.preamble(editions[0])) + 1)[-1]
    catalogue = Catalogue(partition="aws", currency="USD", editions=tuple(editions))
    base = folder / render.base_path(catalogue).lstrip("/")
    base.mkdir(parents=True)
    (base.parent / "index.json").write_bytes(render.offer_index(catalogue))
    (base / "index.json").write_bytes(render.version_index(catalogue))
    files = []
    for edition in editions:
        file = base / edition.version / REGION / "index.csv"
        file.parent.mkdir(parents=True)
        with file.open("wb") as written:
            written.write(render.bulk_csv(edition.products, edition))
            written.write(lines)
        files.append(file)
    return files


@contextmanager
def served(folder: Path) -> Iterator[aws.StandIn]:
    """Serve the archive of a folder; what is asked is counted as `bulk:prices`."""
    with aws.StandIn() as standin:
        standin.serve_tree(folder)
        standin.fault("bulk:prices", _Unpacked())
        yield standin


def _editions(size: Size) -> Iterator[Edition]:
    """Yield the editions, oldest first; the last copy of each machine comes halfway."""
    pick = random.Random(SEED)  # noqa: S311
    first, *later = names(size.versions)
    known = world.edition(first, {REGION: PRICES[REGION]}).products
    copied = [each for each in known if each.attributes.get("instanceType") not in (None, WITHOUT_ACCELERATOR)]
    of_first = [_copy(each, number) for number in range(1, size.copies) for each in copied]
    edition = Edition(version=first, products=(*known, *of_first))
    yield edition
    for number, version in enumerate(later, start=1):
        machines = sorted({each.attributes.get("instanceType", "") for each in edition.products})
        moving = {
            name: 1 + Decimal(pick.randint(1, MOST_PERCENT) * pick.choice((-1, 1))) / 100
            for name in machines
            if pick.randrange(MOVES_EVERY) == 0
        }
        edition = edition.changed(version, functools.partial(_scaled, moving=moving))
        if number == size.versions // 2:
            new = (_copy(each, size.copies) for each in copied)
            edition = replace(edition, products=(*edition.products, *new))
        yield edition


def _copy(product: Product, number: int) -> Product:
    """Return a product of the same prices under another SKU, of a type with another name."""
    family, _, size = product.attributes["instanceType"].partition(".")
    attributes = {**product.attributes, "instanceType": f"{family}-{number}.{size}"}
    return replace(product, sku=sku_of(product.sku, str(number)), attributes=attributes)


def _scaled(product: Product, moving: dict[str, Decimal]) -> Product:
    """Return a product with all its amounts moved, to as many places as they have."""
    factor = moving.get(product.attributes.get("instanceType", ""))
    if factor is None:
        return product

    def moved(amount: str) -> str:
        return f"{Decimal(amount) * factor:.{len(amount.partition('.')[2])}f}"

    terms = tuple(
        replace(term, rates=tuple(replace(rate, amount=moved(rate.amount)) for rate in term.rates))
        for term in product.terms
    )
    return replace(product, terms=terms)
