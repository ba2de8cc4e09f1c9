"""The page of evidence: what each price of the front page and of the table of savings rests on, at #offer-<id>."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial

from markupsafe import Markup

from reports import wording
from reports.pages import guard
from reports.pages.cost_page import by
from reports.pages.frame import frame
from reports.queries import Published, Row, select
from reports.tables.table import Column, Table, small
from reports.templating import macro

PLACE = "evidence.html"
KINDS = {"provider_bytes": "the provider's own bytes", "transcribed": "transcribed"}

_price = macro("cells.html.j2", "evidence_price")
_document = macro("cells.html.j2", "evidence_document")


def render(published: Published, offers: Iterable[int | None]) -> str:
    """Return the page of some offers of a published file; the same file gives the same bytes."""
    rows = published.ask("evidence", offers=sorted(each for each in offers if each is not None))
    return frame(
        "evidence.html.j2",
        headline=f"What the {wording.count(len(rows), 'price')} of these pages rest on",
        place=PLACE,
        build=published.build,
        tables=[
            guard.part(f"The offers of {chip}", partial(folded, of_chip, number))
            for number, (chip, of_chip) in enumerate(by(rows, "accelerator_name").items())
        ],
        query=select("evidence").replace("(select unnest($offers))", "(...)"),
    )


def folded(rows: Sequence[Row], number: int) -> Markup:
    """Return the table of a chip's offers, the first one open."""
    return macro("parts.html.j2", "opened")(
        rows[0]["accelerator_name"] or "chip unknown", number == 0, table(rows, number)
    )


def table(rows: Sequence[Row], number: int) -> Table:
    """Return the table of a chip's offers."""
    return Table(
        id=f"offers-{number}",
        title=f"{rows[0]['accelerator_name']}: {wording.count(len(rows), 'price')}",
        subtitle="US dollars per chip-hour",
        rows=rows,
        columns=[
            Column("USD per chip-hour", _offer),
            Column("As stated", _stated),
            Column("Seen", _seen),
            Column("Evidence", lambda row: KINDS.get(row["evidence_kind"], wording.UNKNOWN) + small(row["source"])),
            Column("Document (SHA-256)", _source),
        ],
    )


def _offer(row: Row) -> str:
    plan = f" ({row['commitment_discount_type']})" if row["commitment_discount_type"] else ""
    sold = wording.listed(row["accelerator_name"], row["service_provider_name"], by=" ")
    notes = (
        wording.listed(sold, wording.option_of(row) + plan),
        wording.listed(row["instance_type"], row["region_id"], row["zone_name"], row["tier"]),
    )
    return _price(row["offer_id"], wording.amount(row["price_per_accelerator_hour_usd"], 4), notes)


def _stated(row: Row) -> str:
    amounts, n = [_exact(row["unit_price"])], row["accelerator_count"]
    if row["upfront_price"]:
        amounts.append(f"upfront {_exact(row['upfront_price'])}")
    return f"{' + '.join(amounts)} {row['stated_unit'] or ''}" + small(
        wording.listed(f"for {_exact(n)} chip{'s' * (n != 1)}", row["price_parts"], by=" = ")
    )


def _exact(value: Decimal | None) -> str:
    """Return a number as it was stated, with thousands separated and no zeros after its last digit."""
    return wording.UNKNOWN if value is None else f"{value.normalize():,f}"


def _seen(row: Row) -> str:
    stated = f"stated to hold since {wording.date(row['effective_at'])}" if row["effective_at"] else None
    return wording.date(row["last_observed_at"]) + small(
        wording.listed(f"since {wording.date(row['valid_from'])}", stated)
    )


def _source(row: Row) -> str:
    address = row["source_url"] or ""
    accessed = f"read {wording.date(row['accessed_on'])}" if row["accessed_on"] else ""
    return _document(
        (row["document_sha256"] or wording.UNKNOWN)[:16], address, wording.short(address, most=60), accessed
    )
