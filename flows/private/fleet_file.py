"""A `fleet.csv`: what a user runs, one line for machines that are alike."""

from dataclasses import asdict, dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Any

from flows.private.entry import NONE, Entry, csv_entries
from flows.private.names import Names, Thing
from flows.shared.query import columns
from warehouse.errors import ChipledgerError
from warehouse.schema.vocabulary import OFFERING_CLASSES, PURCHASE_OPTIONS

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


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a fleet. The fields are the columns of the table `fleet_input`; None: the line does not say.

    Of `commitment_term_hours` 0, and of the words "none", mean that the offer must have none. `instance_type`,
    `accelerator_name` and `form_factor` are what `offer` is read to be; all None: nothing that is known.
    """

    line_number: int
    label: str | None
    service_provider_name: str
    offer: str
    instance_type: str | None
    accelerator_name: str | None
    form_factor: str | None
    accelerators_per_node: Decimal | None
    region_id: str | None
    availability_zone_id: str | None
    purchase_option: str
    commitment_discount_type: str | None
    commitment_term_hours: int | None
    purchase_payment_model: str | None
    offering_class: str | None
    tier: str | None
    nodes: Decimal
    share_of_use: float
    commitment_ends_on: date | None
    billed_list_cost: Decimal | None = None
    billed_contracted_cost: Decimal | None = None
    billed_effective_cost: Decimal | None = None
    billed_currency: str | None = None
    billed_hours: Decimal | None = None


LINE_COLUMNS = tuple(field.name for field in fields(Line))


def read(file: str, body: bytes, names: Names) -> list[Line]:
    """Return the lines of a fleet. Raises ChipledgerError, naming line, field and value, where one is not usable.

    A provider or machine that nobody here knows is no error: the line has no price, and says why.
    """
    entries = csv_entries(file, body, columns=COLUMNS, required=REQUIRED)
    if not entries:
        raise ChipledgerError("no line in it", source=file, field="file", hint="docs/fleet.md shows one")
    return [_line(entry, names) for entry in entries]


def _line(entry: Entry, names: Names) -> Line:
    from extract.observations import provider_named

    provider = entry.required("provider")
    provider = names.providers.get(provider_named(provider).lower(), provider)
    offer = entry.required("offer")
    thing = names.thing(offer, provider) or Thing()
    option = entry.one_of("option", PURCHASE_OPTIONS)
    nodes = entry.number("nodes", above=Decimal(0))
    if option is None or nodes is None:
        raise entry.error("option" if option is None else "nodes", "required")
    share = entry.number("share_of_use", most=Decimal(1))
    ends_on = entry.day("commitment_end")
    if ends_on is not None and option in PAID_WHEN_RUNNING:
        raise entry.error("commitment_end", f"{option} is no commitment", "Leave it empty, or name another option")
    amounts: dict[str, Any] = {name: entry.number(name) for name in BILLED_AMOUNTS}
    return Line(
        line_number=int(entry.place.removeprefix("line ")),
        label=entry.text("label"),
        service_provider_name=provider,
        offer=offer,
        **asdict(thing),
        accelerators_per_node=entry.number("accelerators_per_node", above=Decimal(0), most=Decimal(10_000)),
        region_id=entry.text("region"),
        availability_zone_id=entry.text("zone"),
        purchase_option=option,
        commitment_discount_type=entry.one_of("plan", (*PLANS, NONE)),
        commitment_term_hours=entry.term_hours("term"),
        purchase_payment_model=entry.payment("payment"),
        offering_class=entry.one_of("offering_class", (*OFFERING_CLASSES, NONE)),
        tier=entry.text("tier"),
        nodes=nodes,
        share_of_use=1.0 if share is None else float(share),
        commitment_ends_on=ends_on,
        **amounts,
        billed_currency=entry.text("billed_currency"),
    )
