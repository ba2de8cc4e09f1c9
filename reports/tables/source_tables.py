"""What prices rest on and what is lacking: sources and their health, refused rows, unknown chips, documents."""

import re
from collections.abc import Iterable

import polars as pl

from reports import wording
from reports.queries import Row
from reports.tables.table import Column, Number, Table, element, left_out, outside, small, span

STATES = wording.words_of("state")
TROUBLED = ("missing", "stale", "retry")
MAX_SCOPES = 500
MAX_REFUSED = 25
MAX_GAPS = 25
NEVER = "never read"
WHOLE = "the whole answer is concerned"
REASONS = wording.words_of("gap")
COUNTED = wording.counted_of("gaps")


def health(scopes: pl.DataFrame) -> Table:
    """Return the state of each scope of each source, the worst first within a source."""
    order = {state: rank for rank, state in enumerate(STATES)}
    rows = sorted(
        scopes.rows(named=True), key=lambda row: (row["kind"] != "live", row["source"] or "", order[row["state"]])
    )
    counts = {state: sum(row["state"] == state for row in rows) for state in STATES}
    title = ", ".join(f"{n:,} {STATES[state]}" for state, n in counts.items() if n) or "no source was read yet"
    return Table(
        id="health",
        title=f"Sources: {title}",
        subtitle="One row for each part of a source that succeeds or fails alone.",
        rows=rows[:MAX_SCOPES],
        group="source",
        columns=[
            Column("Scope", "scope"),
            Column("State", lambda row: span(STATES[row["state"]], f"state {row['state']}")),
            Column("Newest\nprice", lambda row: wording.day(row["newest_price_at"]), why=NEVER),
            Column("Last good\nfetch", lambda row: wording.minute(row["last_good_at"]), why=NEVER),
            Number("Price age,\ndays", _age, why=NEVER),
            Number("Prices", "n_rows", why=NEVER),
            Number("Refused,\n30 days", "n_refused"),
            Number("Disagree-\nments", "n_disagreements"),
            Column(
                "Error of the last fetch",
                lambda row: wording.cause(row["error"], row["source"], row["scope"]) or "none",
            ),
        ],
        note="Fresh: read by the last fetch and within the source's own limit of age. Archived: prices of a past date, "
        "from the offline archive, an import or a source that is off; the last good fetch of an import is when it was "
        "read, not when the prices were true. Disagreements: offers for which another source says something else about "
        "the same moment." + left_out(len(rows) - MAX_SCOPES, "more scope", "select * from int.source_health"),
    )


def _age(row: Row) -> str:
    """Return the age of the newest price, whenever its source was read."""
    newest, good = row["newest_price_at"], row["last_good_at"]
    if row["age_days"] is None or newest is None or good is None:
        return wording.days(row["age_days"])
    return wording.days(row["age_days"] + (good - newest).total_seconds() / 86400)


def refusals(refused: pl.DataFrame) -> Table:
    """Return the refused rows that nobody decided on yet, newest first."""
    return Table(
        id="refused",
        title=f"{wording.count(refused.height, 'refused row waits', 'refused rows wait')} for a decision",
        subtitle="A row that breaks a rule, or a jump that nothing confirms yet; newest first.",
        rows=refused.head(MAX_REFUSED).rows(named=True),
        columns=[
            Column("Number", lambda row: str(row["quarantine_id"])),
            Column("Why refused", lambda row: wording.short(row["reason"])),
            Column("Field", lambda row: row["field"] or None, why=WHOLE),
            Column("Value", lambda row: wording.short(row["value"]) or None, why=WHOLE),
            Column("Source, scope", _place),
            Column("Seen", lambda row: wording.day(row["last_observed_at"])),
        ],
        note="Kept, not published. Settle one with `chipledger quarantine accept NUMBER` or `refuse`."
        + left_out(refused.height - MAX_REFUSED, "more row", "chipledger quarantine list"),
    )


