"""What a week is made of: the published file as it would have stood at the week's end, and SELECTs over that.

The log is cut at the end of the week and the marts are made of it again, by the file's own SELECTs (`meta.model`), in
memory. What is known now and what was known then differ in the cut: by when something was seen, or by when we learnt
it. From what is known now, moves have the kind that hindsight gives them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import polars as pl

from reports import currency as currencies
from reports import wording
from reports.charts import chart_facts
from reports.charts.chart_facts import Charted
from reports.queries import SQL, fit_threads, frame, framed, marts, named, select, truth_checks
from reports.tables import truth_tables
from reports.weekly.calendar import CHIPS, MIN_CHANGE, Week
from warehouse.errors import SettingsError
from warehouse.schema.tables import SCHEMAS, quote

Found = TypeVar("Found")

LOG = {"price_event": "valid_from", "withdrawal": "TIMESTAMP '-infinity'"} | dict.fromkeys(
    ("scope_run", "sighting", "quarantine", "availability", "price_detail", "fx_rate"), "observed_at"
)
"""Tables that are cut, each with the column that says when something was seen; all have recorded_at."""
KEPT = ("source", "document", "offer", "offer_unit", "price_move_kind")
MACROS = (
    *("meta.unsaid", "log.other_standing", "log.other_point", "log.other_known_at"),
    *("core.hourly_price", "core.evidence_kind"),
    *("decision.is_open_to_all", "decision.commitment_class", "decision.sold_form", "decision.sold_tier"),
    *("decision.ranked_days", "decision.is_confidential", "decision.same_move", "cost.network"),
)
JUDGED = ("price_move", "repricing", "price_correction", "price_change")
"""What moved, and what it was; of what is known now, the file's own stand."""
REMADE = (
    *("price_history", *JUDGED, "document_evidence"),
    *("accelerator_hour_price", "source_health", "listed_price", "provider_price", "commitment_option"),
)
"""The marts that the page reads; the others need more than the log, and are of the newest week alone."""
TOKENS = {"token_point": "from int.headline_point", "token_cost": select("week_token_cost")}
"""Queries of marts of the file itself."""
TOKEN_MARTS = {"model_point", "headline_point", "headline_token_cost", "token_cost_history", "token_drift"}
"""What costs per token rest on; a file without one of them is shown without any."""
INDEX = ("index_spell", "index_cut", "price_index_item", "administered_spot", "price_level", "price_index")
"""Made again only from what was known then: of what is known now, the file's own stands."""
FRAMES = (
    *("biggest", "also", "repriced", "cheapest", "taken_back", "withdrawn", "offer", "drifting", "checked", "source"),
    *("late", "currency", "provider_price", "scope", "refused"),
)
"""The SELECTs of a week beside week_move and week_ranked, whose rows stand in tables of the schema week for them."""
NEWEST_WITHIN_DAYS = 7
"""A week is the newest while the file was built so few days after it: then what the file alone has is shown, too."""


class Unanswered(Exception):
    """A SELECT that failed; the text says why."""


