"""What the read API answers of prices: latest, past and cheapest, each purchase option in a list of its own."""

from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from flows.read_api.inputs import Cheapest, LatestPrice, PriceHistory, Which, arguments, chip, wrong
from flows.read_api.published_file import Book, Row, cut

OFFER = (
    "offer_id",
    "service_provider_name",
    "host_provider_name",
    "region_id",
    "availability_zone_id",
    "instance_type",
    "accelerator_name",
    "form_factor",
    "accelerator_count",
    "accelerator_memory_gib",
    "capacity_unit",
    "capacity_class",
    "minimum_quantity",
    "fabric",
    "purchase_option",
    "commitment_discount_type",
    "commitment_term_hours",
    "purchase_payment_model",
    "offering_class",
    "tier",
    "restriction",
    "statistic",
    "conditions",
    "unit_price_type",
    "contract_id",
    "pricing_currency",
    "pricing_unit",
)
"""What an offer is, of core.offer and core.offer_unit."""

AMOUNTS = (
    "unit_price",
    "upfront_price",
    "effective_hourly_price",
    "price_per_accelerator_hour",
    "price_per_accelerator_hour_usd",
    "usd_per_currency_unit",
    "fx_rate_date",
)
TOLD = ("source", "valid_from", "last_changed_at", "last_observed_at", "is_current", "document_sha256")

IS_OF = (
    "($chip::VARCHAR is null or accelerator_name = $chip) "
    "and ($form::VARCHAR is null or form_factor = $form) "
    "and ($instance_type::VARCHAR is null or instance_type = $instance_type) "
    "and ($provider::VARCHAR is null or service_provider_name = $provider) "
    "and ($region::VARCHAR is null or region_id = $region) "
    "and ($purchase_option::VARCHAR is null or purchase_option = $purchase_option)"
)
"""Whether an offer is one of those asked for."""

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

MARKET = (
    "service_provider_name",
    "host_provider_name",
    "tier",
    "fabric",
    "region_id",
    "instance_type",
    "cheapest_price_usd",
    "median_price_usd",
    "dearest_price_usd",
    "statistic",
    "price_per_accelerator_hour",
    "pricing_currency",
    "fx_rate_date",
    "n_offers",
    "n_current",
    "n_machines",
    "n_accelerators",
    "stock_status",
    "source",
    "valid_from",
    "last_observed_at",
    "is_current",
    "is_ranked",
    "price_rank",
    "age_days",
    "document_sha256",
    "offer_id",
)
TERMS = ("accelerator_name", "form_factor", "purchase_option", "commitment_class", "capacity_class")


def latest_price(book: Book, asked: LatestPrice) -> Row:
    """Return the last known price of each offer asked for, the current before others, by purchase option."""
    which = _which(book, asked)
    found = book.rows(
        f"select {', '.join((*OFFER, *AMOUNTS, *TOLD))} from int.accelerator_hour_price where {IS_OF}", which
    )
    book.settled(found)
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
    lists = [
        _listed({"purchase_option": option, "unit_price_type": kind}, rows, asked.limit)
        for (option, kind), rows in sorted(_by(found, "purchase_option", "unit_price_type").items())
    ]
    _doubt(book, [row for each in lists for row in each["prices"]])
    return {
        "asked": arguments(asked) | _read_as(which),
        "units": book.units(["int.accelerator_hour_price"], (*OFFER, *AMOUNTS, *TOLD)),
        "purchase_options": lists,
        "unknown": _unpriced(book, which, found) + _left_out(book, which),
    }


