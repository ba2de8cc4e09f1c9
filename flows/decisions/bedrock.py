"""Hosted prices of Amazon Bedrock from a saved file of AWS's price list, for `makeorbuy --bedrock`.

The file is a region's, as downloaded from
https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonBedrock/current/us-east-1/index.json :
offerCode, version, publicationDate, products (SKU to attributes), terms.OnDemand (SKU to term to
priceDimensions). Nothing is fetched here.

A product counts where all of this says that it is text, on demand, at the standard tier, in the region itself:

1. `inferenceType` is "Input tokens" or "Output tokens". It says so of batches and of cross-region inference too,
2. hence `usagetype` has to end so as well: USE1-NovaPro-input-tokens, or with a tier,
   USE1-openai.gpt-oss-20b-mantle-output-tokens-standard. Any other ending is another price: -batch, -flex, -priority,
   -latency-optimized, -custom-model, -cross-region-global, -long-context.
3. `feature` is "On-demand Inference" and `service_tier` "standard", where the product has them: many have no tier.
4. Its unit is one of `UNITS`. Others ("Tokens", "image", "1K TPM Hour") are not read as prices of so many tokens.

Everything else is left out and counted. A model's two prices come from two products, sometimes from two pairs of them
(an older and a newer endpoint): where they differ, or one of input and output is missing, the model is left out and
named. Newer models of Anthropic are in other lists (AmazonBedrockFoundationModels, AmazonBedrockService), not read.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from extract.web import strict_json
from flows.decisions.self_hosting import Hosted
from flows.shared import user_file
from warehouse.errors import ChipledgerError

SERVICE = "AmazonBedrock"
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


def read(file: Path) -> PriceList:
    """Return the prices of a saved index.json.

    Raises ChipledgerError, naming file, field and value, where it is no price list of Bedrock or has no usable price.
    """
    body = user_file.read(file)
    list_ = _Reader(file.name)
    document = list_.decoded(body)
    service = list_.text(document, "offerCode", "offerCode")
    if service != SERVICE:
        raise list_.refusal("a price list of another service", "offerCode", service)
    version = list_.text(document, "version", "version")
    if not version.isdigit():
        raise list_.refusal("not a version such as 20260901000000", "version", version)
    published_at = list_.moment(document, "publicationDate")
    terms = list_.mapping(list_.mapping(document.get("terms"), "terms").get("OnDemand"), "terms.OnDemand")
    left_out: Counter[str] = Counter()
    prices: dict[tuple[str, str], dict[str, set[Decimal]]] = defaultdict(lambda: {"input": set(), "output": set()})
    for sku, product in list_.mapping(document.get("products"), "products").items():
        try:
            region, model, end, amount = list_.price(sku, product, terms.get(sku))
        except _Left as reason:
            left_out[str(reason)] += 1
        else:
            prices[region, model][end].add(amount)
    hosted, models_left_out = [], []
    for (region, model), ends in sorted(prices.items()):
        reasons = list(_doubts(ends))
        if reasons:
            models_left_out.append(f"{model} in {region}: {', '.join(reasons)}")
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


@dataclass(frozen=True)
class _Reader:
    """Reads values of one file, and names it in errors."""

    source: str

    def price(self, sku: str, product: object, terms: object) -> tuple[str, str, str, Decimal]:
        """Return region, model, input or output, and USD per million tokens; raise _Left for any other product."""
        at = f"products.{sku}"
        attributes = self.mapping(self.mapping(product, at).get("attributes"), f"{at}.attributes")
        end, model = _meant(attributes)
        if attributes.get("servicecode", SERVICE) != SERVICE:
            raise self.refusal("a product of another service", f"{at}.servicecode", attributes["servicecode"])
        region = self.text(attributes, "regionCode", f"{at}.regionCode")
        if terms is None:
            raise _Left("no on-demand price")
        return region, model, end, self.amount(self.mapping(terms, f"terms.OnDemand.{sku}"), f"terms.OnDemand.{sku}")

    def amount(self, terms: Mapping[str, Any], at: str) -> Decimal:
        """Return USD per million tokens of a product's only price."""
        if len(terms) != 1:
            raise _Left("several terms")
        term = self.mapping(next(iter(terms.values())), at)
        dimensions = self.mapping(term.get("priceDimensions"), f"{at}.priceDimensions")
        if len(dimensions) != 1:
            raise _Left("priced by volume")
        rate = self.mapping(next(iter(dimensions.values())), f"{at}.priceDimensions")
        unit = self.text(rate, "unit", f"{at}.unit")
        if unit not in UNITS:
            raise _Left(f"unit {unit}")
        if rate.get("beginRange", "0") != "0" or rate.get("endRange", "Inf") != "Inf":
            raise _Left("priced by volume")
        amounts = self.mapping(rate.get("pricePerUnit"), f"{at}.pricePerUnit")
        if amounts and "USD" not in amounts:
            raise _Left("not in USD")
        text = self.text(amounts, "USD", f"{at}.pricePerUnit.USD")
        try:
            amount = Decimal(text)
        except InvalidOperation:
            raise self.refusal("not an amount such as 0.0007200000", f"{at}.pricePerUnit.USD", text) from None
        if not amount.is_finite() or not 0 <= amount < MAX_USD or "_" in text:
            raise self.refusal("not an amount of 0 or more, or beyond reason", f"{at}.pricePerUnit.USD", text)
        if amount == 0:
            raise _Left("a price of 0")
        return amount * UNITS[unit]

    def decoded(self, body: bytes) -> Mapping[str, Any]:
        try:
            document = strict_json.loads(body)
        except ValueError as error:
            start = body[:40].decode("utf-8", "replace")
            raise self.refusal(f"not the price list as JSON: {error}", "body", start) from error
        return self.mapping(document, "body")

    def mapping(self, value: object, field: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.refusal("missing" if value is None else "expected an object", field, value)
        return value

    def text(self, mapping: Mapping[str, Any], name: str, field: str) -> str:
        value = mapping.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self.refusal("missing" if value in (None, "") else "expected text", field, value)
        return value

    def moment(self, mapping: Mapping[str, Any], name: str) -> datetime:
        text = self.text(mapping, name, name)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise self.refusal("not a moment such as 2026-09-01T00:00:00Z", name, text) from None
        if moment.utcoffset() is None or moment.utcoffset():
            raise self.refusal("not a moment in UTC", name, text)
        return moment

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
