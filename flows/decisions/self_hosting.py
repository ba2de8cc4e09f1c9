"""Make or buy: a hosted model's prices of tokens compared with rented machines, at the same model and traffic.

Hosted prices come from the user's CSV or a saved price list (`read_bedrock`), one's own cost from
`mart.serving_cost`; machines are paid whole, all month, so that each further one opens a gap in which the hosted model
is cheaper again (`mart.make_or_buy`).
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from extract.web import strict_json
from flows.decisions import break_even_sides as evidence
from flows.decisions import chips, cost_added
from flows.decisions import regions as allowed
from flows.decisions.break_even import Sums, in_memory
from flows.decisions.break_even_page import MAX_LINES, Section
from flows.decisions.break_even_sides import Use
from flows.shared import user_file
from warehouse.errors import ChipledgerError
from warehouse.reference import models
from warehouse.reference.table import Model, Rule, fields_of

SAME_RATIO = 0.01
"""How far the ratio of input to output of a run may be from the traffic's, as a share of it."""


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """A hosted model's prices, USD per million tokens; cached input has none where none is stated."""

    provider: str
    model: str
    input_usd_per_million: Decimal
    output_usd_per_million: Decimal
    cached_input_usd_per_million: Decimal | None
    as_of: date
    url: str


HOSTED = Model(
    key="provider",
    fields=fields_of(Hosted),
    help="docs/deciding.md",
    may_be_zero=("input_usd_per_million", "output_usd_per_million", "cached_input_usd_per_million"),
    rules=(Rule("url", "not an address such as https://example.com/pricing", "regexp_like(url, '^https?://')"),),
    unique=("provider", "model", "as_of"),
    repeated="a second price of the same model, provider and day",
)


def read_hosted(file: Path) -> list[Hosted]:
    """Return the prices of a CSV. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    return [Hosted(**row) for row in HOSTED.read(user_file.table(file))]


SERVICE = "AmazonBedrock"
PUBLISHED = "publicationDate"
ADDRESS = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonBedrock"
HINT = f"Download {ADDRESS}/current/us-east-1/index.json, or another region's"
UNITS = {"1K tokens": Decimal(1000), "1M tokens": Decimal(1)}
"""Units of the list, and what makes USD per million tokens of a price in each."""
MAX_USD = 1_000_000
"""What no tokens cost."""
ENDS = {"Input tokens": "input", "Output tokens": "output"}
USAGE = re.compile(r"[A-Z0-9]+-.+-(input|output)-tokens(?:-standard)?")
ON_DEMAND = "On-demand Inference"
OTHERS = {
    "batch": "batch",
    "provision": "provisioned throughput",
    "reserved": "provisioned throughput",
    "custom": "custom models",
    "cache": "cached input",
    "guardrail": "guardrails",
    "image": "images, video and sound",
    "video": "images, video and sound",
    "audio": "images, video and sound",
    "speech": "images, video and sound",
    "cross-region": "cross-region inference",
    "latency": "latency-optimised",
    "long-context": "long context",
    "long-ctx": "long context",
    "flex": "another tier",
    "priority": "another tier",
}
"""Words in a product's attributes that make it another price than the one looked for, and what it is counted as."""


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """What a saved price list says: prices as those of the CSV, where they come from, and what was left out."""

    hosted: list[Hosted]
    file: str
    document_sha256: str
    version: str
    published_at: datetime
    left_out: dict[str, int]
    """How many products, by reason."""
    models_left_out: list[str]
    """Models with one of the two prices, or with several, and why."""

    def as_dict(self) -> dict[str, Any]:
        """Return the origin and what was left out, not the prices themselves."""
        return {**asdict(self), "hosted": len(self.hosted)}


class _Left(Exception):
    """The product is another price than the one looked for; the message is what it is counted as."""


