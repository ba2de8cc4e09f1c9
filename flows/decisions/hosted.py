"""Prices of hosted models, which a decision weighs against machines: the user's CSV, or a saved price list of AWS."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from extract.web import strict_json
from flows.shared import user_file
from reports import wording
from warehouse.errors import ChipledgerError
from warehouse.reference.table import Model, Rule


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
    fields=get_type_hints(Hosted),
    help="docs/deciding.md",
    may_be_zero=("input_usd_per_million", "output_usd_per_million", "cached_input_usd_per_million"),
    rules=(
        Rule("url", "not an address such as https://example.com/pricing", "regexp_like(url, '^https?://')"),
        Rule(
            "cached_input_usd_per_million",
            "above the price of input, {input_usd_per_million}",
            "cached_input_usd_per_million <= input_usd_per_million",
        ),
    ),
    unique=("provider", "model", "as_of"),
    repeated="a second price of the same model, provider and day",
)


def read(
    csv: Path | None, bedrock: Path | None, *, price: tuple[float, float] | None, model: str | None
) -> tuple[tuple[Hosted, ...], tuple[str, ...]]:
    """Return prices of a CSV, of a price list, the one stated; and words on the list. Raises ChipledgerError."""
    listed = read_bedrock(bedrock) if bedrock else None
    found = [Hosted(**row) for row in HOSTED.read(user_file.table(csv))] if csv else []
    found += listed.hosted if listed else []
    if price is not None:
        values: Any = ("hosted, as stated", model or "", *(Decimal(str(usd)) for usd in price), None)
        named: dict[str, Any] = dict(zip(Hosted.__dataclass_fields__, values, strict=False))
        found.append(Hosted(**named, as_of=datetime.now(UTC).date(), url=""))
    return tuple(found), tuple(listed.words() if listed else ())


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
OTHERS = wording.words_of("bedrock", __package__)
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

    def words(self) -> Iterator[str]:
        """Yield where the prices come from, and what of the list was left out."""
        yield (
            f"Amazon Bedrock: {len(self.hosted)} models of {self.file}, version {self.version}, published "
            f"{self.published_at:%Y-%m-%d}, SHA-256 {self.document_sha256}."
        )
        yield f"Products of it left out: {', '.join(f'{reason} {n}' for reason, n in self.left_out.items()) or 'none'}."
        yield from (f"left out of it: {model}" for model in self.models_left_out)


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
