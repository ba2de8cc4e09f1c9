"""Feeds beside the pages: `feed.atom` of price changes, `latest.json` with present prices, and its JSON schema.

The Atom feed follows RFC 4287; its links are relative, so it works wherever the folder is put. `latest.json` leaves out
nothing of its SELECTs; a value that is unknown is null.
"""

import uuid
from collections.abc import Container, Mapping
from datetime import datetime
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import simplejson

from reports import wording
from reports.files import put
from reports.queries import Published, Row
from reports.templating import render
from reports.weekly import news
from reports.weekly.calendar import FOLDER, Week, place

SPACE = uuid.UUID("6d1d0d4e-5b6f-5a43-9d3b-3f1f0c1f3a55")
"""Of the names from which the ids of entries are made; it must never change, or readers would see all entries anew."""
SCHEMA = "latest.schema.json"
PER = {"Minutes": "minute", "Months": "month"}


def write(published: Published, folder: Path) -> None:
    """Write the three files of a published file into a folder; each appears whole."""
    built_at, version = published.build
    changes, prices, scopes = (published.ask(name) for name in ("week_feed", "week_latest", "scope"))
    pages = {f"{FOLDER}/{path.name}" for path in (folder / FOLDER).glob("????-W??.html")}
    put(folder / "feed.atom", atom(changes, built_at=built_at, version=version, pages=pages))
    put(folder / "latest.json", latest(changes, prices, scopes, built_at=built_at, version=version))
    put(folder / SCHEMA, (files("reports") / SCHEMA).read_text(encoding="utf-8"))


def atom(changes: list[Row], *, built_at: datetime, version: str, pages: Container[str]) -> str:
    """Return the feed: one entry for each change, its id a function of offer and moment; linked to its week's page."""
    entries = []
    for row in changes:
        page = place(Week.of(row["observed_at"]))
        entries.append(
            {
                "id": uuid.uuid5(SPACE, f"{row['offer_id']} {row['observed_at'].isoformat()}").urn,
                "title": title(row),
                "updated": _stamp(row["observed_at"]),
                "page": page if page in pages else "",
                "kind": row["change_kind"],
                "content": _content(row),
            }
        )
    updated = max((entry["updated"] for entry in entries), default=_stamp(built_at))
    return render("feed.xml.j2", id=uuid.uuid5(SPACE, "feed").urn, updated=updated, version=version, entries=entries)


def title(row: Row) -> str:
    """Return a change in a line: RunPod H100 PCIe on-demand: 2.39 to 2.89 USD, +20.9 %."""
    name = row["offered"] if row["offered"] != row["accelerator_name"] else wording.chip(row)
    what = news.line(wording.listed(row["service_provider_name"], name, wording.option_of(row), row["tier"], by=" "))
    places = wording.places_of_pairs([(row["unit_price_before"], row["unit_price_after"])])
    before, after = (_price(row, side, places) for side in ("before", "after"))
    currency = news.line(wording.listed(row["pricing_currency"], PER.get(row["pricing_unit"]), by=" a "))
    if row["change_kind"] == "list_change":
        return f"{what}: {before} to {after} {currency}, {wording.percent(row['change_ratio'])}"
    last = before if row["change_kind"] == "gone_offer" else after
    return f"{what}: {wording.CAME[row['change_kind']]}, {last} {currency}"


def _price(row: Row, side: str, places: int) -> str:
    """Return what is paid by the hour and once: 5.43 + 47,561.00 once."""
    hourly, once = row[f"unit_price_{side}"], row[f"upfront_price_{side}"]
    parts = wording.amount(hourly, places) if hourly or not once else "", once and f"{wording.amount(once, 2)} once"
    return wording.listed(*parts, by=" + ")


def latest(changes: list[Row], prices: list[Row], scopes: list[Row], *, built_at: datetime, version: str) -> str:
    """Return the object that latest.schema.json describes: amounts as numbers, as exact as they are in the file."""
    names = ("source", "scope", "kind", "state", "last_good_at", "newest_price_at")
    whole = {
        "schema_version": 1,
        "built_at": _stamp(built_at),
        "version": version,
        "sources": [_plain({name: row[name] for name in names}) for row in scopes],
        "prices": [_plain(row) for row in prices],
        "changes": [_plain({name: value for name, value in row.items() if name != "offer_id"}) for row in changes],
    }
    return simplejson.dumps(whole, use_decimal=True, ignore_nan=True, ensure_ascii=False, indent=1) + "\n"


def _content(row: Row) -> str:
    before = row["last_observed_before_at"]
    when = wording.minute(row["observed_at"])
    when_seen = f"Seen first {when}" + (f", the old price last {wording.minute(before)}" if before else "")
    place = f" Region {row['region_id']}." if row["region_id"] else ""
    return news.line(
        f"{title(row)}, of what is sold as one, per {PER.get(row['pricing_unit'], 'hour')}.{place} {when_seen}. "
        f"Source {row['source']}, document {row['document_sha256']}."
    )


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds") + "Z"


def _plain(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row with amounts without closing zeros, as exact as they are, and moments as text."""
    return {
        name: Decimal(format(value.normalize(), "f"))
        if isinstance(value, Decimal)
        else _stamp(value)
        if isinstance(value, datetime)
        else value
        for name, value in row.items()
    }