def price_history(book: Book, asked: PriceHistory) -> Row:
    """Return the price of each offer over time, each offer a series of its own."""
    if asked.since and asked.until and asked.since > asked.until:
        raise wrong("since is after until", "since", asked.since.isoformat())
    if asked.offer_id is None and asked.purchase_option is None:
        raise wrong("name the purchase option, or one offer", "purchase_option", "", "offer_id names one offer")
    which = _which(book, asked, needs_one=asked.offer_id is None)
    offers = book.rows(
        f"select {', '.join(OFFER)} from {OFFERS} left join "
        "(select offer_id, max(last_observed_at) as newest from int.price_history group by offer_id) using (offer_id) "
        f"where ($offer_id::BIGINT is null or offer_id = $offer_id) and {IS_OF} "
        "order by newest desc nulls last, offer_id",
        {**which, "offer_id": asked.offer_id},
    )
    if asked.offer_id is not None and not offers:
        raise wrong("the file has no such offer", "offer_id", asked.offer_id)
    shown, told = cut(offers, asked.limit)
    names = (
        "offer_id",
        "valid_from",
        "valid_to",
        "last_observed_at",
        "unit_price",
        "upfront_price",
        "effective_hourly_price",
        "source",
        "last_source",
        "document_sha256",
    )
    until = datetime.combine(asked.until, time()) + timedelta(days=1) if asked.until else None
    prices = book.rows(
        f"select {', '.join(names)}, valid_to is null and unit_price is not null as is_current "
        "from int.price_history where list_contains($offers, offer_id) "
        "and ($since::TIMESTAMP is null or valid_to is null or valid_to > $since::TIMESTAMP) "
        "and ($until::TIMESTAMP is null or valid_from < $until::TIMESTAMP) order by offer_id, valid_from",
        {"offers": [offer["offer_id"] for offer in shown], "since": asked.since, "until": until},
    )
    book.settled(prices, source="last_source")
    series = _by(prices, "offer_id")
    for row in prices:
        del row["offer_id"]
        if row["unit_price"] is None and row["upfront_price"] is None:
            row.setdefault("unknown", {})["unit_price"] = "the offer was gone"
    return {
        "asked": arguments(asked) | _read_as(which),
        "units": book.units(["core.offer", "core.offer_unit", "int.price_history"], (*OFFER, *names)),
        "series": [
            {"offer": offer, **_points(series.get((offer["offer_id"],), []), asked.limit * 20)} for offer in shown
        ],
        "truncated": told,
        "unknown": _left_out(book, which) if asked.offer_id is None else [],
    }


def cheapest(book: Book, asked: Cheapest) -> Row:
    """Return who asks least for a chip: a list for each purchase option, commitment and size of purchase."""
    named = chip(asked.chip)
    which = _nothing() | {
        "chip": named.accelerator_name,
        "form": named.form_factor,
        "purchase_option": asked.purchase_option,
        "provider": book.known("provider", asked.provider, "service_provider_name"),
    }
    found = book.rows(
        f"select {', '.join((*TERMS, *MARKET))}, is_floor from int.provider_price where {IS_OF} "
        "and ($commitment::VARCHAR is null or commitment_class = $commitment) "
        "and ($capacity::VARCHAR is null or capacity_class = $capacity) "
        "order by price_rank nulls last, age_days, offer_id",
        {**which, "commitment": asked.commitment_class, "capacity": asked.capacity_class},
    )
    book.settled(found)
    lists = []
    for terms, rows in sorted(_by(found, *TERMS).items(), key=lambda each: tuple(map(str, each[0]))):
        for row in rows:
            for name in TERMS:
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
        shown = {name: cut(part, 0 if name == "not_ranked" and ranked else asked.limit) for name, part in parts.items()}
        lists.append(
            {
                **dict(zip(TERMS, terms, strict=True)),
                "cheapest_price_usd": ranked[0]["cheapest_price_usd"] if ranked else None,
                "unknown": {} if ranked else {"cheapest_price_usd": _why_none(parts)},
                **{f"n_{name}": len(part) for name, part in parts.items()},
                **{name: part for name, (part, _) in shown.items()},
                "truncated": {name: told for name, (_, told) in shown.items() if told} or None,
            }
        )
    _doubt(book, [row for each in lists for name in ("ranked", "not_ranked") for row in each[name]])
    return {
        "asked": arguments(asked) | _read_as(which),
        "units": book.units(["int.provider_price"], (*TERMS, *MARKET)),
        "lists": lists,
        "unknown": _unpriced(book, which, found) + _left_out(book, which),
        "notes": [
            "from_prices are the least that anybody pays, and nobody may be offered them",
            "median_only are marketplaces that tell no cheapest price",
            "of several regions the cheapest; latest_price answers for one region",
        ],
    }