def read_bedrock(file: Path) -> PriceList:
    """Return the prices of Amazon Bedrock in a saved index.json of AWS's price list.

    The file is a region's, as downloaded from
    https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonBedrock/current/us-east-1/index.json :
    offerCode, version, publicationDate, products (SKU to attributes), terms.OnDemand (SKU to term to
    priceDimensions). Nothing is fetched here.

    A product counts where all of this says that it is text, on demand, at the standard tier, in the region itself:

    1. `inferenceType` is "Input tokens" or "Output tokens". It says so of batches and of cross-region inference too,
    2. hence `usagetype` has to end so as well: USE1-NovaPro-input-tokens, or with a tier,
       USE1-openai.gpt-oss-20b-mantle-output-tokens-standard. Any other ending is another price: -batch, -flex,
       -priority, -latency-optimized, -custom-model, -cross-region-global, -long-context.
    3. `feature` is "On-demand Inference" and `service_tier` "standard", where the product has them: many have no tier.
    4. Its unit is one of `UNITS`. Others ("Tokens", "image", "1K TPM Hour") are not read as prices of so many tokens.

    Everything else is left out and counted. A model's two prices come from two products, sometimes from two pairs of
    them (an older and a newer endpoint): where they differ, or one of input and output is missing, the model is left
    out and named. Newer models of Anthropic are in other lists (AmazonBedrockFoundationModels, AmazonBedrockService).

    Raises ChipledgerError, naming file, field and value, where it is no price list of Bedrock or has no usable price.
    """
    body = user_file.read(file)
    list_ = _Reader(file.name)
    try:
        document = list_.get({"body": strict_json.loads(body)}, "body", dict)
    except ValueError as error:
        start = body[:40].decode("utf-8", "replace")
        raise list_.refusal(f"not the price list as JSON: {error}", "body", start) from error
    service, version, published = (list_.get(document, name, str) for name in ("offerCode", "version", PUBLISHED))
    if service != SERVICE:
        raise list_.refusal("a price list of another service", "offerCode", service)
    if not version.isdigit():
        raise list_.refusal("not a version such as 20260901000000", "version", version)
    try:
        published_at = datetime.fromisoformat(published)
    except ValueError:
        raise list_.refusal("not a moment such as 2026-09-01T00:00:00Z", PUBLISHED, published) from None
    if published_at.utcoffset() != timedelta(0):
        raise list_.refusal("not a moment in UTC", PUBLISHED, published)
    terms = list_.get(list_.get(document, "terms", dict), "OnDemand", dict, "terms")
    products = list_.get(document, "products", dict)
    left_out: Counter[str] = Counter()
    prices: dict[tuple[str, str], dict[str, set[Decimal]]] = defaultdict(lambda: {"input": set(), "output": set()})
    for sku in products:
        try:
            product = list_.get(products, sku, dict, "products")
            region, model, end, amount = list_.price(sku, product, terms.get(sku))
        except _Left as reason:
            left_out[str(reason)] += 1
        else:
            prices[region, model][end].add(amount)
    hosted, models_left_out = [], []
    for (region, model), ends in sorted(prices.items()):
        if reasons := ", ".join(_doubts(ends)):
            models_left_out.append(f"{model} in {region}: {reasons}")
            continue
        hosted.append(
            Hosted(
                provider=f"Amazon Bedrock {region}",
                model=model,
                input_usd_per_million=ends["input"].pop(),
                output_usd_per_million=ends["output"].pop(),
                cached_input_usd_per_million=None,
                as_of=published_at.date(),
                url=f"{ADDRESS}/{version}/{region}/index.json",
            )
        )
    if not hosted:
        counted = ", ".join([f"{reason}: {n}" for reason, n in left_out.most_common()] + models_left_out)
        raise list_.refusal("no model with a price of input and of output", "products", counted)
    return PriceList(
        hosted=hosted,
        file=file.name,
        document_sha256=hashlib.sha256(body).hexdigest(),
        version=version,
        published_at=published_at,
        left_out=dict(left_out.most_common()),
        models_left_out=models_left_out,
    )


def _doubts(ends: Mapping[str, set[Decimal]]) -> Iterator[str]:
    """Yield why a model's prices are not one of input and one of output."""
    for end, amounts in ends.items():
        if not amounts:
            yield f"no price of {end}"
        elif len(amounts) > 1:
            several = " and ".join(f"{amount.normalize():f}" for amount in sorted(amounts))
            yield f"several prices of {end}, {several} USD a million"


