"""The log that years of daily runs would have left, made by a seeded generator straight into the writer's file.

Offers are those of some AWS types in many regions under each purchase option, and of neoclouds; one look a day at each
scope, each with a document; an event where a price changed. RATES are the shares of prices that change a day: with the
kinds' shares of all prices, 1 % together. Prices, regions and neoclouds' machines are made up, as are their moves.
"""

import hashlib
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from extract import source_named
from warehouse.frames import shown
from warehouse.log import db
from warehouse.log.events import naive
from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch
from warehouse.reference import instance_types, price_bands
from warehouse.reference.accelerators import resolve
from warehouse.schema.tables import observation_schema

SEED = 20261121
LAST_DAY = datetime(2026, 11, 20, 6, tzinfo=UTC)
AREAS = ("us", "eu", "ap", "ca", "sa", "me", "af", "il", "mx")
SIDES = ("east", "west", "central", "south", "north")
REGIONS = tuple(f"{area}-{side}-{n}" for area in AREAS for side in SIDES for n in (1, 2))
CLOUDS = ("lambda", "nebius", "runpod", "verda", "crusoe", "scaleway", "ovh", "vultr", "together", "hyperstack")
CHIPS = ("H100 SXM", "A100 80GB", "H200", "B200", "L40S", "RTX 4090", "A10", "L4")
FIRST_TYPES = ("p5.48xlarge", "p5en.48xlarge", "p4d.24xlarge", "trn1.32xlarge", "trn2.48xlarge", "inf2.48xlarge")
"""Of all AWS types those that the market has first; as many others as TYPES say follow in the order of their names."""
TYPES = 36
RATES = {"spot": 0.060, "cloud": 0.025, "list": 0.0019}


@dataclass
class Market:
    """All prices of one day. `offers` has the columns of an observation, `source`, `scope`, `rate` and `price`."""

    offers: pl.DataFrame
    dice: random.Random
    factor: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.factor = [1.0] * len(self.offers)

    def turn(self) -> int:
        """Move on by a day; return how many prices changed."""
        n_moved = 0
        for place, rate in enumerate(self.offers["rate"]):
            if self.dice.random() < rate:
                self.factor[place] = self.dice.uniform(0.85, 1.15)
                n_moved += 1
        return n_moved

    def looks(self, observed_at: datetime) -> list[ParsedFetch]:
        """Return one complete look at each scope, with a document each."""
        amount = (pl.col("price") * pl.Series(self.factor)).round(4).cast(pl.Decimal(18, 4)).cast(pl.String)
        priced = self.offers.with_columns(unit_price=amount)
        found = []
        for (source, scope), rows in priced.group_by("source", "scope", maintain_order=True):
            sha256 = hashlib.sha256(f"{source}|{scope}|{observed_at:%Y-%m-%d}".encode()).hexdigest()
            found.append(
                ParsedFetch(
                    run_id=f"growth-{observed_at:%Y%m%d}", source=str(source), scope=str(scope),
                    observed_at=observed_at, complete=True, archived=False, document_sha256=sha256,
                    rows=rows.select(*observation_schema(), document_sha256=pl.lit(sha256)),
                )
            )  # fmt: skip
        return found


