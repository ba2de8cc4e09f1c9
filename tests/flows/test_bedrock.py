"""Prices of Amazon Bedrock read from a saved price list of AWS."""

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from bedrock_file import ON_DEMAND, add, listed, write

from flows.decisions.hosted import read_bedrock as read
from warehouse.errors import ChipledgerError

Change = Callable[[dict[str, Any]], object]


def rate(document: dict[str, Any], sku: str) -> dict[str, Any]:
    """Return the one price of a product."""
    (term,) = document["terms"]["OnDemand"][sku].values()
    found: dict[str, Any]
    (found,) = term["priceDimensions"].values()
    return found


def test_prices_per_million_with_their_origin(tmp_path: Path) -> None:
    """USD per 1,000 tokens times 1,000, exact; the day is that of publication, the address that of the version."""
    file = write(tmp_path / "index.json")
    found = read(file)

    assert {one.model: (one.input_usd_per_million, one.output_usd_per_million) for one in found.hosted} == {
        "Llama 3 70B": (Decimal("2.65"), Decimal("3.5")),
        "Llama 3.3 70B": (Decimal("0.72"), Decimal("0.72")),
        "Nova Pro": (Decimal("0.8"), Decimal("3.2")),
        "gpt-oss-20b": (Decimal("0.07"), Decimal("0.3")),
    }
    assert {(one.provider, one.cached_input_usd_per_million, one.as_of, one.url) for one in found.hosted} == {
        (
            "Amazon Bedrock us-east-1", None, date(2026, 9, 1),
            "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonBedrock/20260901000000/us-east-1/index.json",
        )
    }  # fmt: skip
    assert found.document_sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert found.published_at == datetime(2026, 9, 1, tzinfo=UTC)
    assert found.left_out == {"batch": 1, "cached input": 1}
    assert found.models_left_out == ["Claude 2.0 in us-east-1: no price of output"]


