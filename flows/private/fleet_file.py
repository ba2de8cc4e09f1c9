"""A `fleet.csv`: what a user runs, one line for machines that are alike; read, or written from AWS's bill."""

import csv
import glob
import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from flows.private.names import MEANINGS, NONE, VOCABULARY, Names, Thing, checked, rules, term_hours
from flows.shared import tabular
from flows.shared.output import plain
from flows.shared.query import columns, rows
from flows.shared.user_file import SMALL_BYTES
from reports import wording
from transform.private import select
from warehouse.errors import ChipledgerError
from warehouse.log.db import insert_rows
from warehouse.reference import instance_types, table
from warehouse.reference.table import Model, UserFile, Values
from warehouse.schema.vocabulary import OFFERING_CLASSES

REQUIRED = ("provider", "offer", "region", "option", "nodes")
BILLED_AMOUNTS = ("billed_list_cost", "billed_contracted_cost", "billed_effective_cost", "billed_hours")
BILLED = (*BILLED_AMOUNTS[:3], "billed_currency", "billed_hours")
"""What an export of costs states of a line: for comparison, never for a price."""
COLUMNS = columns(f"""
{", ".join(REQUIRED)}, share_of_use, commitment_end, label, accelerators_per_node, term, payment, plan, offering_class,
tier, zone, {", ".join(BILLED)}
""")
PLANS = ("Compute", "EC2Instance", "SageMaker")
PAID_WHEN_RUNNING = ("on_demand", "spot")
"""Purchase options that cost nothing while a machine is off; the others are paid whether used or not."""
TYPES: dict[str, Any] = dict.fromkeys(("provider", "offer", "option"), str) | {"nodes": Decimal}
TYPES |= dict.fromkeys(("share_of_use", "accelerators_per_node", *BILLED_AMOUNTS), Decimal | None)
TYPES |= {"commitment_end": date | None}
TYPES = {name: TYPES.get(name, str | None) for name in COLUMNS}
WORDS = {**VOCABULARY, "plan": (*PLANS, NONE), "offering_class": (*OFFERING_CLASSES, NONE)}
MODEL = Model(
    key="line",
    fields=TYPES,
    help="docs/fleet.md",
    advice="Correct the line",
    exact=False,
    closed=True,
    required=REQUIRED,
    may_be_zero=BILLED_AMOUNTS,
    free=("offering_class",),
    meanings={
        **MEANINGS,
        "nodes": "the number of machines, such as 6",
        "share_of_use": "the part of the time in which they run, from 0 to 1; empty: 1",
        "commitment_end": "the last day of the commitment, such as 2026-12-20",
    },
    rules=(
        *rules(TYPES, WORDS),
        table.Rule("accelerators_per_node", "above 10000", "accelerators_per_node <= 10000"),
        table.Rule(
            "commitment_end",
            "on demand and spot are no commitment: leave it empty, or name another option",
            f"commitment_end is null or option not in {PAID_WHEN_RUNNING}",
        ),
    ),
)

LINE_COLUMNS = columns("""
line_number, label, service_provider_name, offer, instance_type, accelerator_name, form_factor, accelerators_per_node,
region_id, availability_zone_id, purchase_option, commitment_discount_type, commitment_term_hours,
purchase_payment_model, offering_class, tier, nodes, share_of_use, commitment_ends_on, billed_list_cost,
billed_contracted_cost, billed_effective_cost, billed_currency, billed_hours
""")
Line = table.record(LINE_COLUMNS)
"""One line of a fleet, by the columns of the table `fleet_input`; None: the line does not say.

Of `commitment_term_hours` 0, and of the words "none", mean that the offer must have none. `instance_type`,
`accelerator_name` and `form_factor` are what `offer` is read to be; all None: nothing that is known."""


def read(file: str, body: bytes, names: Names) -> list[Any]:
    """Return the lines of a fleet. Raises ChipledgerError, naming line, field and value, where one is not usable.

    A provider or machine that nobody here knows is no error: the line has no price, and says why.
    """
    found = list(table.lines(UserFile(file, body), MODEL))
    if not found:
        raise ChipledgerError("no line in it", source=file, field="file", hint="docs/fleet.md shows one")
    return [_line(line, row, names) for line, row in zip(found, checked(found, WORDS), strict=True)]


def _line(line: table.Line, row: Values, names: Names) -> Any:
    provider = names.provider(row["provider"]) or row["provider"]
    share = row["share_of_use"]
    same = ("label", "offer", "accelerators_per_node", "offering_class", "tier", "nodes", *BILLED)
    return Line(
        **{name: row[name] for name in same},
        **asdict(names.thing(row["offer"], provider) or Thing()),
        line_number=int(line.place.split()[1]),
        service_provider_name=provider,
        region_id=row["region"],
        availability_zone_id=row["zone"],
        purchase_option=row["option"],
        commitment_discount_type=row["plan"],
        commitment_term_hours=term_hours(row["term"]),
        purchase_payment_model=row["payment"],
        share_of_use=1.0 if share is None else float(share),
        commitment_ends_on=row["commitment_end"],
    )


