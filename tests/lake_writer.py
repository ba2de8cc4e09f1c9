"""One of several processes that write a lake at once, for tests: it loads some rounds of looks at scopes of its own."""

import sys
import time
from datetime import timedelta
from pathlib import Path

import duckdb
from looks import ParsedFetch, day, look, row

from warehouse.lake.place import place
from warehouse.log import db
from warehouse.log.load import load
from warehouse.log.shared_rows import append_documents

N_OFFERS = 12
OF_ALL = "document of all"
SHARED = ("h100", "h200")
"""Offers that every writer's scopes show under sources of their own."""


def looks(writer: int, number: int) -> list[ParsedFetch]:
    """Return a round's looks of one writer: prices that move, one offer that goes, and two that all writers show."""
    rows = [
        row(f"type-{writer}-{each}", str(1 + each + number % 3), region_id=f"region-{writer}")
        for each in range(N_OFFERS - number % 2)
    ]
    shared = [row(name, str(2 + writer)) for name in SHARED]
    return [
        look(number, *rows, scope=f"scope-{writer}", document=f"document {writer} {number}", trusted=True),
        look(number, *shared, source=f"source-{writer}", scope="all", document=OF_ALL, trusted=True),
    ]


def documents(one: ParsedFetch) -> dict[str, object]:
    """Return a look as the journal has it: with its document."""
    document = {
        "sha256": one.document_sha256, "url": "https://prices.test/", "parameters": {}, "version_key": "",
        "fetched_at": "2026-01-01T00:00:00.000000Z", "published_at": None, "size": 1, "whole": None,
    }  # fmt: skip
    # Whoever is first says where a document of several looks is from: here all say the same.
    place = ("several", "all") if one.document_sha256 == OF_ALL else (one.source, one.scope)
    return {"source": place[0], "scope": place[1], "documents": [document]}


def one_round(con: duckdb.DuckDBPyConnection, writer: int, number: int) -> None:
    """Load one round of one writer with its documents, as a run does."""
    at = day(number) + timedelta(hours=1)
    for one in looks(writer, number):
        append_documents(con, [documents(one)], recorded_at=at.replace(tzinfo=None))
        load(con, [one], recorded_at=at)


def main(url: str, schema: str, data_path: str, data_dir: str, writer: int, n_rounds: int) -> None:
    """Load the rounds of one writer, each with its documents; say when the lake is open, and wait for the word."""
    where = place(Path(data_dir), url=url, data_path=data_path, schema=schema)
    with db.open_log(where) as con:
        print("open", flush=True)
        sys.stdin.readline()
        began = time.monotonic()
        for number in range(n_rounds):
            one_round(con, writer, number)
        print(f"{time.monotonic() - began:.3f}", flush=True)


if __name__ == "__main__":
    url, schema, data_path, data_dir, writer, n_rounds = sys.argv[1:]
    main(url, schema, data_path, data_dir, int(writer), int(n_rounds))