@pytest.mark.parametrize(
    ("usage", "changed", "reason"),
    [
        ("NovaPro-input-tokens-batch", {}, "batch"),
        ("NovaPro-input-tokens", {"feature": "Batch Inference"}, "batch"),
        ("NovaPro-input-tokens-custom-model", {}, "custom models"),
        ("NovaPro-Model-Customization-input-tokens", {"feature": "Model Customization"}, "custom models"),
        ("NovaPro-ProvisionedThroughput-ModelUnits", {"feature": "Provisioned Throughput"}, "provisioned throughput"),
        ("NovaPro-cache-read-input-token-count", {"inferenceType": None}, "cached input"),
        ("NovaPro-input-tokens", {"inferenceType": "Prompt cache read input tokens"}, "cached input"),
        ("NovaPro-input-tokens-cross-region-global", {}, "cross-region inference"),
        ("NovaPro-input-tokens-latency-optimized", {}, "latency-optimised"),
        ("NovaPro-input-tokens", {"model": "Nova Pro Latency Optimized"}, "latency-optimised"),
        ("NovaPro-input-tokens-priority", {"inferenceType": "Input tokens priority"}, "another tier"),
        ("NovaPro-input-tokens", {"service_tier": "Flex"}, "another tier"),
        ("NovaPro-input-tokens-long-context", {}, "long context"),
        ("NovaCanvas-T2I-1024-Standard", {"inferenceType": "T2I 1024 Standard"}, "not input or output tokens of text"),
        ("Guardrail-ContentPolicyUnitsConsumed", {"inferenceType": None}, "guardrails"),
        ("NovaPro-input-image-count", {"inferenceType": None}, "images, video and sound"),
        ("NovaPro-input-tokens", {"feature": "Knowledge Bases"}, "another feature"),
        ("NovaPro-output-tokens", {}, "a usage type that is not understood"),
        ("NovaPro-input-tokens-new", {}, "a usage type that is not understood"),
        ("NovaPro-input-tokens", {"model": None}, "no name of a model"),
    ],
)
def test_every_other_price_is_left_out_and_counted(
    usage: str, changed: dict[str, str | None], reason: str, tmp_path: Path
) -> None:
    """One product more, at another price than Nova Pro's: neither is its price touched, nor the product lost."""
    document = listed()
    attributes: dict[str, Any] = {"model": "Nova Pro", "inferenceType": "Input tokens", "feature": ON_DEMAND, **changed}
    add(document, "OTHER", "9", usagetype=f"USE1-{usage}", **attributes)
    found = read(write(tmp_path / "index.json", document))

    assert found.left_out == {**read(write(tmp_path / "plain.json")).left_out, reason: found.left_out[reason]}
    assert sum(found.left_out.values()) == 3
    assert {one.input_usd_per_million for one in found.hosted if one.model == "Nova Pro"} == {Decimal("0.8")}
    assert len(found.hosted) == 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda each: each.update(unit="Tokens"), "unit Tokens"),
        (lambda each: each.update(pricePerUnit={"CNY": "0.005"}), "not in USD"),
        (lambda each: each.update(pricePerUnit={"USD": "0.0000000000"}), "a price of 0"),
        (lambda each: each.update(endRange="1000000"), "priced by volume"),
    ],
)
def test_a_price_that_is_not_known_leaves_its_model_out(change: Change, reason: str, tmp_path: Path) -> None:
    """The product is counted, and the model, which has one price left, is named."""
    document = listed()
    change(rate(document, "NOVAOUT"))
    found = read(write(tmp_path / "index.json", document))

    assert found.left_out[reason] == 1
    assert "Nova Pro in us-east-1: no price of output" in found.models_left_out
    assert "Nova Pro" not in {one.model for one in found.hosted}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda each: each.pop("NOVAOUT"), "no on-demand price"),
        (lambda each: each["NOVAOUT"].update(each["NOVAIN"]), "several terms"),
        (
            lambda each: each["NOVAOUT"]["NOVAOUT.JRTCKXETXF"]["priceDimensions"].update(second={}),
            "priced by volume",
        ),
    ],
)
def test_none_or_several_prices_of_a_product_leave_its_model_out(change: Change, reason: str, tmp_path: Path) -> None:
    document = listed()
    change(document["terms"]["OnDemand"])
    found = read(write(tmp_path / "index.json", document))

    assert found.left_out[reason] == 1
    assert "Nova Pro in us-east-1: no price of output" in found.models_left_out


def test_a_price_of_a_million_tokens_is_not_multiplied(tmp_path: Path) -> None:
    document = listed()
    rate(document, "NOVAOUT").update(unit="1M tokens", pricePerUnit={"USD": "3.2"})
    (nova,) = [one for one in read(write(tmp_path / "index.json", document)).hosted if one.model == "Nova Pro"]

    assert (nova.input_usd_per_million, nova.output_usd_per_million) == (Decimal("0.8"), Decimal("3.2"))


def test_two_products_of_one_price(tmp_path: Path) -> None:
    """An older and a newer endpoint at one price are one price; at two, the model is left out and both are told."""
    document = listed()
    again = {"model": "gpt-oss-20b", "usagetype": "USE1-gpt-oss-20b-input-tokens", "inferenceType": "Input tokens"}
    add(document, "OSSIN2", "0.00007", **again)
    assert "gpt-oss-20b" in {one.model for one in read(write(tmp_path / "index.json", document)).hosted}

    add(document, "OSSIN2", "0.00008", **again)
    assert read(write(tmp_path / "index.json", document)).models_left_out == [
        "Claude 2.0 in us-east-1: no price of output",
        "gpt-oss-20b in us-east-1: several prices of input, 0.07 and 0.08 USD a million",
    ]


