"""What a week is made of: the published file as it would have stood at the week's end, and SELECTs over that.

The log is cut at the end of the week and the marts are made of it again, by the file's own SELECTs (`meta.model`), in
memory. What is known now and what was known then differ in the cut: by when something was seen, or by when we learnt
it. From what is known now, moves have the kind that hindsight gives them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl

from reports import chart_facts, truth_tables
from reports import currency as currencies
from reports.chart_facts import Charted
from reports.facts import SQL, of_option
from reports.weekly_calendar import Week
from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from reports.weekly_fleet import FleetNews

LOG = {
    "price_event": "valid_from", "scope_run": "observed_at", "sighting": "observed_at", "quarantine": "observed_at",
    "availability": "observed_at", "fx_rate": "observed_at",
}  # fmt: skip
"""Tables that are cut, each with the column that says when something was seen; all have recorded_at."""
KEPT = ("source", "document", "offer", "offer_unit", "accelerator_label", "instance_type")
REMADE = (
    "price_history", "price_move", "repricing", "price_change", "document_evidence", "accelerator_hour_price",
    "source_health", "unknown_accelerator", "provider_price",
)  # fmt: skip
"""The marts that the page reads; the others need more than the log, and are of the newest week alone."""
INDEX = ("price_index_item", "administered_spot", "price_level", "price_index")
"""Made again only from what was known then: of what is known now, the file's own stands."""
NEEDED = {"token": "token_cost", "drift": "price_index"}
"""The marts of the file itself without which a part of the page is left out."""
NEWEST_WITHIN_DAYS = 7
"""A week is the newest while the file was built so few days after it: then what the file alone has is told, too."""