@dataclass(frozen=True, kw_only=True)
class FleetNews:
    """What a week means to the reader's own fleet, and what to do: sentences or less, the first says most."""

    you: tuple[str, ...]
    due: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class WeekFacts:
    """A week as its page and mail see it; times are naive and UTC.

    `built_at` is when the file was built, `as_of` the end of the week or, in a week that is not over, `built_at`;
    `begun_at` is when the log learnt its first.
    `chips` are the reader's. `frames` are the answers of the SELECTs week_<name>.sql and <name>.sql by name; one that
    failed stands in `faults` instead, with the reason, and costs only the sections that need it. `drift` is None where
    the file has no index, or the week is not over, and `charted` what the charts are made of. `rate` is that of the
    currency in which prices are shown beside US dollars, at the week's end. `fleet` is for the mail alone: no page
    shows it; so are `checks`, the truth checks of the newest week that differ for what was first seen since it began.
    """

    week: Week
    known_then: bool
    built_at: datetime
    begun_at: datetime | None
    as_of: datetime
    version: str
    ranked_days: int
    marketplace_days: int
    chips: tuple[str, ...]
    frames: Mapping[str, pl.DataFrame]
    faults: Mapping[str, str]
    drift: pl.DataFrame | None
    charted: Charted | None
    rate: currencies.Rate | None = None
    fleet: FleetNews | None = None
    checks: Sequence[Mapping[str, Any]] = ()

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return the answer of a SELECT. Raises Unanswered where it failed."""
        if name in self.faults:
            raise Unanswered(self.faults[name])
        return self.frames[name]

    @property
    def is_over(self) -> bool:
        """Return whether the week was over when the file was built, or read."""
        return self.as_of >= self.week.until

    @property
    def last_day(self) -> datetime:
        """Return the first moment of its last day."""
        return self.week.until - timedelta(days=1)

    @property
    def is_newest(self) -> bool:
        """Return whether what stands in the file is still of about the week's end."""
        return not self.known_then and (self.built_at - self.week.until).days < NEWEST_WITHIN_DAYS

    @property
    def lists(self) -> pl.DataFrame:
        """Return the moves of list prices."""
        return self["move"].filter(pl.col("change_kind") == "list_change")

    @property
    def doubts(self) -> pl.DataFrame:
        """Return corrections and suspected errors, which are in no conclusion."""
        return self["move"].filter(pl.col("change_kind") != "list_change")

    @property
    def n_checked(self) -> int:
        """Return how many prices were confirmed in the week."""
        return int(self["checked"]["n_checked"].sum())

    @property
    def is_quiet(self) -> bool:
        """Return whether it is known that nothing happened but what moves by itself."""
        return not self.faults and bool(self.n_checked) and not self["move"].height and not self["offer"].height

    @property
    def is_before_all(self) -> bool:
        """Return whether nothing is known of the week, as it was over before anything was read."""
        return not self.faults and not self.n_checked and (self.begun_at or self.as_of) >= self.week.until


def read(
    file: Path,
    week: Week | None = None,
    *,
    known_then: bool = False,
    chips: Sequence[str] = CHIPS,
    least: float = MIN_CHANGE,
    shown_in: str = currencies.USD,
    now: datetime | None = None,
) -> WeekFacts:
    """Return the facts of a week, by default of the last one that was over. The file is read only.

    `chips` are the reader's, `least` the share from which one of their moves is shown, and `shown_in` the currency in
    which prices are shown beside US dollars. A week is over if it ended before `now`, naive and UTC, or
    before the file was built.

    Raises SettingsError for a week that had not begun then.
    """
    with duckdb.connect() as con:
        con.execute(f"attach {quote(str(file))} as published (read_only)")
        fit_threads(con, "published")
        built_at, version, begun_at, *days = con.execute(
            "select built_at, version, (select min(recorded_at) from published.core.scope_run), ranked_days, "
            "marketplace_days from published.meta.build"
        ).fetchall()[0]
        known_at = max(built_at, now or built_at)
        week = week or Week.last_before(known_at)
        if week.since >= known_at:
            raise SettingsError(
                "the week had not begun when the file was built",
                source=str(file),
                field="week",
                value=str(week),
                hint=f"The file is of {built_at:%Y-%m-%d %H:%M} UTC; the last full week in it is "
                f"{Week.last_before(built_at)}",
            )
        as_of = min(known_at + timedelta(microseconds=1), week.until)  # what was seen when it was built is in it
        _cut(con, as_of, known_then=known_then)
        values = {"since": week.since, "until": as_of, "chips": [*chips], "least": least}
        answers = _Answers({}, {})
        answers.put("move", lambda: _moves(con, values))
        for name in FRAMES:
            own = f"week_{name}" if (SQL / f"week_{name}.sql").is_file() else name
            answers.put(name, partial(frame, con, own, **values))
        if "refused" in answers.frames:
            refused = answers.frames["refused"]
            answers.frames["refused"] = refused.filter(pl.col("last_observed_at") >= week.since)
        charted = answers.value("chart", lambda: chart_facts.of_week(con, answers.frames["move"], chips, as_of))
        rate = answers.value("rate", lambda: currencies.rate(con, shown_in, as_of))
        if not known_then:
            answers.put("token_split", lambda: _token_split(con, min(as_of, built_at + timedelta(microseconds=1))))
            con.execute("use published")
        drift = answers.value("drift", lambda: _drift(con, week) if as_of >= week.until else None)
        con.execute("use published")
        found = WeekFacts(
            week=week,
            known_then=known_then,
            built_at=built_at,
            begun_at=begun_at,
            as_of=as_of,
            version=version,
            ranked_days=days[0],
            marketplace_days=days[1],
            chips=tuple(chips),
            frames=answers.frames,
            faults=answers.faults,
            drift=drift,
            charted=charted,
            rate=rate,
        )
        return _completed(con, found, answers)