def unknowns(unknown: pl.DataFrame) -> Table:
    """Return what has a price and no known chip: by the provider's own name for it, or by the instance type."""
    names = ("name or instance type with an unknown accelerator", "names or instance types with an unknown accelerator")
    return Table(
        id="unknown",
        title=wording.count(unknown.height, *names),
        subtitle="Priced as a whole only; in no price per chip-hour of this page.",
        rows=unknown.head(MAX_GAPS).rows(named=True),
        columns=[
            Column("Named", "named"),
            Column("Provider", "service_provider_name"),
            Number("Offers", "n_offers"),
            Column("First seen", lambda row: wording.day(row["valid_from"])),
            Column("Last seen", lambda row: wording.day(row["last_observed_at"])),
        ],
        note="The table of accelerators needs an entry for each."
        + left_out(unknown.height - MAX_GAPS, "more name", "select * from int.unknown_accelerator"),
    )


def gaps(found: pl.DataFrame) -> Table:
    """Return the priced offers that cannot be compared with others, by reason and provider."""
    rows = found.head(MAX_GAPS).rows(named=True)
    n_offers = sum(found["n_offers"])
    left = n_offers - sum(row["n_offers"] for row in rows)
    return Table(
        id="not-compared",
        title=f"{wording.count(n_offers, 'offer')} that cannot be compared",
        subtitle="Stored with their prices as charged; each offer is here once, for the first of these reasons.",
        rows=rows,
        group=lambda row: REASONS[row["gap"]],
        columns=[
            Column("Provider", "service_provider_name"),
            Column("Chips or currency", lambda row: wording.short(wording.few(row["words"], most=4))),
            Number("Offers", "n_offers"),
            Column("Last seen", lambda row: wording.day(row["last_observed_at"])),
        ],
        note=(f"{wording.count(left, 'more offer')} of other chips left out: " if left else "")
        + "`select * from int.accelerator_hour_price` has every offer.",
    )


def lacking(unknown: pl.DataFrame, gaps: pl.DataFrame) -> list[str]:
    """Return how many priced offers lack what, one sentence each; empty where nothing is lacking."""
    parts = []
    if unknown.height:
        offers = sum(unknown["n_offers"])
        says = ("is of a chip that we do not know", "are of a chip that we do not know")
        parts.append(f"{wording.count(offers, 'offer')} {says[offers != 1]}, so without a price per chip-hour.")
    for gap, words in COUNTED.items():
        if offers := sum(gaps.filter(pl.col("gap") == gap)["n_offers"]):
            parts.append(f"{wording.count(offers, 'offer')} {words[offers != 1]}.")
    return parts


def linked(found: pl.DataFrame, parts: Iterable[str]) -> Table | str:
    """Return those documents to which a part of a page links, in their order, or that there are none."""
    shas = {sha for part in parts for sha in re.findall(r'href="#d-([^"]{12})"', part)}
    shown = found.filter(pl.col("document_sha256").str.head(12).is_in(shas)) if shas else found.clear()
    return documents(shown) if shown.height else "None."


def documents(found: pl.DataFrame) -> Table:
    """Return the documents of a page, where each was read and when."""
    return Table(
        id="documents",
        title=f"{wording.count(found.height, 'document')} behind the numbers of this page",
        subtitle="A price names the document that first showed it; its bytes lie in landing/ under the hash.",
        rows=found.rows(named=True),
        columns=[
            Column("SHA-256", lambda row: element("code", row["document_sha256"], f"d-{row['document_sha256'][:12]}")),
            Column("Address or operation", _address),
            Column("Published", lambda row: wording.day(row["published_at"]), why="the document states none"),
            Column("Read", lambda row: row["accessed_on"] or wording.minute(row["fetched_at"])),
            Number("Bytes\nkept", "size_bytes"),
            Column("Source, scope", _place),
        ],
    )


def _address(row: Row) -> str:
    """Return where a document was read; of one of the archive where its figures were copied from."""
    address = row["source_url"] or row["url"]
    return span(outside(address, address), "long") + small(
        None if row["source_url"] else wording.short(row["parameters"])
    )


def _place(row: Row) -> str:
    return (row["source"] or wording.UNKNOWN) + small(row["scope"])