@dataclass(frozen=True, kw_only=True)
class WeekFacts:
    """A week as its page and mail see it; times are naive and UTC.

    `built_at` is when the file was built, `as_of` the end of the week or, in a week that is not over, `built_at`.
    `late` is how many changes of earlier weeks were learnt in this one, with the date of the first. `token` has one row
    or none; `drift` is None where the file has no index, or the week is not over. The other frames carry the names of
    their SELECT, and `charted` what the charts are made of. `rate` is that of the currency in which
    prices are shown beside US dollars, at the week's end. `fleet` is for the mail alone: no page shows it; so
    are `checks`, the truth checks of the newest week that differ for what was first seen since it began.
    """

    week: Week
    known_then: bool
    built_at: datetime
    as_of: datetime
    version: str
    moves: pl.DataFrame
    offers: pl.DataFrame
    drifting: pl.DataFrame
    checked: pl.DataFrame
    sources: pl.DataFrame
    scopes: pl.DataFrame
    refused: pl.DataFrame
    stand: pl.DataFrame
    provider_prices: pl.DataFrame
    token: pl.DataFrame
    drift: pl.DataFrame | None
    late: tuple[int, datetime | None]
    documents: pl.DataFrame
    charted: Charted
    currency: pl.DataFrame
    rate: currencies.Rate | None = None
    fleet: "FleetNews | None" = None
    checks: Sequence[Mapping[str, Any]] = ()

    @property
    def is_over(self) -> bool:
        """Return whether the week was over when the file was built."""
        return self.as_of >= self.week.until

    @property
    def is_newest(self) -> bool:
        """Return whether what stands in the file is still of about the week's end."""
        return not self.known_then and (self.built_at - self.week.until).days < NEWEST_WITHIN_DAYS

    @property
    def lists(self) -> pl.DataFrame:
        """Return the moves of list prices."""
        return self.moves.filter(pl.col("change_kind") == "list_change")

    @property
    def doubts(self) -> pl.DataFrame:
        """Return corrections and suspected errors, which are in no conclusion."""
        return self.moves.filter(pl.col("change_kind") != "list_change")

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing happened but what moves by itself."""
        return not self.moves.height and not self.offers.height


def read(file: Path, week: Week | None, *, known_then: bool, shown_in: str = currencies.USD) -> WeekFacts:
    """Return the facts of a week, by default of the last one that was over. The file is read only.

    `shown_in` is the currency in which prices are shown beside US dollars.

    Raises SettingsError for a week that had not begun when the file was built.
    """
    with duckdb.connect() as con:
        con.execute(f"attach {_quoted(str(file))} as published (read_only)")
        built_at, version = con.execute("select built_at, version from published.meta.build").fetchall()[0]
        week = week or Week.last_before(built_at)
        if week.since >= built_at:
            raise SettingsError(
                "the week had not begun when the file was built",
                source=str(file),
                field="week",
                value=str(week),
                hint=f"The file is of {built_at:%Y-%m-%d %H:%M} UTC; the last full week in it is "
                f"{Week.last_before(built_at)}",
            )
        as_of = min(built_at, week.until)
        _cut(con, as_of, known_then=known_then)
        span = {"since": week.since, "until": as_of}
        frames = {
            name: _ask(con, f"week_{name}", span)
            for name in ("move", "offer", "drifting", "checked", "source", "stand", "late", "currency")
        }
        provider_prices = _ask(con, "provider_price", {})
        refused = _ask(con, "refused", {})
        found = WeekFacts(
            week=week,
            known_then=known_then,
            built_at=built_at,
            as_of=as_of,
            version=version,
            moves=frames["move"],
            offers=frames["offer"],
            drifting=frames["drifting"],
            checked=frames["checked"],
            sources=frames["source"],
            scopes=_ask(con, "scope", {}),
            refused=refused.filter(pl.col("observed_at") >= week.since),
            stand=frames["stand"],
            provider_prices=provider_prices,
            token=pl.DataFrame(),
            drift=_drift(con, week) if known_then and as_of >= week.until else None,
            late=frames["late"].row(0),
            documents=pl.DataFrame(),
            charted=chart_facts.of_week(con, frames["move"], as_of),
            currency=frames["currency"],
            rate=currencies.rate(con, shown_in, as_of),
        )
        con.execute("use published")
        return _completed(con, found)


def _completed(con: duckdb.DuckDBPyConnection, found: WeekFacts) -> WeekFacts:
    """Return the facts with what the published file itself has: documents, and the marts that are not made again."""
    from dataclasses import replace

    has = {name for (name,) in con.execute("select name from meta.model").fetchall()}
    token = (
        _ask(con, "week_token", {"since": found.week.since})
        if found.is_newest and NEEDED["token"] in has
        else pl.DataFrame()
    )
    drift = found.drift
    if NEEDED["drift"] in has and not found.known_then and found.is_over:
        drift = _drift(con, found.week)
    prices = found.provider_prices
    named = [
        found.moves["document_sha256"],
        found.offers["document_sha256"],
        *(of_option(prices, option)["document_sha256"] for option in prices["purchase_option"].unique()),
        *([token["document_sha256"]] if token.height else []),
    ]  # fmt: skip
    shas = sorted({*pl.concat(named).drop_nulls()})
    checks = [
        row
        for row in truth_tables.differing(truth_tables.read(con) if found.is_newest else None)
        if row["newest_differing_at"] is None or row["newest_differing_at"] >= found.week.since
    ]
    return replace(found, checks=checks, token=token, drift=drift, documents=_ask(con, "document", {"shas": shas}))


def _drift(con: duckdb.DuckDBPyConnection, week: Week) -> pl.DataFrame | None:
    """Return the drift of a week by the index of the database in use; None where it has none."""
    from datetime import timedelta

    if not con.execute("select 1 from duckdb_tables() where table_name = 'price_index' and database_name = "
                       "current_database()").fetchall():  # fmt: skip
        return None
    before = week.since.date() - timedelta(days=1)
    return _ask(con, "week_drift", {"before": before, "last": before + timedelta(days=7)})


def _cut(con: duckdb.DuckDBPyConnection, as_of: datetime, *, known_then: bool) -> None:
    """Make core, meta and mart in memory from the published file, as of a moment."""
    for schema in ("core", "meta", "int", "mart"):
        con.execute(f"create schema {schema}")
    con.execute(
        "create table meta.build as select ?::TIMESTAMP as built_at, version, ranked_days, marketplace_days "
        "from published.meta.build",
        [as_of],
    )
    # Nothing is taken over from a file before.
    con.execute("create table meta.settled as from published.meta.settled limit 0")
    for table, seen_at in LOG.items():
        moment = "recorded_at" if known_then else seen_at
        # An end of an offer that is exactly at the moment belongs to what follows.
        con.execute(f"create table core.{table} as from published.core.{table} where {moment} < ?", [as_of])
    for table in KEPT:
        con.execute(f"create view core.{table} as from published.core.{table}")
    ours = "where schema_name = 'core' and database_name = 'published'"
    _take_macros(con, "core")
    con.execute("create schema decision")
    _take_macros(con, "decision", "commitment_class")
    con.execute("create table core.sku_price as select * from core.price_known_at(TIMESTAMP '9999-01-01')")
    for (view,) in con.execute(f"select sql from duckdb_views() {ours} order by view_name").fetchall():
        con.execute(view)
    models = dict(con.execute("select name, sql from published.meta.model").fetchall())
    for name in REMADE:
        if name in ("price_move", "repricing", "price_change") and not known_then:
            con.execute(f"create view int.{name} as from published.int.{name}")
        else:
            con.execute(f"create table int.{name} as {models[name]}")
    if known_then and INDEX[-1] in models:
        for name in INDEX:
            con.execute(f"create table int.{name} as {models[name]}")
        _take_macros(con, "mart", "drift")


def _take_macros(con: duckdb.DuckDBPyConnection, schema: str, only: str | None = None) -> None:
    """Make the macros of a schema of the published file in memory, or one of them."""
    macros = con.execute(
        "select function_name, parameters, macro_definition, function_type = 'table_macro' from duckdb_functions() "
        "where schema_name = ? and database_name = 'published' and coalesce(function_name = ?, true)",
        [schema, only],
    ).fetchall()
    for name, parameters, definition, is_table in sorted(macros, key=lambda macro: macro[0] != "price_point"):
        kind = "table " if is_table else ""
        con.execute(f"create macro {schema}.{name}({', '.join(parameters)}) as {kind}{definition}")


def _ask(con: duckdb.DuckDBPyConnection, name: str, values: dict[str, object]) -> pl.DataFrame:
    text = (SQL / f"{name}.sql").read_text(encoding="utf-8")
    return con.execute(text, {key: value for key, value in values.items() if f"${key}" in text} or None).pl()


def _quoted(text: str) -> str:
    """Return a path as an SQL literal: ATTACH takes no bound values."""
    return "'" + text.replace("'", "''") + "'"