class _Reader(NamedTuple):
    """Reads values of one file, and names it in errors."""

    source: str

    def price(self, sku: str, product: Mapping[str, Any], terms: object) -> tuple[str, str, str, Decimal]:
        """Return region, model, input or output, and USD per million tokens; raise _Left for any other product."""
        at = f"products.{sku}"
        attributes = self.get(product, "attributes", dict, at)
        end, model = _meant(attributes)
        if attributes.get("servicecode", SERVICE) != SERVICE:
            raise self.refusal("a product of another service", f"{at}.servicecode", attributes["servicecode"])
        region = self.get(attributes, "regionCode", str, at)
        if terms is None:
            raise _Left("no on-demand price")
        return region, model, end, self.amount(self.get({sku: terms}, sku, dict, "terms.OnDemand"), sku)

    def amount(self, terms: Mapping[str, Any], sku: str) -> Decimal:
        """Return USD per million tokens of a product's only price."""
        at = f"terms.OnDemand.{sku}"
        if len(terms) != 1:
            raise _Left("several terms")
        dimensions = self.get(self.get(terms, next(iter(terms)), dict, at), "priceDimensions", dict, at)
        if len(dimensions) != 1:
            raise _Left("priced by volume")
        rate = self.get(dimensions, next(iter(dimensions)), dict, at)
        unit = self.get(rate, "unit", str, at)
        if unit not in UNITS:
            raise _Left(f"unit {unit}")
        if rate.get("beginRange", "0") != "0" or rate.get("endRange", "Inf") != "Inf":
            raise _Left("priced by volume")
        amounts = self.get(rate, "pricePerUnit", dict, at)
        if amounts and "USD" not in amounts:
            raise _Left("not in USD")
        text = self.get(amounts, "USD", str, f"{at}.pricePerUnit")
        try:
            amount = Decimal(text)
        except InvalidOperation:
            raise self.refusal("not an amount such as 0.0007200000", f"{at}.pricePerUnit.USD", text) from None
        if not amount.is_finite() or not 0 <= amount < MAX_USD or "_" in text:
            raise self.refusal("not an amount of 0 or more, or beyond reason", f"{at}.pricePerUnit.USD", text)
        if amount == 0:
            raise _Left("a price of 0")
        return amount * UNITS[unit]

    def get(self, mapping: Mapping[str, Any], name: str, kind: type, at: str = "") -> Any:
        """Return a value of an object, itself an object or a text that is not empty."""
        value = mapping.get(name)
        if not isinstance(value, kind) or (isinstance(value, str) and not value.strip()):
            expected = "expected text" if kind is str else "expected an object"
            message = "missing" if value in (None, "") else expected
            raise self.refusal(message, f"{at}.{name}".removeprefix("."), value)
        return value

    def refusal(self, message: str, field: str, value: object) -> ChipledgerError:
        return ChipledgerError(message, source=self.source, field=field, value=value, hint=HINT)


def _meant(attributes: Mapping[str, Any]) -> tuple[str, str]:
    """Return whether a product is input or output, and its model; raise _Left where it is another price."""
    feature, inference, usage, model = (
        str(attributes.get(name) or "") for name in ("feature", "inferenceType", "usagetype", "model")
    )
    words = f"{feature} {inference} {usage} {model}".casefold()
    for word, reason in OTHERS.items():
        if word in words:
            raise _Left(reason)
    if feature not in ("", ON_DEMAND):
        raise _Left("another feature")
    if any(
        str(attributes.get(name) or "standard").casefold() != "standard" for name in ("service_tier", "serviceTier")
    ):
        raise _Left("another tier")
    if inference not in ENDS:
        raise _Left("not input or output tokens of text")
    match = USAGE.fullmatch(usage)
    if match is None or match[1] != ENDS[inference]:
        raise _Left("a usage type that is not understood")
    if not model:
        raise _Left("no name of a model")
    return ENDS[inference], model