@dataclass(frozen=True)
class _Answers:
    """What SELECTs answered, and why others failed: one that fails costs what needs it, and not the week."""

    frames: dict[str, pl.DataFrame]
    faults: dict[str, str]

    def put(self, name: str, ask: Callable[[], pl.DataFrame]) -> None:
        """Keep an answer by its name."""
        found = self.value(name, ask)
        if found is not None:
            self.frames[name] = found

    def value(self, name: str, ask: Callable[[], Found]) -> Found | None:
        """Return an answer; None where it failed."""
        try:
            return ask()
        except duckdb.FatalException:
            raise  # the connection is of no use any more: nothing else could be read
        except Exception as error:  # noqa: BLE001 (whatever it is, the rest of the week is still good)
            self.faults[name] = f"{type(error).__name__}: {wording.short(str(error), most=120)}"
            return None


def _completed(con: duckdb.DuckDBPyConnection, found: WeekFacts, answers: _Answers) -> WeekFacts:
    """Return the facts with what the published file itself has: documents, and the marts that are not made again."""
    shas = {sha for each in found.frames.values() if "document_sha256" in each for sha in each["document_sha256"]}
    answers.put("document", lambda: frame(con, "document", shas=sorted(shas - {None})))
    differing = answers.value("truth", lambda: truth_tables.differing(truth_checks(con) if found.is_newest else None))
    frames = dict(found.frames)
    has = {name for (name,) in con.execute("select name from meta.model").fetchall()}
    values = {"chips": [*found.chips], "until": found.as_of}
    for name, text in TOKENS.items():
        # Costs are of the file's own day, and so of no other week.
        is_known = has.issuperset(TOKEN_MARTS) and not found.known_then
        is_known &= found.is_newest or name != "token_cost"
        known = answers.value(name, partial(framed, con, text, values)) if is_known else None
        frames[name] = pl.DataFrame() if known is None else known
    frames.setdefault("token_split", pl.DataFrame())
    checks = [
        row
        for row in differing or ()
        if row["newest_differing_at"] is None or found.week.since <= row["newest_differing_at"] < found.week.until
    ]
    return replace(found, frames=frames, checks=checks)


def _token_split(con: duckdb.DuckDBPyConnection, as_of: datetime) -> pl.DataFrame:
    """Return the drift of the lowest cost per token up to the last day before a moment, by int.token_drift."""
    models = dict(con.execute("select name, sql from published.meta.model").fetchall())
    if not TOKEN_MARTS.issubset(models):
        return pl.DataFrame()
    con.execute(f"create or replace macro meta.built_at() as TIMESTAMP '{as_of}' - interval 1 microsecond")
    for name in ("token_cost_history", "model_point", "headline_point"):
        con.execute(f"create view int.{name} as from published.int.{name}")
    con.execute(f"create view int.token_drift as {models['token_drift']}")
    return frame(con, "week_token_split")


def _moves(con: duckdb.DuckDBPyConnection, values: dict[str, object]) -> pl.DataFrame:
    """Make the tables week.move and week.ranked, of which other SELECTs are made, and return the first in its order."""
    con.execute("create schema week")
    for name in ("move", "ranked"):
        text = select(f"week_{name}")
        con.execute(f"create table week.{name} as {text}", named(text, values))
    return framed(con, "from week.move")


def _drift(con: duckdb.DuckDBPyConnection, week: Week) -> pl.DataFrame | None:
    """Return the drift of a week by the index of the database in use; None where it has none."""
    if "price_index" not in marts(con):
        return None
    before = week.since.date() - timedelta(days=1)
    return frame(con, "week_drift", before=before, last=before + timedelta(days=7))


