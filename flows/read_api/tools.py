"""The tools of the read API: prices, each purchase option in a list of its own; costs, claims, sources, tables, SQL."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from flows.decisions import audit as auditing
from flows.decisions import cost
from flows.decisions.break_even_sides import CAPACITIES, COMMITMENTS
from flows.read_api import free_sql
from flows.read_api.free_sql import MAX_BYTES, MAX_CHARACTERS, MAX_ROWS, MAX_SECONDS
from flows.read_api.published_file import Book, Row, cut, wrong
from flows.shared.query import RELATIONS, columns, refused
from transform.audit.judge import Judged
from transform.audit.tables import audit
from warehouse.errors import did_you_mean
from warehouse.reference import claims
from warehouse.reference.instance_types import chip_named
from warehouse.reference.table import UserFile
from warehouse.schema.vocabulary import PURCHASE_OPTIONS

Name = Annotated[str, Field(min_length=1, max_length=100)]
Text = Annotated[str, Field(max_length=1000)]
Limit = Annotated[int, Field(ge=1, le=50, description="Max rows of each list")]
Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PurchaseOption = Literal[PURCHASE_OPTIONS]  # type: ignore[valid-type]
CommitmentClass = Literal[("none", "interruptible", *COMMITMENTS)]  # type: ignore[valid-type]
CapacityClass = Literal[CAPACITIES]  # type: ignore[valid-type]

Filter = Mapping[str, str | None]
"""The values of IS_OF, by name."""

CHIP = "A chip by any common name, such as H100, H100 SXM or Trainium2, or as an AWS type has it"
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
    which = _filter(book, (chip, instance_type, provider, region, purchase_option))
    # Within one option: what anybody can have now at a stated price first; `cheapest` ranks by price.
    found = book.rows(
        f"select {OFFER}, {LATEST} from int.accelerator_hour_price where {IS_OF} "
        "order by restriction is not null, statistic is distinct from 'price', service_provider_name, "
        "coalesce(region_id, ''), offer_id",
        which,
    )
    book.as_of_now(found)
    found.sort(key=lambda row: not row["is_current"])
    for row in found:
        _explain(row)
    lists = _lists(found, "prices", limit, "purchase_option", "unit_price_type")
    _add_doubt(book, [row for each in lists for row in each["prices"]])
    return {
        "asked": _read_as(which),
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
    offer_id: Annotated[
        int | None, Field(ge=0, lt=2**63, description="One offer, by the offer_id of another answer")
    ] = None,
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
    which = _filter(book, names, needs_one=offer_id is None)
    offers = book.rows(
        f"select {OFFER} from {OFFERS} left join "
        "(select offer_id, max(last_observed_at) as newest from int.price_history group by offer_id) using (offer_id) "
        f"where ($offer_id::BIGINT is null or offer_id = $offer_id) and {IS_OF} "
        "order by newest desc nulls last, offer_id",
        {**which, "offer_id": offer_id},
    )
    if offer_id is not None and not offers:
        raise wrong("the file has no such offer", "offer_id", offer_id)
    shown, truncated = cut(offers, limit)
    end = datetime.combine(until, time.max) if until else None
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
        "asked": _read_as(which),
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
    which = _filter(book, (chip, None, provider, None, purchase_option))
    found = book.rows(
        f"select {TERMS}, {MARKET}, is_floor from int.provider_price where {IS_OF} "
        "and ($commitment::VARCHAR is null or commitment_class = $commitment) "
        "and ($capacity::VARCHAR is null or capacity_class = $capacity) "
        "order by price_rank nulls last, age_days, offer_id",
        {**which, "commitment": commitment_class, "capacity": capacity_class},
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
        why = next((why for name, why in NOT_RANKED.items() if parts[name]), "no price is known")
        lists.append(
            {
                **dict(zip(columns(TERMS), terms, strict=True)),
                "cheapest_price_usd": ranked[0]["cheapest_price_usd"] if ranked else None,
                "unknown": {} if ranked else {"cheapest_price_usd": why},
                **{f"n_{name}": len(part) for name, part in parts.items()},
                **{name: part for name, (part, _) in shown.items()},
                "truncated": {name: truncated for name, (_, truncated) in shown.items() if truncated} or None,
            }
        )
    _add_doubt(book, [row for each in lists for name in ("ranked", "not_ranked") for row in each[name]])
    return {
        "asked": _read_as(which),
        "units": book.units(["int.provider_price"], TERMS, MARKET),
        "lists": lists,
        "unknown": _unpriced(book, which, found) + _left_out(book, which),
        "notes": [
            "from_prices are the least that anybody pays, and nobody may be offered them",
            "median_only are marketplaces that publish no cheapest price",
            "of several regions the cheapest; latest_price answers for one region",
        ],
    }


def _filter(book: Book, names: Sequence[str | None], *, needs_one: bool = True) -> Filter:
    """Return the values of IS_OF by the names of a chip, machine, provider, region and purchase option.

    Raises ChipledgerError for a name that nothing has.
    """
    chip, instance_type, provider, region, purchase_option = names
    if needs_one and chip is None and instance_type is None:
        raise wrong("name a chip or a machine", "chip", "", "Give chip or instance_type")
    name, form = chip_named(chip) if chip else (None, None)
    return {
        "chip": name,
        "form": form,
        "instance_type": book.known("instance_type", instance_type, "instance_type"),
        "provider": book.known("provider", provider, "service_provider_name"),
        "region": book.known("region", region, "region_id"),
        "purchase_option": purchase_option,
    }


def _read_as(which: Filter) -> Row:
    """Return how names were read, where there are any."""
    return {"read_as": {name: value for name, value in which.items() if value is not None}}


def by(found: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by the values of some columns, in their order."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in found:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _lists(found: Iterable[Row], what: str, limit: int, *names: str) -> list[Row]:
    """Return rows in lists by some columns, each with how many it has and how many of them are current."""
    lists = []
    for values, rows in sorted(by(found, *names).items()):
        shown, truncated = cut(rows, limit)
        counts = {f"n_{what}": len(rows), "n_current": sum(row["is_current"] for row in rows)}
        lists.append({**dict(zip(names, values, strict=True)), **counts, what: shown, "truncated": truncated})
    return lists


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
    waiting = sorted(refused(book.con, everything=False), key=lambda row: row["last_observed_at"])
    last = {row["offer_id"]: {"observed_at": row["last_observed_at"], "reason": row["reason"]} for row in waiting}
    for row in found:
        later = last.get(row["offer_id"])
        row["in_doubt"] = later if later and later["observed_at"] > row["last_observed_at"] else None


def counted(n: int, reason: str, what: str = "prices") -> list[Row]:
    """Return one line of `unknown`; none where nothing is counted."""
    return [{"what": what, "n": n, "reason": reason}] if n else []


def _unpriced(book: Book, which: Filter, found: Sequence[Row]) -> list[Row]:
    """Return what is known to be sold, or to have been sold, without a price here."""
    (gone,) = book.rows(
        "select count(*) as n from (select offer_id from int.price_history "
        "where valid_to is null and unit_price is null and upfront_price is null) "
        f"inner join {OFFERS} using (offer_id) where {IS_OF}",
        which,
    )
    none = [] if found else [{"what": "prices", "n": 0, "reason": "the file has no price of these names"}]
    return counted(gone["n"], "they are no longer there", "offers") + none


def _left_out(book: Book, which: Filter) -> list[Row]:
    """Return how many prices are left out: of chips that only begin with the name, of no stated form or region."""
    others = book.rows(
        "select accelerator_name, count(*) as n from int.accelerator_hour_price "
        "where starts_with(accelerator_name, $chip::VARCHAR || '-') group by all order by all",
        {"chip": which["chip"]},
    )
    left_out = [
        each
        for row in others
        for each in counted(row["n"], f"they are of {row['accelerator_name']}, which is another chip here")
    ]
    for value, name, column, reason in (
        (which["form"], "form", "form_factor", "their form of the chip is not stated"),
        (which["region"], "region", "region_id", "their region is not stated"),
    ):
        if value is not None:
            # As if they were of the form or region that is named.
            (silent,) = book.rows(
                f"select count(*) as n from (select * replace (${name}::VARCHAR as {column}) "
                f"from int.accelerator_hour_price where {column} is null) where {IS_OF}",
                which,
            )
            left_out += counted(silent["n"], reason)
    return left_out


NOT_RANKED = {
    "not_ranked": "no price is within the limit of age: the last known ones are in not_ranked",
    "median_only": "only medians are published",
    "from_prices": "only from prices are published",
}
"""Why a list has no cheapest price, by the part of it that has prices."""


class SuppliedClaim(BaseModel):
    """One published number to check, in the columns of docs/auditing-a-claim.md."""

    model_config = ConfigDict(extra="forbid")

    claim_id: Name
    subject: Text
    metric: Name = Field(description="Such as price_per_chip, throughput_tokens_per_s_per_chip or savings_pct")
    unit: Name
    as_of: Name = Field("undated", description="The date of the text: 2026-07-02, 2026-04 or 2026")
    value: Name | None = None
    low: Name | None = None
    high: Name | None = None
    hedge: Name | None = None
    conditions: Text | None = None
    derived_from: Text | None = None
    purchase_option: PurchaseOption | None = None
    commitment_term_hours: Name | None = None
    region_id: Name | None = None
    batch_size: Name | None = None
    precision: Name | None = None
    model_name: Name | None = None
    tokens: Name | None = None


SERVING = """
all_in_output_usd_low, all_in_output_usd_median, all_in_output_usd_high, input_usd, output_usd, input_weight_basis,
usd_per_month_per_unit, tokens_per_day, paid_accelerators, usd_per_month_at_load, usd_per_million_at_load, utilisation,
running_share
"""
TRAINING = """
usd_per_million_tokens_low, usd_per_million_tokens_median, usd_per_million_tokens_high, training_usd_low,
training_usd_median, training_usd_high, training_days, working_share, running_share, goodput_share, overhead_share
"""
EVIDENCE = """
accelerator_name, form_factor, unit_accelerators, capacity_class, fabric, tier, commitment_class,
service_provider_name, host_provider_name, region_id, instance_type, low_price_usd, price_usd, high_price_usd,
price_range_basis, price_basis, paid_rate_usd, task, scenario, benchmark, precision, input_length, output_length,
decoding, interactivity, interactivity_statistic, ttft_ms, median_output_rate, median_rate, rate_bound_per_accelerator,
binding_bound, share_of_bound, reach, evidence_grade, n_runs, measured_by, measured_on, source_url, throughput_id,
offer_id, price_source, valid_from, last_observed_at, is_current
"""
"""What a cost rests on: the price, the measured run and its bound."""

TABLES = (
    f"select schema_name || '.' || name as name, comment as row, parameters from {RELATIONS} "
    "where schema_name in ('core', 'ref', 'focus', 'int', 'mart') "
    "order by array_position(['mart', 'int', 'ref', 'focus', 'core'], schema_name), name"
)
"""The tables, views and table macros, the last with their parameters."""


def cost_per_token(
    book: Book,
    model: Annotated[Name, Field(description="A model, such as llama-2-70b; the table ref.model has them")],
    task: Literal["serving", "training"] = "serving",
    chip: Annotated[Name | None, Field(description="Only this chip")] = None,
    purchase_option: Option = None,
    interactivity: Annotated[Positive | None, Field(description="Serving: min tokens per second for one user")] = None,
    tokens_per_day: Annotated[Positive | None, Field(description="Serving: output tokens a day")] = None,
    precision: Annotated[Name | None, Field(description="Serving: of the weights, such as fp8")] = None,
    utilisation: Annotated[Share, Field(description="Serving: share of the measured rate served")] = 1.0,
    tokens: Annotated[Positive | None, Field(description="Training: tokens to train on")] = None,
    mfu: Annotated[Share, Field(description="Training: share of the peak, if nothing was measured")] = cost.ASSUMED_MFU,
    commitment_use: Annotated[Share | None, Field(description="Used share of commitments; null: whole terms")] = None,
    spot_loss: Annotated[float, Field(ge=0, lt=1, description="Share of spot hours lost to interruption")] = 0.0,
    limit: Limit = 10,
) -> Row:
    """Return what a million tokens of a model costs, or a training, by measured runs and known prices.

    For each purchase option, of each point and chip the cheapest; with what is not included and what was left out.
    """
    if (task == "training") != (tokens is not None):
        raise wrong("the task training needs `tokens`, and no other task takes it", "tokens", tokens or "")
    load: dict[str, Any] = {"interactivity": interactivity, "tokens_per_day": tokens_per_day, "precision": precision}
    for name, value in load.items():
        if tokens is not None and value is not None:
            raise wrong("means nothing for training", name, value, "Leave it out")
    terms = cost.Terms(commitment_use=commitment_use, spot_running_share=1 - spot_loss)
    if tokens is None:
        table, ranked_by, figures = "mart.serving_cost", "all_in_output_usd_median", SERVING
        found = cost.serving(book.path, model=model, **load, terms=terms, utilisations=[utilisation])
    else:
        table, ranked_by, figures = "mart.training_run_cost", "training_usd_median", TRAINING
        whole = {"overhead": 0.0, "goodput": 1.0, "mfu": mfu}
        found = cost.training(book.path, model=model, tokens=tokens, precision="bf16", terms=terms, **whole)
    rows = [
        row | {"document_sha256": row["price_document_sha256"]}
        for row in (cost.only(found["rows"], chip) if chip else found["rows"])
        if purchase_option in (None, row["purchase_option"])
    ]
    priced = [row for row in rows if row[ranked_by] is not None]
    best = sorted(cost.cheapest(priced), key=cost.by_rank)
    book.as_of_now(rows, source="price_source")
    shown_columns = *columns(f"{figures}, {EVIDENCE}"), "document", "unknown"
    lists = _lists(best, "costs", limit, "purchase_option")
    for each in lists:
        each["costs"] = [{name: row[name] for name in shown_columns if name in row} for row in each["costs"]]
    none = [{"what": "costs", "n": 0, "reason": "no measured run has a price within these arguments"}]
    return {
        "asked": {"model": found["inputs"]["model"]},
        "formula": found["formula"],
        "units": book.units([table], figures, EVIDENCE),
        "not_included": found["not_included"],
        "purchase_options": lists,
        "unknown": [
            *([] if lists else none),
            *counted(len(rows) - len(priced), "no rate or no price to compute a cost from", "costs"),
            *(
                {"what": row["left_out_kind"], "n": row["n_left_out"], "reason": row["reason"]}
                for row in found["left_out"]
            ),
        ],
    }


Claims = Annotated[list[SuppliedClaim], Field(min_length=1, max_length=50)]


def audit_claims(
    book: Book,
    claims: Annotated[Claims | None, Field(description="Numbers to check; without it, those that are shipped")] = None,
    article: Annotated[Name | None, Field(description="Shipped claims of texts with this in their name")] = None,
    limit: Annotated[int, Field(ge=1, le=300, description="Max claims")] = 50,
) -> Row:
    """Return whether published numbers hold, on their date and today, with the arithmetic.

    The shipped claims, or claims of your own.
    """
    if claims is not None and article is not None:
        hint = "Leave out article, or claims"
        raise wrong("article chooses among the shipped claims, and claims replaces these", "article", article, hint)
    judged = audit(book.con, _supplied(claims) if claims else auditing.read(None, article))[0]
    shown, truncated = cut(judged, limit)
    return {
        "asked": {"n_claims": len(judged), "given": claims is not None},
        "counted": {
            "on_its_date": Counter(one.verdict for one in judged),
            "today": Counter(one.standing_today for one in judged),
        },
        "claims": [_verdict(one) for one in shown],
        "truncated": truncated,
        "notes": ["recomputed_value is in the claim's own unit", "unverifiable: arithmetic says why nothing decides"],
    }


def _supplied(supplied: Sequence[SuppliedClaim]) -> list[claims.Claim]:
    text = io.StringIO(newline="")
    lines = csv.DictWriter(text, list(SuppliedClaim.model_fields))
    lines.writeheader()
    lines.writerows(each.model_dump() for each in supplied)
    return claims.read_table(UserFile("claims", text.getvalue().encode()))


def _verdict(one: Judged) -> Row:
    claim, finding = one.claim, one.finding
    return {
        **auditing.as_object(one),
        "subject": claim.subject_text,
        "claimed": claim.figure,
        **{name: getattr(claim, name) for name in ("metric", "unit", "as_of", "source_url")},
        "article": claim.article or None,
        "standing": one.verdict,
        "standing_today": one.standing_today,
        "decided_by": finding.basis,
        **{name: getattr(finding, name) for name in columns("readings, bounds, rests_on, documents, evidence_until")},
    }


def sources(
    book: Book, source: Annotated[Name | None, Field(description="One source, with each of its scopes")] = None
) -> Row:
    """Return the health and freshness of each source: when it was last fetched, with what result, what fails."""
    listed = book.rows("from core.source order by service_provider_name, source")
    max_ages = {row["source"]: row["max_age_hours"] for row in listed}
    if source is not None and source not in max_ages:
        raise wrong("the file has no such source", "source", source, did_you_mean(source, max_ages))
    scopes = book.rows("from int.source_health order by source, scope")
    for row in scopes:
        age = None if row["last_good_at"] is None else round((book.now - row["last_good_at"]).total_seconds() / 3600, 2)
        max_age = max_ages.get(row["source"])
        row["is_current"] = bool(row["is_current"] and max_age is not None and age is not None and 0 <= age <= max_age)
        row["age_hours"] = age
        del row["age_days"]
    if source is None:
        units = dict.fromkeys(("max_age_hours", "newest_age_hours"), "hours")
        of_source = by(scopes, "source")
        return {"units": units, "sources": [_source(row, of_source.get((row["source"],), [])) for row in listed]}
    units = book.units(["int.source_health"], *scopes[0]) if scopes else {}
    return {"units": units, "scopes": [row for row in scopes if row["source"] == source]}


def _source(row: Row, scopes: list[Row]) -> Row:
    good = [one for one in scopes if one["last_good_at"] is not None]
    failing = [one for one in scopes if one["status"] != "ok"]
    newest = max(good, key=lambda one: one["last_good_at"], default=None)
    unknown = {}
    if newest is None:
        unknown["last_good_at"] = "no fetch of it succeeded" if scopes else "it was never fetched"
    if row["max_age_hours"] is None:
        unknown["n_current"] = "an archive or import, which is never current"
    return {
        **{name: row[name] for name in ("source", "service_provider_name", "title", "kind", "url", "max_age_hours")},
        "n_scopes": len(scopes),
        "n_current": sum(one["is_current"] for one in scopes),
        "last_tried_at": max((one["last_tried_at"] for one in scopes), default=None),
        "last_good_at": newest["last_good_at"] if newest else None,
        "newest_age_hours": newest["age_hours"] if newest else None,
        "n_refused": sum(one["n_refused"] for one in scopes),
        "failing": [{name: one[name] for name in ("scope", "status", "error")} for one in failing[:10]],
        "n_failing": len(failing),
        "unknown": unknown,
    }


TableName = Annotated[Name | None, Field(description="One table or view, such as int.price_change, with its columns")]


def schema(book: Book, table: TableName = None) -> Row:
    """Return the tables, views and macros of the file; of one of them each column with meaning and unit."""
    known = {row["name"]: row for row in book.rows(TABLES)}
    if table is None:
        macros = {name: row for name, row in known.items() if row["parameters"] is not None}
        return {
            "tables": [{"table": name, "row": row["row"]} for name, row in known.items() if name not in macros],
            "macros": [
                {"macro": name, "parameters": row["parameters"], "row": row["row"]} for name, row in macros.items()
            ],
            "notes": ["a macro is called in FROM, named whole and with all its parameters, as in mart.drift(...)"],
        }
    if table not in known:
        raise wrong("the file has no such table", "table", table, did_you_mean(table, known))
    return {
        "row": known[table]["row"],
        "parameters": known[table]["parameters"],
        "columns": book.rows(
            "select column_name, data_type, meaning, unit from mart.data_dictionary "
            "where table_schema || '.' || table_name = $table",
            {"table": table},
        ),
    }


ABOUT_SQL = "One SELECT in DuckDB's SQL over core, int and mart"
Sql = Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS, description=ABOUT_SQL)]


def query(
    book: Book,
    sql: Sql,
    rows: Annotated[int, Field(ge=1, le=MAX_ROWS, description="Max rows")] = 200,
    seconds: Annotated[float, Field(gt=0, le=MAX_SECONDS, description="Max time")] = 10.0,
) -> Row:
    """Return the rows of one SELECT in DuckDB's SQL on the published file, read-only.

    Within limits of rows, bytes and time; an answer that was cut says so in `truncated`.
    """
    found = free_sql.answer(book.con, sql, rows=rows, seconds=seconds)
    truncated = {
        None: None,
        "rows": f"the first {rows} rows are shown, and there are more: name fewer, or raise rows",
        "bytes": f"the first {len(found['rows'])} rows are shown: more than {MAX_BYTES} bytes; name fewer columns",
    }[found["cut"]]
    units = book.rows(
        "select column_name, any_value(unit) as unit from mart.data_dictionary "
        "where list_contains($names, column_name) group by column_name "
        "having count(unit) = count(*) and count(distinct unit) = 1 order by column_name",
        {"names": [column["name"] for column in found["columns"]]},
    )
    return {
        "columns": found["columns"],
        "units_by_name": {row["column_name"]: row["unit"] for row in units},
        "rows": found["rows"],
        "n_rows": len(found["rows"]),
        "truncated": truncated,
        "notes": [
            "units_by_name are those of the file's columns of the same name: check them where the query renames",
            "is_current and age_days in the file are as of built_at",
        ],
    }


TOOLS: dict[Callable[..., Row], str] = {
    latest_price: "Latest prices",
    price_history: "Price history",
    cheapest: "Cheapest providers of a chip",
    cost_per_token: "Cost per token",
    audit_claims: "Audit of claims",
    sources: "Sources",
    schema: "Tables and columns",
    query: "SQL",
}
"""Each tool and its title; its name is that of the function, its description the docstring."""