def compare(
    file: Path,
    *,
    hosted: Sequence[Hosted],
    own: str,
    model: str,
    interactivity: float | None,
    tokens_per_day: float | None,
    input_per_output: float | None,
    cached_share: float,
    use: Use,
    regions: Sequence[str] = (),
) -> dict[str, Any]:
    """Return for each point of one's own and each hosted price of the model the loads at which one's own is cheaper.

    Raises ChipledgerError for a text that is not understood, and where no price in the CSV is of the model.
    """
    name = chips.model_named(model)
    offers = [one for one in hosted if (named := models.find(one.model)) and named.model_name == name]
    if not offers:
        hint = f"The prices are of {', '.join(sorted({one.model for one in hosted}))}"
        raise ChipledgerError("no hosted price is of that model", field="model", value=model, hint=hint)
    sums = in_memory()
    with allowed.opened(file, regions) as con:
        stated = allowed.as_dict(con, regions)
        side = evidence.read(own, field="--own", providers=evidence.providers(con))
        points = evidence.points(con, side, [name], interactivity, tokens_per_day, use)
        sides: dict[str, Any] = {"from": side, "to": None}
        unknown = [] if points else list(evidence.reasons(con, sides, {"from": points}, [name]))
    cases, left_out = [], []
    for point, row in points.items():
        ratio, why_not = _ratio(row, input_per_output)
        if ratio is None:
            left_out.append(f"{evidence.described(point)}: {why_not}")
            continue
        cases += [_case(sums, row, offer, ratio, cached_share, tokens_per_day) for offer in offers]
    return {
        "regions": stated,
        "inputs": {
            "own": own,
            "model": name,
            "interactivity": interactivity,
            "tokens_per_day": tokens_per_day,
            "input_per_output": input_per_output,
            "cached_share": cached_share,
            **asdict(use),
        },
        "formula": "k units x USD a month = tokens a month x (output + input per output x input price)",
        "not_included": [*cost_added.NOT_INCLUDED.values(), "people who run the machines"],
        "cases": cases,
        "unknown": unknown,
        "left_out": left_out,
    }


def _ratio(row: Mapping[str, Any], traffic: float | None) -> tuple[float | None, str]:
    """Return the input tokens that come with each output token, or why the point does not represent the traffic."""
    measured = row["input_length"] / row["output_length"] if row["input_length"] and row["output_length"] else None
    if traffic is None:
        return measured, "its benchmark does not state the input: give --input-per-output"
    if measured is None or abs(measured - traffic) <= SAME_RATIO * max(traffic, measured):
        return traffic, ""
    return None, f"measured at {measured:.4g} input tokens to one of output"


def _case(
    sums: Sums, row: Mapping[str, Any], offer: Hosted, ratio: float, cached_share: float, load: float | None
) -> dict[str, Any]:
    """Return one hosted price next to one point of one's own; amounts go as doubles into ratios, as in the marts."""
    cached = offer.cached_input_usd_per_million
    hosted = sums.value(
        "decision.hosted_usd_per_million",
        float(offer.input_usd_per_million),
        float(offer.output_usd_per_million),
        None if cached is None else float(cached),
        ratio,
        cached_share,
    )
    spend = sums.value("decision.monthly_spend", load, hosted) if hosted else None
    own = row["usd_per_month_at_load"]
    return {
        "point": {name: row[name] for name in evidence.POINT},
        "hosted": asdict(offer),
        "hosted_usd_per_million_output": hosted,
        "input_per_output": ratio,
        "own": {name: row[name] for name in evidence.SHOWN},
        **{
            f"make_{end}": _stretches(sums, row, price, rate, hosted)
            for end, price, rate in (
                ("soonest", "low_price_usd", "high_output_rate"),
                ("likely", "median_price_usd", "median_output_rate"),
                ("latest", "high_price_usd", "low_output_rate"),
            )
        },
        "hosted_usd_per_month": spend,
        "own_usd_per_month": own,
        "cheaper": None if spend is None or own is None else "make" if own < spend else "buy",
    }