FIELDS: Mapping[str, Sequence[str]] = {
    "provider": ("ServiceProviderName", "ProviderName", "bill_billing_entity"),
    "service_category": ("ServiceCategory", "line_item_product_code"),
    "charge_category": ("ChargeCategory", "line_item_line_item_type"),
    "charge_class": ("ChargeClass",),
    "charge_period_start": ("ChargePeriodStart", "line_item_usage_start_date"),
    "charge_period_end": ("ChargePeriodEnd", "line_item_usage_end_date"),
    "region_id": ("RegionId", "product_region_code", "product_region"),
    "sku_meter": ("x_UsageType", "SkuMeter", "line_item_usage_type"),
    "sku_details": ("SkuPriceDetails",),
    "operation": ("x_Operation", "line_item_operation"),
    "capacity_status": ("CapacityReservationStatus",),
    "pricing_category": ("PricingCategory", "line_item_line_item_type"),
    "commitment_discount_type": ("CommitmentDiscountType", "savings_plan_offering_type"),
    "commitment_discount_status": ("CommitmentDiscountStatus",),
    "term": ("savings_plan_purchase_term", "pricing_lease_contract_length"),
    "payment": ("savings_plan_payment_option", "pricing_purchase_option"),
    "offering_class": ("pricing_offering_class",),
    "commitment_end_at": ("savings_plan_end_time", "reservation_end_time"),
    "resource_id": ("ResourceId", "line_item_resource_id"),
    "quantity": ("PricingQuantity", "ConsumedQuantity", "line_item_usage_amount"),
    "pricing_unit": ("PricingUnit", "ConsumedUnit"),
    "listed": ("ListCost", "pricing_public_on_demand_cost"),
    "contracted": ("ContractedCost", "line_item_net_unblended_cost", "line_item_unblended_cost"),
    "effective": ("EffectiveCost", "line_item_net_unblended_cost", "line_item_unblended_cost"),
    "plan_effective": ("savings_plan_net_savings_plan_effective_cost", "savings_plan_savings_plan_effective_cost"),
    "reserved_effective": ("reservation_net_effective_cost", "reservation_effective_cost"),
    "billing_currency": ("BillingCurrency", "line_item_currency_code"),
}
"""What is read of a charge, and the columns of FOCUS and of a Cost and Usage Report that may hold it, the first that
is filled in. Case and what is neither letter nor digit do not matter: lineItem/UsageType was a name before CUR 2.0."""
OPTIONAL = columns("""
charge_class, sku_details, operation, capacity_status, commitment_discount_type, commitment_discount_status, term,
payment, offering_class, commitment_end_at, plan_effective, reserved_effective, resource_id
""")
APART = re.compile(
    "subaccountid|lineitemusageaccountid|(lineitem)?availabilityzone|tags|resourcetags.*|costcategory.*"
    "|commitmentdiscountid|reservationreservationarn|savingsplansavingsplanarn"
)
"""Columns that tell charges apart which are alike otherwise: AWS adds up those that agree in all of them."""


class Imported(NamedTuple):
    """The lines of a fleet as an export shows them, and what of it was not read, by the reason."""

    lines: list[dict[str, Any]]
    left_out: list[dict[str, Any]]


def read_focus(*files: Path) -> Imported:
    """Return the machines with accelerators of the files of an export. Raises ChipledgerError where one is none."""
    with duckdb.connect() as con:
        con.execute("set timezone = 'UTC'")
        con.execute("create temp table accelerator_type (instance_type VARCHAR)")
        insert_rows(con, "accelerator_type", [(row.instance_type,) for row in instance_types.read_table()])
        for number, file in enumerate(files):
            if not file.is_file():
                raise ChipledgerError("not a regular file", source=file.name, field="file", hint="Save it first")
            _load_focus(con, file, number)
        # Half a period more than there is: a start is paid for a minute at least.
        twice = (
            "select 1 from focus_charge where reason is null group by resource_id, starts_at, ends_at "
            "having resource_id is not null and sum(hours) > 1.5 * epoch(ends_at - starts_at) / 3600 "
            "union all select 1 from focus_charge where reason is null "
            "group by kind, apart, resource_id, starts_at, ends_at, hours having count(distinct file) > 1 "
            # An hour of one file within the day of another.
            f"union all select 1 from focus_charge where reason is null and {len(files)} > 1 "
            "window before as (partition by resource_id, if(resource_id is null, hash(kind, apart), 0) "
            "order by starts_at, ends_at desc rows between unbounded preceding and 1 preceding) "
            "qualify starts_at < max(ends_at) over before and file <> arg_max(file, ends_at) over before "
            "and (ends_at, starts_at) <> (max(ends_at) over before, arg_max(starts_at, ends_at) over before) "
            # Files of a month that name machines, and others that do not.
            "union all select 1 from focus_charge where reason is null group by kind, apart, month(starts_at), "
            "year(starts_at) having count(resource_id) not in (0, count(*)) and count(distinct file) = count(distinct "
            "if(resource_id is null, file, null)) + count(distinct if(resource_id is null, null, file))"
        )
        if con.execute(twice).fetchone():
            hint = "Name one delivery of each month, one format, by the hour or by the day, with ResourceId or without"
            raise ChipledgerError("hours of a machine twice", source=files[-1].name, field="file", hint=hint)
        left_out = rows(
            con,
            "select reason, count(*) as n_charges, sum(list_amount) as list_cost, "
            "sum(contracted_amount) as contracted_cost, sum(effective_amount) as effective_cost, kind.billed_currency "
            "as billing_currency from focus_charge where reason is not null group by all order by all",
        )
        return Imported([row.pop("kind") | row for row in rows(con, select("focus_fleet"))], left_out)


