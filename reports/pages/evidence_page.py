"""The page of evidence: what each price of the front page and of the table of savings rests on, at #offer-<id>."""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from pathlib import Path

import duckdb
import polars as pl
from great_tables import GT, html

from reports import wording
from reports.pages import front_words, guard
from reports.pages.frame import frame
from reports.queries import SQL, Row, ask
from reports.tables import sheet
from reports.tables.sheet import Sheet, small

PLACE = "evidence.html"
HEADS = {
    "price": "Price",
    "stated": "As stated",
    "seen": "Seen",
    "evidence": "Evidence",
    "document": "Document (SHA-256)",
}
KINDS = {"provider_bytes": "the provider's own bytes", "transcribed": "transcribed"}


def render(file: Path, offers: Sequence[int], *, built_at: datetime, version: str) -> str:
    """Return the page of some offers of a published file; the same file gives the same bytes."""
    with duckdb.connect(str(file), read_only=True) as con:
        rows = ask(con, "evidence", offers=list(offers))
    query = (SQL / "evidence.sql").read_text(encoding="utf-8")
    return frame(
        title="Evidence",
        headline=f"What the {wording.count(len(rows), 'price')} of these pages rest on",
        place=PLACE,
        built_at=built_at,
        version=version,
        kind="Evidence",
        header=(
            "<p>One line for each offer: the amounts as the source states them, what they come to per chip-hour, the "
            "document with its address, and when the price was seen. The document lies in <code>landing/</code> under "
            "its hash.</p>"
        ),
        main="\n".join(
            (
                guard.part("The list of offers", lambda: sheet.to_html(table(rows))) if rows else "<p>None.</p>",
                "<details><summary>The SQL of this page</summary>"
                f"<pre>{escape(query.replace('(select unnest($offers))', '(...)'))}</pre></details>",
            )
        ),
    )


def table(rows: Sequence[Row]) -> Sheet:
    """Return the table of offers."""
    frame_of = pl.DataFrame([_line(row) for row in rows], schema=dict.fromkeys(HEADS, pl.String), orient="row")
    gt = (
        GT(frame_of, id="offers", rowname_col="price")
        .tab_header(title="Offers by chip, provider and purchase option", subtitle="US dollars per chip-hour")
        .tab_stubhead(html("USD per chip-hour"))
        .cols_label({name: head for name, head in HEADS.items() if name != "price"})
        .cols_align("left")
        .fmt(str, columns=list(HEADS))
    )
    return Sheet(id="offers", gt=gt)


def _line(row: Row) -> dict[str, str]:
    where = ", ".join(str(row[name]) for name in ("instance_type", "region_id", "zone_name", "tier") if row[name])
    option = wording.option(
        row["purchase_option"] or "",
        term_hours=row["commitment_term_hours"],
        payment=row["purchase_payment_model"],
        offering_class=row["offering_class"],
    )
    plan = f" ({row['commitment_discount_type']})" if row["commitment_discount_type"] else ""
    name = " ".join(str(part) for part in (row["accelerator_name"], row["service_provider_name"]) if part)
    amounts = [f"{row['unit_price']:f}" if row["unit_price"] is not None else wording.UNKNOWN]
    if row["upfront_price"]:
        amounts.append(f"upfront {row['upfront_price']:f}")
    count = f"{row['accelerator_count']:f}".rstrip("0").rstrip(".") if row["accelerator_count"] is not None else "?"
    address = row["source_url"] or ""
    link = f'<a href="{escape(address)}" rel="noreferrer">{escape(wording.short(address, most=60))}</a>'
    shown = link if address.startswith(("https://", "http://")) else escape(wording.short(address, most=60))
    accessed = f"read {front_words.date(row['accessed_on'])}" if row["accessed_on"] else ""
    amount = wording.amount(row["price_per_accelerator_hour_usd"], 4)
    since = f"since {front_words.date(row['valid_from'])}"
    kind = KINDS.get(row["evidence_kind"] or "", wording.UNKNOWN)
    return {
        "price": (
            f'<span id="offer-{row["offer_id"]}"><b>{amount}</b></span>'
            f"{small(name)}{small(f'{option}{plan}')}{small(where)}"
        ),
        "stated": f"{' + '.join(amounts)} {escape(row['pricing_currency'] or '')}{small(f'for {count} chips')}",
        "seen": f"{front_words.date(row['last_observed_at'])}{small(since)}",
        "evidence": f"{kind}{small(row['source'])}",
        "document": f"<code>{escape((row['document_sha256'] or wording.UNKNOWN)[:16])}</code><small>{shown} "
        f"{escape(accessed)}</small>",
    }