def _stretches(
    sums: Sums, row: Mapping[str, Any], price: str, rate: str, hosted: float | None
) -> list[dict[str, Any]] | None:
    """Return the loads at which one's own is cheaper, at one price and one rate; None where one is unknown."""
    if not hosted or row[rate] is None or row[price] is None:
        return None
    units = row["unit_accelerators"]
    return sums.rows(
        "select answer.* from (select cost.monthly(? * cost.paid_rate(?, ?)) as usd, "
        "?::DOUBLE * 86400 * ? * ? as tokens, ?::DOUBLE as hosted) as own, "
        "lateral mart.make_or_buy(own.usd, own.tokens, own.hosted) as answer order by unit_count",
        [units, row[price], row["running_share"], units, row[rate], row["utilisation"], hosted],
    )


def sections(found: Mapping[str, Any]) -> list[Section]:
    """Return the answer in sections, as people read it."""
    inputs = found["inputs"]
    silent = sum(case["point"]["input_length"] is None for case in found["cases"])
    lines = [
        f"{inputs['model']}: loads in output tokens a day at which {inputs['own']} is cheaper, paid in whole units.",
        f"Formula: {found['formula']}",
        f"Not included: {', '.join(found['not_included'])}.",
        *allowed.lines(found["regions"]),
        *(
            [f"Of {silent} rows the benchmark does not state the input: whether the rate holds with this is unknown."]
            if silent
            else []
        ),
        *(_bedrock_lines(found["bedrock"]) if "bedrock" in found else []),
        *(f"unknown: {reason}" for reason in found["unknown"]),
        *(f"left out: {reason}" for reason in found["left_out"][:MAX_LINES]),
    ]
    table = [
        {
            "point": evidence.described(list(case["point"].values())),
            "hosted by": case["hosted"]["provider"],
            "as of": case["hosted"]["as_of"],
            "hosted USD/M output": case["hosted_usd_per_million_output"],
            "own is cheaper": _loads(case["make_likely"]),
            "first at best": _first(case["make_soonest"]),
            "first at worst": _first(case["make_latest"]),
            "units of": case["own"]["unit_accelerators"],
            "USD/chip-h": case["own"]["median_price_usd"],
            "price of": case["own"]["last_observed_at"].date(),
            "current": case["own"]["is_current"],
            "tok/s a chip": case["own"]["median_output_rate"],
            "grade": case["own"]["evidence_grade"],
            "measured": case["own"]["measured_on"],
            **(
                {}
                if inputs["tokens_per_day"] is None
                else {
                    "hosted USD/month": case["hosted_usd_per_month"],
                    "own USD/month": case["own_usd_per_month"],
                    "cheaper": case["cheaper"],
                }
            ),
        }
        for case in found["cases"]
    ]
    return [Section("Make or buy", lines, table)]


def _bedrock_lines(listed: Mapping[str, Any]) -> list[str]:
    """Return where the prices of Amazon Bedrock come from, and what of the price list was left out."""
    counted = ", ".join(f"{reason} {n}" for reason, n in listed["left_out"].items())
    return [
        f"Amazon Bedrock: {listed['hosted']} models of {listed['file']}, version {listed['version']}, published "
        f"{listed['published_at']:%Y-%m-%d}, SHA-256 {listed['document_sha256']}.",
        *([f"Products of it left out: {counted}."] if counted else []),
        *(f"left out of it: {model}" for model in listed["models_left_out"][:MAX_LINES]),
    ]


def _first(stretches: Sequence[Mapping[str, Any]] | None) -> Any:
    """Return the load from which one's own is cheaper first; None where that is unknown."""
    if stretches is None:
        return None
    return stretches[0]["make_from_tokens_per_day"] if stretches else "never"


def _loads(stretches: Sequence[Mapping[str, Any]] | None) -> str | None:
    """Return stretches of loads as text: the first ones, and from where on it is always so; None: unknown."""
    if stretches is None:
        return None
    if not stretches:
        return "never"
    words = [
        f"{one['make_from_tokens_per_day']:.4g} to {one['make_until_tokens_per_day']:.4g}" for one in stretches[:-1]
    ]
    shown = [*words[:3], *([f"{len(words) - 3} more stretches"] if len(words) > 3 else [])]
    return "; ".join((*shown, f"always above {stretches[-1]['make_from_tokens_per_day']:.4g}"))