def _left_out(row: Mapping[str, Any]) -> str:
    cost = f" of {plain(row['effective_cost'])} {row['billing_currency']}" if row["effective_cost"] else ""
    return f"{wording.count(row['n_charges'], 'charge')}{cost}: {row['reason']}"


def write(imported: Imported, out: Path, *, label: str, force: bool) -> None:
    """Write a fleet file, readable by its owner only. Raises ChipledgerError where there is nothing, or a file."""
    if not imported.lines:
        hint = "; ".join(map(_left_out, imported.left_out))
        raise ChipledgerError("no hours of a machine with accelerators in it", source=label, field="file", hint=hint)

    def save(part: Path) -> int:
        rows = ([(row | {"label": label}).get(name) for name in COLUMNS] for row in imported.lines)
        with part.open("w", encoding="utf-8", newline="") as target:
            return tabular.write_csv(COLUMNS, rows, target)

    tabular.put(out, save, force=force, private=True)


def _load_focus(con: duckdb.DuckDBPyConnection, file: Path, number: int) -> None:
    """Put the charges of a file of an export, read as text, once, into focus_charge; the first one is number 0."""
    try:
        bill = _opened(con, file).project("nullif(trim(columns(*)::VARCHAR), '')")
        there = {_letters(column): '"' + column.replace('"', '""') + '"' for column in bill.columns}
        chosen = {
            name: [there[letters] for letters in map(_letters, known) if letters in there]
            for name, known in FIELDS.items()
        }
        which = -1 if "lineitemusagetype" in there else 0
        absent = [FIELDS[name][which] for name, found in chosen.items() if not found and name not in OPTIONAL]
        whose = f"coalesce({', '.join([*chosen['provider'], 'null::VARCHAR'])})"
        is_of_others = f"bool_and({whose} not ilike 'aws%' and {whose} not ilike 'amazon%')"
        if absent and bill.aggregate(is_of_others).fetchone() != (True,):
            message = "no bill of AWS in columns of FOCUS or CUR 2.0"
            hint = "These are missing. Export the table FOCUS 1.2 with AWS columns, or CUR 2.0, of AWS Data Exports"
            raise ChipledgerError(message, source=file.name, field="columns", value=", ".join(absent), hint=hint)
        picked = ", ".join(f"coalesce({', '.join([*chosen[name], 'null::VARCHAR'])}) as {name}" for name in FIELDS)
        apart = ", ".join(there[letters] for letters in sorted(there) if APART.fullmatch(letters))
        bill.project(f"{picked}, {number} as file, hash([{apart}]::VARCHAR[]) as apart").create_view("focus_row")
        into = "insert into focus_charge" if number else "create temp table focus_charge as"
        con.execute(f"{into}\n{select('focus_charge')}")
    except (duckdb.Error, csv.Error, OSError) as error:
        value = " ".join(line for line in str(error).splitlines()[:3] if not line.startswith("Original Line"))
        hint = "Give a .csv, .csv.gz or .parquet in UTF-8, its lines ended alike, in columns of FOCUS or CUR 2.0"
        raise ChipledgerError("cannot be read", source=file.name, field="file", value=value, hint=hint) from error


def _opened(con: duckdb.DuckDBPyConnection, file: Path) -> duckdb.DuckDBPyRelation:
    """Return the rows of a file, a CSV's as its first line says.

    Where DuckDB finds out itself what a CSV is, it passes over the lines of a table that another one follows.
    """
    name = glob.escape(str(file))
    if file.suffix.lower() == ".parquet":
        return con.read_parquet(name)
    opened = gzip.open if file.suffix.lower() == ".gz" else open
    with opened(file, "rt", encoding="utf-8-sig", errors="replace") as lines:
        header = lines.readline(SMALL_BYTES)
    delimiter = max(",;\t", key=header.count)
    names = [_letters(column) or "unnamed" for column in next(csv.reader([header], delimiter=delimiter)) or [""]]
    types = dict.fromkeys(tabular.distinct(names), "VARCHAR")
    form: dict[str, Any] = {"delimiter": delimiter, "quotechar": '"', "escapechar": '"', "header": True}
    return con.read_csv(name, auto_detect=False, columns=types, **form)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())