def test_regions_stand_apart(tmp_path: Path) -> None:
    """The file of all regions: a price of input here and one of output there make no pair."""
    document = listed()
    document["products"]["NOVAOUT"]["attributes"]["regionCode"] = "eu-west-1"
    found = read(write(tmp_path / "index.json", document))

    assert found.models_left_out == [
        "Nova Pro in eu-west-1: no price of input",
        "Claude 2.0 in us-east-1: no price of output",
        "Nova Pro in us-east-1: no price of output",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda each: each.update(offerCode="AmazonEC2"),
            "of another service (field offerCode, value AmazonEC2). Download",
        ),
        (lambda each: each.pop("offerCode"), "missing (field offerCode"),
        (lambda each: each.pop("publicationDate"), "missing (field publicationDate"),
        (lambda each: each.update(publicationDate="today"), "not a moment such as"),
        (lambda each: each.update(publicationDate="2026-09-01T00:00:00"), "not a moment in UTC"),
        (lambda each: each.update(version="../x"), "not a version such as 20260901000000 (field version, value ../x)"),
        (lambda each: each.pop("products"), "missing (field products"),
        (lambda each: each.update(products={}), "no model with a price of input and of output"),
        (lambda each: each["terms"].pop("OnDemand"), "missing (field terms.OnDemand"),
        (lambda each: each["products"]["NOVAIN"].pop("attributes"), "missing (field products.NOVAIN.attributes"),
        (lambda each: each["products"]["NOVAIN"]["attributes"].pop("regionCode"), "(field products.NOVAIN.regionCode"),
        (
            lambda each: each["products"]["NOVAIN"]["attributes"].update(servicecode="AmazonEC2"),
            "a product of another service (field products.NOVAIN.servicecode, value AmazonEC2)",
        ),
        (lambda each: rate(each, "NOVAIN").pop("unit"), "missing (field terms.OnDemand.NOVAIN.unit"),
        (lambda each: rate(each, "NOVAIN").pop("pricePerUnit"), "missing (field terms.OnDemand.NOVAIN.pricePerUnit"),
        (lambda each: rate(each, "NOVAIN").update(pricePerUnit={"USD": 0.0008}), "expected text (field"),
        (lambda each: rate(each, "NOVAIN").update(pricePerUnit={"USD": "cheap"}), "not an amount such as"),
        (lambda each: rate(each, "NOVAIN").update(pricePerUnit={"USD": "-1"}), "not an amount of 0 or more"),
        (lambda each: rate(each, "NOVAIN").update(pricePerUnit={"USD": "NaN"}), "not an amount of 0 or more"),
    ],
)
def test_another_file_is_refused_by_name(change: Change, said: str, tmp_path: Path) -> None:
    document = listed()
    change(document)

    with pytest.raises(ChipledgerError, match=f"^index.json: .*{re.escape(said)}"):
        read(write(tmp_path / "index.json", document))


@pytest.mark.parametrize("body", [b"", b"<html>", b'"FormatVersion","v1.0"\n', b"[]", b"\xff"])
def test_what_is_no_price_list_as_json_is_refused(body: bytes, tmp_path: Path) -> None:
    """The same list as CSV, too: its columns are not known here."""
    file = tmp_path / "index.csv"
    file.write_bytes(body)

    with pytest.raises(ChipledgerError, match=r"(?s)field body.*AmazonBedrock/current/us-east-1/index\.json"):
        read(file)


@pytest.mark.parametrize("name", ["USD", "regionCode", "NOVAIN", "offerCode"])
def test_a_name_that_stands_twice_is_refused(name: str, tmp_path: Path) -> None:
    """One of the two prices, regions, products or services would be believed, and nobody could tell which."""
    file = tmp_path / "index.json"
    body = write(file).read_text()
    file.write_text(re.sub(rf'"{name}": ("[^"]*"|\{{)', rf'"{name}": "another", \g<0>', body, count=1))

    with pytest.raises(ChipledgerError, match="key twice"):
        read(file)


def test_words_say_where_the_prices_come_from(tmp_path: Path) -> None:
    """Version, day and hash of the list, and what of it was left out."""
    found = read(write(tmp_path / "index.json"))
    first, products, *models = found.words()

    assert "4 models of index.json, version 20260901000000, published 2026-09-01, SHA-256 " in first
    assert first.endswith(f"{found.document_sha256}.")
    assert products == "Products of it left out: batch 1, cached input 1."
    assert "left out of it: Claude 2.0 in us-east-1: no price of output" in models
