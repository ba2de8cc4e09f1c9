"""What others take for one bulk price list: gpuhunt, the csv module, DuckDB's and polars' readers, and the machine.

Each function returns a reading of a file, to be timed by bench/bulk_door.py. The readers of csv, DuckDB and polars
have to give the prices that ours does: Linux, shared tenancy, run instances, of types with a chip. gpuhunt's calls of
the EC2 API are left out, as they need credentials; it reads on-demand prices only, of all types. What no reader can
beat is the time to read the bytes at all, from the page cache and from the disk, and to look for one word in them.
"""

import csv
import hashlib
import json
import mmap
import os
from collections.abc import Callable, Iterable
from pathlib import Path

Reading = Callable[[], dict[str, object]]

FAMILIES = ("GPU instance", "Machine Learning ASIC Instances", "FPGA Instances", "Media Accelerator Instances")
WANTED = {
    "Operating System": "Linux", "Tenancy": "Shared", "CapacityStatus": "Used", "MarketOption": "OnDemand",
    "operation": "RunInstances",
}  # fmt: skip
NO_CHIP = ("", "NA", "0")
COLUMNS = ("SKU", "OfferTermCode", "RateCode", "Unit", "PricePerUnit")
LINES_BEFORE_HEADER = 5
ON_DEMAND = "JRTCKXETXF"
BLOCK_BYTES = 1 << 20
WORD = b"p5.48xlarge-no-such-type"
"""Not in the file, so that a search reads all of it."""


def gpuhunt(path: str) -> Reading:
    """Return gpuhunt's reading, without its calls of the EC2 API."""
    from gpuhunt.providers import aws

    aws._get_ec2_api_regions = lambda: set()
    aws.AWSProvider._fill_gpu_details = lambda self, offers: None
    aws.AWSProvider._with_spot_offers = lambda self, offers: offers
    return lambda: {"rows": len(aws.AWSProvider(cache_path=path).get())}


def csv_module(path: str) -> Reading:
    """Return a reading of every line by the csv module."""

    def wanted() -> Iterable[tuple[str, ...]]:
        with Path(path).open(newline="") as file:
            for _ in range(LINES_BEFORE_HEADER):
                file.readline()
            for row in csv.DictReader(file):
                chip = row["GPU"] not in NO_CHIP or row["Instance Family"] in FAMILIES
                if chip and all(row[name] == value for name, value in WANTED.items()):
                    yield tuple(row[name] for name in COLUMNS)

    return lambda: prices(wanted())


def duckdb(path: str) -> Reading:
    """Return a reading by DuckDB's reader of CSV."""
    import duckdb as library

    con = library.connect()
    filters = " and ".join(f"\"{name}\" = '{value}'" for name, value in WANTED.items())
    families = ", ".join(f"'{name}'" for name in FAMILIES)
    query = (
        f"select {', '.join(COLUMNS)} "
        f"from read_csv(?, skip = {LINES_BEFORE_HEADER}, header = true, all_varchar = true) "
        f"where {filters} and (coalesce(GPU, '') not in ('', 'NA', '0') or \"Instance Family\" in ({families}))"
    )
    return lambda: prices(con.execute(query, [path]).fetchall())


def polars(path: str) -> Reading:
    """Return a reading by polars' lazy reader of CSV."""
    import polars as pl

    def read() -> dict[str, object]:
        lines = pl.scan_csv(path, skip_rows=LINES_BEFORE_HEADER, infer_schema=False)
        has_chip = ~pl.col("GPU").fill_null("").is_in(NO_CHIP) | pl.col("Instance Family").is_in(FAMILIES)
        same = [pl.col(name) == value for name, value in WANTED.items()]
        return prices(lines.filter(has_chip, *same).select(COLUMNS).collect().rows())

    return read


def prices(rows: Iterable[tuple[str, ...]]) -> dict[str, object]:
    """Return how many prices rows of COLUMNS give, and their hash: an offer's hourly amount with its upfront fee."""
    terms: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for sku, code, rate, unit, amount in rows:
        terms.setdefault((sku, code), {})[unit] = (rate, amount)
    found = []
    for (sku, code), amounts in terms.items():
        rate, hourly = amounts["Hrs"]
        upfront = amounts.get("Quantity", ("", "0"))[1] if code != ON_DEMAND else None
        found.append((sku, rate, f"{float(hourly):.10f}".rstrip("0").rstrip(".") or "0", upfront))
    return {"rows": len(found), "prices": digest(found)}


def digest(found: Iterable[tuple[object, ...]]) -> str:
    """Return a short hash of all prices, whatever their order."""
    return hashlib.sha256(json.dumps(sorted(found, key=str)).encode()).hexdigest()[:16]


def raw_read(path: str) -> Reading:
    """Return a reading of all bytes into one block of memory after the other, from the page cache."""

    def read() -> dict[str, object]:
        block, size = bytearray(BLOCK_BYTES), 0
        with Path(path).open("rb", buffering=0) as file:
            while n_read := file.readinto(block):
                size += n_read
        return {"rows": 0, "bytes": size}

    return read


def disk_read(path: str) -> Reading:
    """Return a reading of all bytes from the disk: the file is dropped from the page cache before."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)
    return raw_read(path)


def byte_search(path: str) -> Reading:
    """Return a search for one word in all bytes, by the C library."""

    def read() -> dict[str, object]:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            return {"rows": 0, "bytes": len(whole), "found": whole.find(WORD)}

    return read
