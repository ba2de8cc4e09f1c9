"""Looks for tests, made from a few words: rows of one offer each, and the looks that show them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import groupby

import duckdb
import polars as pl

from warehouse.log.parsed import ParsedFetch, no_rows
from warehouse.log.quarantine import Quarantined
from warehouse.schema.tables import observation_schema

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = {
    "service_provider_name": "AWS", "capacity_unit": "instance", "region_id": "us-east-1",
    "purchase_option": "on_demand", "statistic": "price", "pricing_currency": "USD", "unit_price_type": "List",
}  # fmt: skip
"""What every row has unless it says otherwise."""

PARTIAL = {
    "purchase_option": "reserved", "commitment_term_hours": 8760, "purchase_payment_model": "Partial Upfront",
    "offering_class": "standard",
}  # fmt: skip
"""A one-year Partial Upfront term; it has an hourly and an upfront amount."""

Row = dict[str, object]


def day(number: float) -> datetime:
    """Return midnight of a day, counted from the start of 2026; fractions are hours."""
    return START + timedelta(days=number)


def row(instance_type: str | None, unit_price: str | None, **others: object) -> Row:
    """Return one row: an offer and its price; `others` replace or add columns."""
    return PLAIN | {"instance_type": instance_type, "unit_price": unit_price} | others


def frame(rows: list[Row], document: str = "document") -> pl.DataFrame:
    """Return rows as a source's parser gives them, with the document that they come from."""
    if not rows:
        return no_rows()
    extra = sorted({name for each in rows for name in each} - set(observation_schema()))
    schema = {**observation_schema(), **dict.fromkeys(extra)}
    return pl.DataFrame(rows, schema=schema).with_columns(document_sha256=pl.lit(document))


def look(
    at: float, *rows: Row, complete: bool = True, archived: bool = False, trusted: bool = False, scope: str = "a",
    source: str = "aws_price_list", document: str = "", error: str | None = None,
) -> ParsedFetch:  # fmt: skip
    """Return a look at a scope on a day; without a name of its own the document is that of this day."""
    document = document or f"{source} {scope} {at}"
    return ParsedFetch(
        run_id=f"run {at}", source=source, scope=scope, observed_at=day(at), complete=complete, archived=archived,
        document_sha256=document, rows=frame(list(rows), document), trusted=trusted, error=error,
    )  # fmt: skip


def at_once(looks: Iterable[ParsedFetch]) -> Iterator[tuple[datetime, list[ParsedFetch]]]:
    """Yield each moment with its looks, in the order given, for loading them together, as a run does.

    To load takes a tenth of a second, however many the looks are.
    """
    for moment, together in groupby(looks, key=lambda each: each.observed_at):
        yield moment, list(together)


@contextmanager
def memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a writer's database in memory, or a new lake where logs are lakes."""
    from log_place import fresh

    with fresh() as con:
        yield con


def history(con: duckdb.DuckDBPyConnection, moment: str = "9999-01-01") -> list[tuple[object, ...]]:
    """Return instance type, first day, last day, day last confirmed (numbers) and price of each interval, in order."""
    return [line[:-1] for line in _intervals(con, moment)]


def _intervals(con: duckdb.DuckDBPyConnection, moment: str) -> list[tuple[object, ...]]:
    days = ", ".join(
        f"epoch({name} - timestamp '2026-01-01') / 86400" for name in ("valid_from", "valid_to", "last_observed_at")
    )
    return con.execute(
        f"select o.instance_type, {days}, p.unit_price::varchar::double::varchar, o.region_id "
        "from core.price_known_at(?::timestamp) as p join core.offer as o using (offer_id) order by all",
        [moment],
    ).fetchall()


class Read:
    """What a log says, read at once: for logs in which each case has a scope, and a region of the same name."""

    def __init__(self, con: duckdb.DuckDBPyConnection, moment: str = "9999-01-01") -> None:
        from warehouse.log.quarantine import listed

        self._intervals = _intervals(con, moment)
        self._held = listed(con, everything=True)

    def history(self, region: str) -> list[tuple[object, ...]]:
        """Return what `history` says of a region."""
        return [line[:-1] for line in self._intervals if line[-1] == region]

    def held(self, scope: str) -> list[Quarantined]:
        """Return the open rows of a scope in the quarantine."""
        return [each for each in self._held if each.scope == scope and not each.decision]

    def refused(self, scope: str) -> list[tuple[str, str, str]]:
        """Return what `refused` says of a scope."""
        return [(each.gate, each.field, each.reason) for each in self.held(scope)]

    def settled(self, scope: str) -> list[tuple[str | None, str | None]]:
        """Return decisions on what was refused in a scope, None where there is none, and by whom."""
        return [(each.decision, each.decided_by) for each in self._held if each.scope == scope]


def refused(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str]]:
    """Return gate, field and reason of each open row of the quarantine, oldest first."""
    from warehouse.log.quarantine import listed

    return [(each.gate, each.field, each.reason) for each in listed(con)]