def _cut(con: duckdb.DuckDBPyConnection, as_of: datetime, *, known_then: bool) -> None:
    """Make core, meta and mart in memory from the published file, as of a moment."""
    for schema in (*SCHEMAS, "cost"):
        con.execute(f"create schema {schema}")
    con.execute(
        "create table meta.build as select ?::TIMESTAMP as built_at, version, ranked_days, marketplace_days "
        "from published.meta.build",
        [as_of],
    )
    con.execute(f"create macro meta.built_at() as TIMESTAMP '{as_of}'")
    con.execute("create table meta.chain_before as from published.meta.chain_before")
    for table, seen_at in LOG.items():
        moment = "recorded_at" if known_then else seen_at
        # An end of an offer that is exactly at the moment belongs to what follows.
        cut = f"from published.core.{table} where {moment} < $as_of"
        if table == "price_event" and not known_then:
            cut = select("week_event")
        con.execute(f"create table core.{table} as {cut}", {"as_of": as_of})
    for table in KEPT:
        con.execute(f"create view core.{table} as from published.core.{table}")
    for (table,) in con.execute(
        "select table_name from duckdb_tables() where schema_name = 'ref' and database_name = 'published'"
    ).fetchall():
        con.execute(f"create view ref.{table} as from published.ref.{table}")
    ours = (
        "where schema_name in ('core', 'ref') and database_name = 'published' "
        "and not starts_with(coalesce(comment, ''), 'Deprecated')"
    )
    if known_then:
        # What was withdrawn later counted.
        con.execute("update core.scope_run set status = 'ok', withdrawn_at = null where withdrawn_at >= ?", [as_of])
        con.execute("update core.sighting set withdrawn_at = null where withdrawn_at >= ?", [as_of])
    con.execute("create view log.other_event as from core.price_event; create view log.price_other as from core.offer")
    con.execute("create view log.coverage as from core.scope_run; create view log.run as from core.scope_run")
    con.execute("create schema decision; create table log.price_open (offer_no INTEGER, source VARCHAR)")
    _take_macros(con, *MACROS)
    con.execute("create macro core.price_known_at(moment) as table from log.other_known_at(moment)")
    con.execute("create table core.sku_price as select * from core.price_known_at(TIMESTAMP '9999-01-01')")
    _number(con, "core.sku_price", "sku_price")
    for name, view in con.execute(f"select view_name, sql from duckdb_views() {ours} order by view_name").fetchall():
        if name not in (*LOG, *KEPT, "sku_price"):
            con.execute(view)
    models = dict(con.execute("select name, sql from published.meta.model").fetchall())
    if not known_then:
        for name in ("price_move", "price_change"):
            con.execute(f"create view int.{name} as from published.int.{name}")
    for name in (name for name in REMADE if known_then or name not in JUDGED):
        con.execute(f"create table int.{name} as {models[name]}")
        if name == "price_history":
            _number(con, "int.price_history", "price_link")
    if known_then and INDEX[-1] in models:
        con.execute("create table log.scope_fetch as select *, row_number() over () as fetch_no from core.scope_run")
        before = "lag(observed_at) over (partition by source, scope order by observed_at)"
        covered = f"select fetch_no, observed_at, {before} as covered_at from log.scope_fetch where status = 'ok'"
        con.execute(f"create view core.fetch_cover as {covered}")
        for name in INDEX:
            con.execute(f"create table int.{name} as {models[name]}")
        _take_macros(con, "mart.drift")


def _number(con: duckdb.DuckDBPyConnection, prices: str, name: str) -> None:
    """Make log.`name` of a table of prices, and the macro of those of some offers, as a published file has them."""
    con.execute(
        f"create view log.{name} as select p.*, o.offer_no from {prices} as p inner join core.offer as o "
        f"using (offer_id); create macro log.{name}_of(offers) as table from log.{name} "
        "semi join query_table(offers) using (offer_no)"
    )


def _take_macros(con: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Make macros of the published file in memory, in this order."""
    macros = con.execute(
        "select schema_name || '.' || function_name as name, parameters, "
        "if(function_type = 'table_macro', 'table ', '') || macro_definition from duckdb_functions() "
        "where database_name = 'published' and name in $names order by list_position($names, name)",
        {"names": [*names]},
    ).fetchall()
    for name, parameters, definition in macros:
        con.execute(f"create macro {name}({', '.join(parameters)}) as {definition}")