def market(n_prices: int) -> Market:
    """Return so many offers: a tenth of neoclouds, and of AWS a tenth spot and the rest lists and commitments."""
    dice = random.Random(SEED)  # noqa: S311 (a made-up market, the same each time)
    rows = _cloud_rows(dice, n_prices // 10)
    named = {
        row.instance_type: _usual(row.accelerator_name) * float(row.accelerator_count)
        for row in instance_types.read_table()
        if row.capacity_unit == "instance"
    }
    types = [*FIRST_TYPES, *sorted(named.keys() - set(FIRST_TYPES))][:TYPES]
    for region, instance_type in product(REGIONS, types):
        if len(rows) >= n_prices:
            break
        rows += _aws_rows(instance_type, region, named[instance_type] * dice.uniform(0.7, 1.4))
    schema = {**observation_schema(), "source": pl.String, "scope": pl.String, "rate": pl.Float64, "price": pl.Float64}
    filled = [{name: row.get(name) for name in schema} for row in rows[:n_prices]]
    return Market(pl.DataFrame(filled, schema=schema).with_columns(pl.col("price").round(4)), dice)


def _usual(chip: str) -> float:
    """Return a price per chip-hour in the middle of the range in which the gates let a chip's first price be."""
    low, high = _bands().get((chip, "on_demand"), (1, 1))
    return float(low * high) ** 0.5


@cache
def _bands() -> dict[tuple[str, str], tuple[Decimal, Decimal]]:
    return {each[:2]: each[2:4] for each in price_bands.read_table()}


BASE = {"statistic": "price", "pricing_currency": "USD", "unit_price_type": "List", "capacity_unit": "instance"}


def _cloud_rows(dice: random.Random, n_rows: int) -> list[dict[str, Any]]:
    rows = []
    for n in range(n_rows):
        source, place = CLOUDS[n % len(CLOUDS)], n // len(CLOUDS)
        label, count = CHIPS[place % len(CHIPS)], (1, 2, 4, 8)[place // len(CHIPS) % 4]
        chip = resolve(label, source_named(source).provider)
        price = _usual(chip.accelerator_name if chip else "") * count * dice.uniform(0.7, 1.4)
        rows.append(
            BASE | {
                "source": source, "scope": "all", "rate": RATES["cloud"], "price": price,
                "service_provider_name": source_named(source).provider, "instance_type": f"vm-{place}",
                "accelerator_label": label, "region_id": f"r{place % 7}",
                "accelerator_count": str(count), "purchase_option": "on_demand",
            }
        )  # fmt: skip
    return rows


def _aws_rows(instance_type: str, region: str, price: float) -> list[dict[str, Any]]:
    """Return on-demand, 12 Reserved, 12 Savings Plan and 3 spot prices of one type in one region."""
    aws = BASE | {
        "service_provider_name": "AWS", "instance_type": instance_type, "region_id": region, "scope": region,
        "rate": RATES["list"], "source": "aws_price_list", "price": price,
    }  # fmt: skip
    rows = [aws | {"purchase_option": "on_demand"}]
    for hours, share in ((8760, 0.7), (26280, 0.5)):
        term = {"commitment_term_hours": hours, "price": price * share, "purchase_payment_model": "No Upfront"}
        # The tier stands for payment models, which have fees of their own.
        for tier in (None, "a", "b"):
            rows += [
                aws | term | {"purchase_option": "reserved", "commitment_discount_type": "Reserved",
                              "offering_class": offering_class, "tier": tier}
                for offering_class in ("standard", "convertible")
            ]  # fmt: skip
            rows += [
                aws | term | {"purchase_option": "savings_plan", "commitment_discount_type": plan, "tier": tier,
                              "source": "aws_savings_plans"}
                for plan in ("Compute", "EC2Instance")
            ]  # fmt: skip
    spot = {"purchase_option": "spot", "price": price * 0.4, "source": "aws_spot", "rate": RATES["spot"]}
    return rows + [aws | spot | {"availability_zone": f"{region}{zone}"} for zone in "abc"]


MOVES = """
create or replace temp table move as
with priced as (
    select
        p.*,
        o.offer_id,
        case when o.purchase_option = 'spot' then $spot when o.service_provider_name <> 'AWS' then $cloud else $list end
            as rate
    from log.price_open as p
    inner join core.offer as o on p.offer_no = o.offer_no
),

moved as (
    select
        p.offer_no,
        p.source,
        p.scope,
        $first::TIMESTAMP + to_days(d.n::INTEGER) as observed_at,
        (p.unit_price * (0.85 + 0.3 * (hash(p.offer_id, d.n, 'price') / 18446744073709551615)))::DECIMAL(18, 4)
            as unit_price,
        p.unit_price as first_price,
        p.fetch_no as first_no
    from range(1, $days) as d (n)
    cross join priced as p
    where hash(p.offer_id, d.n, 'moves') / 18446744073709551615 < p.rate
),

-- A price that repeats the one before is none.
changed as (
    select *
    from moved
    window w as (partition by offer_no, source order by observed_at)
    qualify unit_price <> lag(unit_price, 1, first_price) over w
)

select
    c.offer_no,
    c.source,
    c.scope,
    c.observed_at,
    f.fetch_no,
    c.unit_price,
    f.recorded_at,
    lag(f.fetch_no, 1, c.first_no) over w as fetch_no_before,
    lag(c.unit_price, 1, c.first_price) over w as price_before,
    lead(f.fetch_no) over w is null as is_last
from changed as c
inner join log.scope_fetch as f on c.source = f.source and c.scope = f.scope and c.observed_at = f.observed_at
window w as (partition by c.offer_no, c.source order by c.observed_at);

insert into log.price_closed by name
select
    offer_no,
    fetch_no_before as fetch_no,
    fetch_no as end_fetch_no,
    price_before as unit_price
from move
order by end_fetch_no, offer_no;

update log.price_open as p
set fetch_no = m.fetch_no, valid_from = m.observed_at, recorded_at = m.recorded_at, unit_price = m.unit_price
from move as m
where m.is_last and p.offer_no = m.offer_no and p.source = m.source
"""
"""Which prices move on which day, and where to, by hashes: the same on each machine, whatever the number of threads."""


def add_moves(con: duckdb.DuckDBPyConnection, first: datetime, days: int) -> None:
    """Let the open prices move on each of so many days after the first, whose fetches the log has."""
    made, *others = MOVES.split(";")
    con.execute(made, {"first": naive(first), "days": days, **RATES})
    for statement in others:
        con.execute(statement)


def make(folder: Path, *, n_prices: int, years: int) -> None:
    """Make `build.duckdb` in a folder: the log that daily runs of so many years would have left."""
    days = 365 * years
    first = LAST_DAY - timedelta(days=days)
    looks = market(n_prices).looks(first)
    with db.writer(folder) as con:
        add_documents(con, looks, first, 1)
        load(con, looks, recorded_at=first)
        add_documents(con, looks, first + timedelta(days=1), days - 1, with_looks=True)
        add_moves(con, first, days)


DAYS = """
create or replace temp table look as
select
    l.*,
    d.observed_at,
    d.observed_at + interval 5 minutes as recorded_at,
    strftime(d.observed_at, '%Y%m%d') as day,
    sha256(l.source || '|' || l.scope || '|' || d.observed_at::DATE::VARCHAR) as document_sha256,
    (row_number() over (order by d.observed_at, l.source, l.scope))::INTEGER as place,
    (select coalesce(max(document_no), 0) from log.document)::INTEGER as last_document_no,
    (select coalesce(max(fetch_no), 0) from log.scope_fetch)::INTEGER as last_fetch_no
from (select ?::TIMESTAMP + to_days(n::INTEGER) as observed_at from range(?) as r (n)) as d
cross join looked as l
order by d.observed_at, l.source, l.scope
"""


def add_documents(
    con: duckdb.DuckDBPyConnection, looks: list[ParsedFetch], first: datetime, days: int, *, with_looks: bool = False
) -> None:
    """Write a document a day for each look, over so many days, and the good looks themselves if asked for."""
    looked = pl.DataFrame(
        [(look.source, look.scope, len(look.rows)) for look in looks],
        schema=["source", "scope", "n_rows"], orient="row",
    )  # fmt: skip
    with shown(con, "looked", looked):
        con.execute(DAYS, [naive(first), days])
        con.execute(
            "insert into log.document by name select last_document_no + place as document_no, document_sha256, source, "
            "scope, 'https://prices.example/' || source "
            "|| '/' || scope || '/' || day as url, observed_at as fetched_at, n_rows * 120 as size_bytes, recorded_at "
            "from look"
        )
        if with_looks:
            con.execute(
                "insert into log.scope_fetch by name select last_fetch_no + place as fetch_no, 'growth-' || day as "
                "run_id, source, scope, observed_at, true as complete, false as archived, 'ok' as status, "
                "n_rows::INTEGER as n_rows, 0 as n_refused, last_document_no + place as document_no, recorded_at "
                "from look"
            )


def last_prices(con: duckdb.DuckDBPyConnection, today: Market) -> None:
    """Bring a market to the prices that the log has of each offer last, and let its next day have moves of its own."""
    today.dice.seed(str(con.execute("select max(observed_at) from log.scope_fetch").fetchone()))
    keys = [
        "source", "instance_type", "region_id", "availability_zone", "purchase_option", "commitment_discount_type",
        "commitment_term_hours", "offering_class", "tier", "accelerator_label",
    ]  # fmt: skip
    last = con.execute(
        f"select {', '.join(keys)}, p.unit_price::DOUBLE as last_price "
        "from log.price_open as p inner join core.offer as o on p.offer_no = o.offer_no"
    ).pl()
    last = last.with_columns(pl.col("commitment_term_hours").cast(pl.Int64))
    found = today.offers.select(keys).join(last, on=keys, how="left", nulls_equal=True, maintain_order="left")
    today.offers = today.offers.with_columns(price=found["last_price"])
