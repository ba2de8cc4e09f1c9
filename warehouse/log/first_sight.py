"""The gate of first sight: a known chip far outside the prices of all providers, and a count that its name denies.

A first price has no last one to be compared with. `data/price_band.csv` has the range of each chip's price per
chip-hour; a price that moves out of it waits too, however it got there.
"""

import re
from functools import cache

import duckdb

from warehouse.log.db import insert_rows, sql
from warehouse.log.holds import Held
from warehouse.log.moves import FOR_PERSON
from warehouse.reference import price_bands
from warehouse.reference.accelerators import resolve, slice_chips
from warehouse.schema import tables
from warehouse.schema.vocabulary import MARKETPLACES

COUNTS = (
    re.compile(r"(?<![\w.])(?:gpu_)?(\d{1,2}) ?[x*\u00d7](?:[ _]?(?=[a-z])|$)", re.IGNORECASE),
    re.compile(r"^(\d{1,2}) ?(?=[A-Z]{1,3}\d{2,3}(?!\d))"),
    re.compile(r"(?<![\w.])(?<!= )(\d{1,2})[ -]?gpus?\b", re.IGNORECASE),
    re.compile(r"-(\d{1,2})-\d+G$"),
    re.compile(r" ?[x*\u00d7] ?(\d{1,2})(?=$|[-_])"),
    re.compile(r"-(\d{1,2})g$"),
)
"""How names say a count of chips: 8xH100 and gpu_8x_h100, 8H100.80S, B300-SXM-2-288G, "H100 x 8" and h100x8-640gb,
a3-highgpu-8g, "8 H100", "H100 (8 GPUs)"."""
TPU_SLICE = re.compile(r"(?<![a-z\d])(?:v|tpu[ -]?)(7x?|6e|5litepod|5e|5p|[234])-(\d{1,4})(?!\d)", re.IGNORECASE)
"""Names of slices of TPUs: version and number."""
PLACE = [name for name in tables.IDENTITY if name not in ("instance_type", "accelerator_label", "accelerator_count")]
ONE_PRICE = (
    "with n as (from differing_row anti join known_price using (row_number) where not is_past_gates), "
    "r as (select *, accelerator_count * accelerator_share as chips from observed_row inner join label_chip using "
    "(service_provider_name, accelerator_label) where accelerator_label in (from n select accelerator_label) and "
    "unit_price > 0 and row_number >= 0 and unit_price_type = 'List' and statistic = 'price' and coalesce(tier, '') "
    "not ilike '%marketplace%' and not list_contains($marketplaces, lower(service_provider_name))), "
    "o as (from r select row_number, min(chips) over w as fewest, max(chips) over w as most window w as (partition by "
    f"fetch_number, observed_at, accelerator_name, unit_price, upfront_price, {', '.join(PLACE)})) "
    "select row_number, fewest::DOUBLE, most::DOUBLE from o semi join n using (row_number) where fewest < most"
)
"""New offers of one chip, place and terms, of one answer, that cost the same whatever the number of chips."""
HGX_CHIPS = 8
"""Of the machine that NVIDIA calls HGX: https://www.nvidia.com/en-us/data-center/hgx/"""


def prepare(con: duckdb.DuckDBPyConnection) -> None:
    """Make `price_band`, `label_chip` and `last_rate` for the rows in `observed_row`."""
    con.execute(
        "create or replace temp table price_band "
        "(accelerator_name VARCHAR, purchase_option VARCHAR, limit_low DOUBLE, limit_high DOUBLE)"
    )
    insert_rows(con, "price_band", [each[:4] for each in price_bands.read_table()])
    con.execute(
        "create or replace temp table label_chip (service_provider_name VARCHAR, accelerator_label VARCHAR, "
        "accelerator_name VARCHAR, accelerator_share DECIMAL(10, 4))"
    )
    labels = con.execute(
        "with r as (from observed_row where not is_past_gates) from r select service_provider_name, accelerator_label "
        "union select service_provider_name, accelerator_label from core.offer "  # by which an import is judged
        "semi join (from r where starts_with(source, 'import:')) as i using (service_provider_name) order by all"
    ).fetchall()
    chips = [(provider, label, resolve(label, provider)) for provider, label in labels if label]
    known = [(*names, chip.accelerator_name, chip.accelerator_share) for *names, chip in chips if chip is not None]
    insert_rows(con, "label_chip", known)
    con.execute(
        "create or replace temp table last_rate as select pricing_currency, arg_max(usd_per_currency_unit, rate_date) "
        f"as usd from ({sql('usd_rate.sql')}) group by pricing_currency"
    )


def out_of_band(con: duckdb.DuckDBPyConnection) -> tuple[list[Held], list[Held]]:
    """Return the rows whose new price is outside its range: of offers without a price in the log, and with one."""
    new, known = list[Held](), list[Held]()
    found = con.execute(sql("load/out_of_band.sql"), {"marketplaces": list(MARKETPLACES)}).fetchall()
    for row_number, is_known, chip, option, price, low, high, charged_by in found:
        text = f"{price:.4g} USD per chip-hour of {chip}, {option.replace('_', ' ')}: outside {low:.4g} to {high:.4g}"
        whose = f", a third and 3 times what {charged_by} charges" if charged_by else " of all providers"
        (known if is_known else new).append(Held(row=row_number, reason=f"{text}{whose}; {FOR_PERSON}"))
    return new, known


def denied_counts(con: duckdb.DuckDBPyConnection) -> list[Held]:
    """Return the rows of new offers with a doubtful count of chips.

    Their answer has one price for several counts, as where prices per chip are taken for those of machines, or their
    name says another count.
    """
    found = {}
    if con.execute("from label_chip limit 1").fetchone():
        for row_number, fewest, most in con.execute(ONE_PRICE, {"marketplaces": list(MARKETPLACES)}).fetchall():
            reason = f"one price for {fewest:g} and {most:g} chips; {FOR_PERSON}"
            found[row_number] = Held(row=row_number, reason=reason)
    for row_number, machine, label, count, quantity in con.execute(
        "select r.row_number, r.instance_type, r.accelerator_label, r.accelerator_count, r.minimum_quantity "
        "from differing_row as r left join known_price as k on r.row_number = k.row_number "
        "where not r.is_past_gates and r.row_number >= 0 and k.row_number is null and r.accelerator_count is not null "
        "and r.service_provider_name <> 'AWS' order by r.row_number"
    ).fetchall():
        named = counts_in(machine, label)
        if named and not named & {count, quantity}:
            text = " or ".join(str(each) for each in sorted(named))
            reason = f"the name says {text} chip{'s' if named != {1} else ''}; {FOR_PERSON}"
            found[row_number] = Held(row=row_number, reason=reason, field="accelerator_count")
    return list(found.values())


@cache
def counts_in(machine: str | None, label: str | None) -> frozenset[int]:
    """Return the numbers of chips that the names of a machine and of its chips say; empty where they say none."""
    found = {int(number) for name in (machine, label) if name for each in COUNTS for number in each.findall(name)}
    for name in (machine, label):
        for version, number in TPU_SLICE.findall(name or ""):
            found |= slice_chips(version.lower(), int(number))
    if not found and machine and "HGX" in machine:
        found = {HGX_CHIPS}
    return frozenset(found - {0})
