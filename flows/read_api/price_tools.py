"""The tools of the read API for prices: latest, past and cheapest, each purchase option in a list of its own."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from flows.decisions.break_even_sides import CAPACITIES, COMMITMENTS
from flows.read_api.published_file import Book, Row, cut, did_you_mean, similar, wrong
from flows.shared.query import columns
from warehouse.reference import accelerators
from warehouse.reference.accelerators import Chip
from warehouse.schema.vocabulary import PURCHASE_OPTIONS

Name = Annotated[str, Field(min_length=1, max_length=100)]
Text = Annotated[str, Field(max_length=1000)]
Limit = Annotated[int, Field(ge=1, le=50, description="Max rows of each list")]
Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PurchaseOption = Literal[PURCHASE_OPTIONS]  # type: ignore[valid-type]
CommitmentClass = Literal[("none", "interruptible", *COMMITMENTS)]  # type: ignore[valid-type]
CapacityClass = Literal[CAPACITIES]  # type: ignore[valid-type]

CHIP = "A chip by any common name, such as H100, H100 SXM or Trainium2"
AnyChip = Annotated[Name | None, Field(description=CHIP)]
Machine = Annotated[Name | None, Field(description="A machine by the provider's own name, such as p5.48xlarge")]
Provider = Annotated[Name | None, Field(description="Who sells it, such as AWS")]
Region = Annotated[Name | None, Field(description="A region in the provider's own code, such as us-east-1")]
Option = Annotated[PurchaseOption | None, Field(description="How it is bought; never mixed in one list")]
Capacity = Annotated[
    CapacityClass | None, Field(description="What is bought at once; a node is a machine of eight chips or more")
]

OFFER = """
offer_id, service_provider_name, host_provider_name, region_id, availability_zone_id, instance_type, accelerator_name,
form_factor, accelerator_count, accelerator_memory_gib, capacity_unit, capacity_class, minimum_quantity, fabric,
purchase_option, commitment_discount_type, commitment_term_hours, purchase_payment_model, offering_class, tier,
restriction, statistic, conditions, unit_price_type, contract_id, pricing_currency, pricing_unit
"""
"""Columns of core.offer and core.offer_unit."""
LATEST = """
unit_price, upfront_price, effective_hourly_price, price_per_accelerator_hour, price_per_accelerator_hour_usd,
usd_per_currency_unit, fx_rate_date, source, valid_from, last_changed_at, last_observed_at, is_current, document_sha256
"""
PAST = """
offer_id, valid_from, valid_to, last_observed_at, unit_price, upfront_price, effective_hourly_price, source,
last_source, document_sha256
"""
TERMS = "accelerator_name, form_factor, purchase_option, commitment_class, capacity_class"
MARKET = """
service_provider_name, host_provider_name, tier, fabric, region_id, instance_type, cheapest_price_usd,
median_price_usd, dearest_price_usd, statistic, price_per_accelerator_hour, pricing_currency, fx_rate_date, n_offers,
n_current, n_machines, n_accelerators, stock_status, source, valid_from, last_observed_at, is_current, is_ranked,
price_rank, age_days, document_sha256, offer_id
"""

IS_OF = (
    "($chip::VARCHAR is null or accelerator_name = $chip) "
    "and ($form::VARCHAR is null or form_factor = $form) "
    "and ($instance_type::VARCHAR is null or instance_type = $instance_type) "
    "and ($provider::VARCHAR is null or service_provider_name = $provider) "
    "and ($region::VARCHAR is null or region_id = $region) "
    "and ($purchase_option::VARCHAR is null or purchase_option = $purchase_option)"
)
"""Whether an offer is one of those that a filter names."""
OFFERS = (
    "(select * exclude (accelerator_count) from core.offer) inner join "
    "(select offer_id, accelerator_name, form_factor, accelerator_memory_gib, accelerator_count, capacity_class "
    "from core.offer_unit) using (offer_id)"
)
"""Each offer with what a unit of it is."""
IN_DOUBT = """
select offer_id, max(observed_at) as observed_at, arg_max(reason, observed_at) as reason
from (
    select
        quarantine_id,
        arg_max(offer_id, recorded_at) as offer_id,
        arg_max(observed_at, recorded_at) as observed_at,
        arg_max(reason, recorded_at) as reason
    from core.quarantine group by quarantine_id having count(decision) = 0
)
where list_contains($offers, offer_id)
group by offer_id
"""


class Filter(NamedTuple):
    """The values of IS_OF."""

    chip: str | None = None
    form: str | None = None
    instance_type: str | None = None
    provider: str | None = None
    region: str | None = None
    purchase_option: str | None = None

    @property
    def read_as(self) -> Row:
        """Return how names were read, where there are any."""
        return {"read_as": {name: value for name, value in self._asdict().items() if value is not None}}


def latest_price(
    book: Book,
    chip: AnyChip = None,
    instance_type: Machine = None,
    provider: Provider = None,
    region: Region = None,
    purchase_option: Option = None,
    limit: Limit = 10,
) -> Row:
    """Return the last known price of each offer of a chip or machine, by purchase option.

    With amount, price per chip-hour, source, document, when it was last confirmed and whether it is current.
    """
    which = _filter(book, chip, instance_type, provider, region, purchase_option)
    found = book.rows(f"select {OFFER}, {LATEST} from int.accelerator_hour_price where {IS_OF}", which._asdict())
    book.as_of_now(found)
    for row in found:
        _explain(row)
    # Within one option: what anybody can have now at a stated price first; `cheapest` ranks by price.
    found.sort(
        key=lambda row: (
            not row["is_current"],
            row["restriction"] is not None,
            row["statistic"] != "price",
            row["service_provider_name"],
            row["region_id"] or "",
            row["offer_id"],
        )
    )
    lists = []
    for (option, kind), rows in sorted(by(found, "purchase_option", "unit_price_type").items()):
        counts = {"n_prices": len(rows), "n_current": sum(row["is_current"] for row in rows)}
        shown, truncated = cut(rows, limit)
        head = {"purchase_option": option, "unit_price_type": kind}
        lists.append({**head, **counts, "prices": shown, "truncated": truncated})
    _add_doubt(book, [row for each in lists for row in each["prices"]])
    return {
        "asked": which.read_as,
        "units": book.units(["int.accelerator_hour_price"], OFFER, LATEST),
        "purchase_options": lists,
        "unknown": _unpriced(book, which, found) + _left_out(book, which),
    }


def price_history(
    book: Book,
    chip: AnyChip = None,
    instance_type: Machine = None,
    provider: Provider = None,
    region: Region = None,
    purchase_option: Option = None,
    offer_id: Annotated[int | None, Field(ge=0, description="One offer, by the offer_id of another answer")] = None,
    since: Annotated[date | None, Field(description="First day, UTC")] = None,
    until: Annotated[date | None, Field(description="Last day, UTC")] = None,
    limit: Limit = 10,
) -> Row:
    """Return how the price of each offer of a chip or machine changed over time under one purchase option."""
    if since and until and since > until:
        raise wrong("since is after until", "since", since.isoformat())
    if offer_id is None and purchase_option is None:
        raise wrong("name the purchase option, or one offer", "purchase_option", "", "offer_id names one offer")
    names = chip, instance_type, provider, region, purchase_option
    which = _filter(book, *names, needs_one=offer_id is None)
    offers = book.rows(
        f"select {OFFER} from {OFFERS} left join "
        "(select offer_id, max(last_observed_at) as newest from int.price_history group by offer_id) using (offer_id) "
        f"where ($offer_id::BIGINT is null or offer_id = $offer_id) and {IS_OF} "
        "order by newest desc nulls last, offer_id",
        {**which._asdict(), "offer_id": offer_id},
    )
    if offer_id is not None and not offers:
        raise wrong("the file has no such offer", "offer_id", offer_id)
    shown, truncated = cut(offers, limit)
    end = datetime.combine(until, time()) + timedelta(days=1) if until else None
    prices = book.rows(
        f"select {PAST}, valid_to is null and unit_price is not null as is_current "
        "from int.price_history where list_contains($offers, offer_id) "
        "and ($since::TIMESTAMP is null or valid_to is null or valid_to > $since::TIMESTAMP) "
        "and ($end::TIMESTAMP is null or valid_from < $end::TIMESTAMP) order by offer_id, valid_from",
        {"offers": [offer["offer_id"] for offer in shown], "since": since, "end": end},
    )
    book.as_of_now(prices, source="last_source")
    of_offer = by(prices, "offer_id")
    for row in prices:
        del row["offer_id"]
        if row["unit_price"] is None and row["upfront_price"] is None:
            row.setdefault("unknown", {})["unit_price"] = "the offer was gone"
    return {
        "asked": which.read_as,
        "units": book.units(["core.offer", "core.offer_unit", "int.price_history"], OFFER, PAST),
        "series": [{"offer": offer, **_points(of_offer.get((offer["offer_id"],), []), limit * 20)} for offer in shown],
        "truncated": truncated,
        "unknown": _left_out(book, which) if offer_id is None else [],
    }


def cheapest(
    book: Book,
    chip: Annotated[Name, Field(description=CHIP)],
    purchase_option: Option = None,
    commitment_class: CommitmentClass | None = None,
    capacity_class: Capacity = None,
    provider: Provider = None,
    limit: Limit = 3,
) -> Row:
    """Return the cheapest providers of a chip per chip-hour in US dollars.

    A list for each purchase option, commitment and size of purchase; what is not current is listed apart.
    """
    which = _filter(book, chip, None, provider, None, purchase_option)
    found = book.rows(
        f"select {TERMS}, {MARKET}, is_floor from int.provider_price where {IS_OF} "
        "and ($commitment::VARCHAR is null or commitment_class = $commitment) "
        "and ($capacity::VARCHAR is null or capacity_class = $capacity) "
        "order by price_rank nulls last, age_days, offer_id",
        {**which._asdict(), "commitment": commitment_class, "capacity": capacity_class},
    )
    book.as_of_now(found)
    lists = []
    for terms, rows in sorted(by(found, *columns(TERMS)).items(), key=lambda each: tuple(map(str, each[0]))):
        for row in rows:
            for name in columns(TERMS):
                del row[name]
        floors = [row for row in rows if row.pop("is_floor")]
        priced = [row for row in rows if row not in floors and row["cheapest_price_usd"] is not None]
        ranked = [row for row in priced if row["price_rank"] is not None]
        parts = {
            "ranked": ranked,
            "not_ranked": [row for row in priced if row["price_rank"] is None],
            "from_prices": floors,
            "median_only": [row for row in rows if row not in floors and row["cheapest_price_usd"] is None],
        }
        # What is beyond the limit of age matters where nothing is within it.
        shown = {name: cut(part, 0 if name == "not_ranked" and ranked else limit) for name, part in parts.items()}
        lists.append(
            {
                **dict(zip(columns(TERMS), terms, strict=True)),
                "cheapest_price_usd": ranked[0]["cheapest_price_usd"] if ranked else None,
                "unknown": {} if ranked else {"cheapest_price_usd": _why_none(parts)},
                **{f"n_{name}": len(part) for name, part in parts.items()},
                **{name: part for name, (part, _) in shown.items()},
                "truncated": {name: truncated for name, (_, truncated) in shown.items() if truncated} or None,
            }
        )
    _add_doubt(book, [row for each in lists for name in ("ranked", "not_ranked") for row in each[name]])
    return {
        "asked": which.read_as,
        "units": book.units(["int.provider_price"], TERMS, MARKET),
        "lists": lists,
        "unknown": _unpriced(book, which, found) + _left_out(book, which),
        "notes": [
            "from_prices are the least that anybody pays, and nobody may be offered them",
            "median_only are marketplaces that publish no cheapest price",
            "of several regions the cheapest; latest_price answers for one region",
        ],
    }


def _chip(text: str) -> Chip:
    """Return the whole chip that a text names. Raises ChipledgerError for anything else."""
    found = accelerators.resolve(text)
    if found is None:
        names: dict[str, str] = {}
        for each in accelerators.read_table():
            names |= dict.fromkeys((each.accelerator_name.casefold(), *each.spellings), each.accelerator_name)
        near = dict.fromkeys(names[one] for one in similar(text, names))
        raise wrong("unknown chip", "chip", text, did_you_mean(near))
    if found.accelerator_share != 1:
        raise wrong("a part of a chip, or not known to be a whole one", "chip", text, "Name the chip alone")
    return found


def _filter(
    book: Book,
    chip: str | None,
    instance_type: str | None,
    provider: str | None,
    region: str | None,
    purchase_option: str | None,
    *,
    needs_one: bool = True,
) -> Filter:
    """Return the values of IS_OF. Raises ChipledgerError for a name that nothing has."""
    if needs_one and chip is None and instance_type is None:
        raise wrong("name a chip or a machine", "chip", "", "Give chip or instance_type")
    named = _chip(chip) if chip else None
    return Filter(
        chip=named.accelerator_name if named else None,
        form=named.form_factor if named else None,
        instance_type=book.known("instance_type", instance_type, "instance_type"),
        provider=book.known("provider", provider, "service_provider_name"),
        region=book.known("region", region, "region_id"),
        purchase_option=purchase_option,
    )


def by(found: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by the values of some columns, in their order."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in found:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _points(found: Sequence[Row], limit: int) -> Row:
    """Return the newest prices of a series, in order of time."""
    is_cut = len(found) > limit
    truncated = f"the newest {limit} of {len(found)} are shown; name since and until" if is_cut else None
    return {"n_prices": len(found), "prices": list(found[-limit:]), "truncated": truncated}


def _explain(row: Row) -> None:
    """Add to a price why a figure of it is unknown."""
    reasons = row.setdefault("unknown", {})
    if row["accelerator_name"] is None:
        reasons["accelerator_name"] = "which chip it is, is not known"
    if row["accelerator_count"] is None:
        reasons["price_per_accelerator_hour"] = "how many whole chips it has is not known"
    elif row["price_per_accelerator_hour"] is None:
        reasons["price_per_accelerator_hour"] = "no price per hour follows from what is stated"
    if row["price_per_accelerator_hour_usd"] is None:
        reasons["price_per_accelerator_hour_usd"] = (
            f"no reference rate of {row['pricing_currency']} within ten days before the price was last confirmed"
            if row["usd_per_currency_unit"] is None
            else reasons["price_per_accelerator_hour"]
        )


def _add_doubt(book: Book, found: Sequence[Row]) -> None:
    """Add to each price whether a later one of its offer waits in quarantine, and why."""
    waiting = {row.pop("offer_id"): row for row in book.rows(IN_DOUBT, {"offers": [row["offer_id"] for row in found]})}
    for row in found:
        later = waiting.get(row["offer_id"])
        row["in_doubt"] = later if later and later["observed_at"] > row["last_observed_at"] else None


def _why_none(parts: dict[str, list[Row]]) -> str:
    for name, why in (
        ("not_ranked", "no price is within the limit of age: the last known ones are in not_ranked"),
        ("median_only", "only medians are published"),
        ("from_prices", "only from prices are published"),
    ):
        if parts[name]:
            return why
    return "no price is known"


def counted(n: int, reason: str, what: str = "prices") -> list[Row]:
    """Return one line of `unknown`; none where nothing is counted."""
    return [{"what": what, "n": n, "reason": reason}] if n else []


def _unpriced(book: Book, which: Filter, found: Sequence[Row]) -> list[Row]:
    """Return what is known to be sold, or to have been sold, without a price here."""
    (gone,) = book.rows(
        "select count(*) as n from (select offer_id from int.price_history "
        "where valid_to is null and unit_price is null and upfront_price is null) "
        f"inner join {OFFERS} using (offer_id) where {IS_OF}",
        which._asdict(),
    )
    none = [{"what": "prices", "n": 0, "reason": "the file has no price of these names"}]
    return counted(gone["n"], "they are no longer there", "offers") + ([] if found else none)


def _left_out(book: Book, which: Filter) -> list[Row]:
    """Return how many prices are left out: of chips that only begin with the name, of no stated form or region."""
    others = book.rows(
        "select accelerator_name, count(*) as n from int.accelerator_hour_price "
        "where starts_with(accelerator_name, $chip::VARCHAR || '-') group by all order by all",
        {"chip": which.chip},
    )
    left_out = [
        each
        for row in others
        for each in counted(row["n"], f"they are of {row['accelerator_name']}, which is another chip here")
    ]
    for value, name, column, reason in (
        (which.form, "form", "form_factor", "their form of the chip is not stated"),
        (which.region, "region", "region_id", "their region is not stated"),
    ):
        if value is not None:
            # As if they were of the form or region that is named.
            (silent,) = book.rows(
                f"select count(*) as n from (select * replace (${name}::VARCHAR as {column}) "
                f"from int.accelerator_hour_price where {column} is null) where {IS_OF}",
                which._asdict(),
            )
            left_out += counted(silent["n"], reason)
    return left_out
