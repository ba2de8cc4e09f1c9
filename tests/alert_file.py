"""A file of those tables alone that alerts are read from, made from a few words, without a warehouse behind it."""

import functools
import tempfile
from collections.abc import Iterable
from pathlib import Path

import duckdb
from looks import day

from warehouse.log.events import naive

SOURCES = (("runpod", "live", 72), ("lambda", "live", 72), ("import:x", "import", None), ("offline", "archive", None))
TABLES = """
create schema meta; create schema core; create schema int;
create table meta.build (built_at timestamp);
create table core.source (source varchar, kind varchar, max_age_hours integer);
create table int.price_change (
    offer_id bigint, observed_at timestamp, change_kind varchar, change_ratio double, service_provider_name varchar,
    instance_type varchar, accelerator_name varchar, accelerator_count decimal(10, 4), region_id varchar,
    purchase_option varchar, commitment_term_hours integer, purchase_payment_model varchar, tier varchar,
    pricing_currency varchar, effective_hourly_price_before double, effective_hourly_price_after double,
    source varchar, source_before varchar, reason varchar
);
create table int.accelerator_hour_price (
    offer_id bigint, service_provider_name varchar, instance_type varchar, accelerator_name varchar,
    form_factor varchar, accelerator_label varchar, is_current boolean, valid_from timestamp, source varchar
);
create table int.source_health (
    source varchar, kind varchar, scope varchar, last_good_at timestamp, error varchar
);
create table int.claim_audit (
    claim_id varchar, verdict_today varchar, article varchar, metric varchar, claimed varchar, recomputed_value double,
    evidence_until date
);
"""

Move = tuple[float, str, float, float]
"""Day, chip, price before and price after."""


def write(
    folder: Path,
    at: float,
    *,
    moves: Iterable[Move] = (),
    chips: Iterable[str] = ("H100", "H200", "B200"),
    health: Iterable[tuple[str, str, float | None]] = (),
    claims: dict[str, str] | None = None,
    kind: str = "list_change",
    source: str = "runpod",
    source_before: str | None = None,
    current: bool = True,
    provider: str = "RunPod",
    evidence: float = 0,
) -> Path:
    """Write prices.duckdb as built on a day; `evidence` is how many days before that the claims' prices were seen."""
    file = folder / "prices.duckdb"
    file.write_bytes(_empty())
    with duckdb.connect(str(file)) as con:
        con.execute("begin")
        con.execute("insert into meta.build values (?)", [naive(day(at))])
        for number, (moved_on, chip, before, after) in enumerate(moves):
            con.execute(
                "insert into int.price_change by name select ? as offer_id, ?::timestamp as observed_at, ? as "
                "change_kind, ? as change_ratio, ? as service_provider_name, ? as accelerator_name, 1 as "
                "accelerator_count, 'on_demand' as purchase_option, 'USD' as pricing_currency, ? as "
                "effective_hourly_price_before, ? as effective_hourly_price_after, ? as source, ? as source_before",
                [number, naive(day(moved_on)), kind, after / before - 1, provider, chip, before, after, source,
                 source_before or source],
            )  # fmt: skip
            con.execute(PRICE, [number, provider, chip, current, naive(day(moved_on)), source])
        for number, chip in enumerate(chips, start=1000):
            con.execute(PRICE, [number, provider, chip, current, naive(day(at)), source])
        for name, scope, last in health:
            seen = None if last is None else naive(day(last))
            con.execute("insert into int.source_health values (?, 'live', ?, ?, 'HTTP 503')", [name, scope, seen])
        for claim_id, verdict in (claims or {}).items():
            con.execute(
                "insert into int.claim_audit values (?, ?, 'article.md', 'price', '98.32', 55.04, ?)",
                [claim_id, verdict, day(at - evidence).date()],
            )
        con.execute("commit")
    return file


@functools.cache
def _empty() -> bytes:
    """Return the file with its tables and sources alone."""
    with tempfile.TemporaryDirectory() as folder:
        with duckdb.connect(f"{folder}/empty.duckdb") as con:
            con.execute(TABLES)
            con.executemany("insert into core.source values (?, ?, ?)", SOURCES)
        return Path(folder, "empty.duckdb").read_bytes()


PRICE = (
    "insert into int.accelerator_hour_price by name select ? as offer_id, ? as service_provider_name, "
    "? as accelerator_name, ? as is_current, ?::timestamp as valid_from, ? as source"
)