def _which(book: Book, asked: Which, *, needs_one: bool = True) -> dict[str, str | None]:
    """Return what is bound to IS_OF. Raises ChipledgerError for a name that nothing has."""
    if needs_one and asked.chip is None and asked.instance_type is None:
        raise wrong("name a chip or a machine", "chip", "", "Give chip or instance_type")
    named = chip(asked.chip) if asked.chip else None
    return {
        "chip": named.accelerator_name if named else None,
        "form": named.form_factor if named else None,
        "instance_type": book.known("instance_type", asked.instance_type, "instance_type"),
        "provider": book.known("provider", asked.provider, "service_provider_name"),
        "region": book.known("region", asked.region, "region_id"),
        "purchase_option": asked.purchase_option,
    }


def _nothing() -> dict[str, str | None]:
    return dict.fromkeys(("chip", "form", "instance_type", "provider", "region", "purchase_option"))


def _read_as(which: dict[str, str | None]) -> Row:
    """Return how names were read, where they were."""
    return {"read_as": {name: value for name, value in which.items() if value is not None}}


def _by(found: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in found:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _listed(head: Row, found: Sequence[Row], limit: int) -> Row:
    shown, told = cut(found, limit)
    return {
        **head,
        "n_prices": len(found),
        "n_current": sum(row["is_current"] for row in found),
        "prices": shown,
        "truncated": told,
    }


def _points(found: Sequence[Row], most: int) -> Row:
    """Return the newest prices of a series, in order of time."""
    told = f"the newest {most} of {len(found)} are shown; name since and until" if len(found) > most else None
    return {"n_prices": len(found), "prices": list(found[-most:]), "truncated": told}


def _explain(row: Row) -> None:
    """Say of a price why a figure of it is unknown."""
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


def _doubt(book: Book, found: Sequence[Row]) -> None:
    """Say of each price, in place, whether a later one of its offer waits in quarantine, and why."""
    waiting = {row["offer_id"]: row for row in book.rows(IN_DOUBT, {"offers": [row["offer_id"] for row in found]})}
    for row in found:
        later = waiting.get(row["offer_id"])
        is_later = later is not None and later["observed_at"] > row["last_observed_at"]
        row["in_doubt"] = (
            {"observed_at": later["observed_at"], "reason": later["reason"]} if later and is_later else None
        )


def _why_none(parts: dict[str, list[Row]]) -> str:
    for name, why in (
        ("not_ranked", "no price is within the limit of age: the last known ones are in not_ranked"),
        ("median_only", "only medians are told"),
        ("from_prices", "only from prices are told"),
    ):
        if parts[name]:
            return why
    return "no price is known"


def _unpriced(book: Book, which: dict[str, str | None], found: Sequence[Row]) -> list[Row]:
    """Return what is known to be sold, or to have been sold, without a price here."""
    (row,) = book.rows(
        "select count(*) as n from (select offer_id from int.price_history "
        "where valid_to is null and unit_price is null and upfront_price is null) "
        f"inner join {OFFERS} using (offer_id) where {IS_OF}",
        which,
    )
    told = [{"what": "offers", "n": row["n"], "reason": "they are no longer there"}] if row["n"] else []
    if not found:
        told.append({"what": "prices", "n": 0, "reason": "none of what was asked for is in the file"})
    return told


def _left_out(book: Book, which: dict[str, str | None]) -> list[Row]:
    """Return how many prices are left out: of chips that only begin with the name, of no stated form or region."""
    told = [
        {
            "what": "prices",
            "n": row["n"],
            "reason": f"they are of {row['accelerator_name']}, which is another chip here",
        }
        for row in book.rows(
            "select accelerator_name, count(*) as n from int.accelerator_hour_price "
            "where starts_with(accelerator_name, $chip::VARCHAR || '-') group by all order by all",
            {"chip": which["chip"]},
        )
    ]
    for name, column, reason in (
        ("form", "form_factor", "their form of the chip is not stated"),
        ("region", "region_id", "their region is not stated"),
    ):
        if which[name] is None:
            continue
        # As if they were of the form or region asked for.
        (row,) = book.rows(
            f"select count(*) as n from (select * replace (${name}::VARCHAR as {column}) "
            f"from int.accelerator_hour_price where {column} is null) where {IS_OF}",
            which,
        )
        if row["n"]:
            told.append({"what": "prices", "n": row["n"], "reason": reason})
    return told
