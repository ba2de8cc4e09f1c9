"""A price list of Amazon Bedrock, written here in AWS's format, of one region.

Figures are published ones, USD per 1,000 tokens in us-east-1, all accessed on 2026-11-21:
Claude 2.0, input only, and the attributes of a product: https://github.com/aws/aws-cli/issues/9567 (2025-06-18);
Llama 3 70B, Llama 3.3 70B (on demand and batch), Nova Pro (on demand, cache read): https://aws.amazon.com/bedrock/pricing/
as copied on 2025-07-20 in https://github.com/convo-lang/convo-lang (packages/convo-lang-bedrock/bedrock-pricing.md);
gpt-oss-20b of the newer endpoint, published 2026-09-01: https://github.com/BerriAI/litellm-docs/pull/1217 and
https://github.com/BerriAI/litellm/pull/39866 . SKUs and the time of publication are made up.
"""

import json
from pathlib import Path
from typing import Any

ON_DEMAND = "On-demand Inference"


def listed() -> dict[str, Any]:
    """Return the price list, to be changed by a test."""
    document: dict[str, Any] = {
        "formatVersion": "v1.0", "disclaimer": "", "offerCode": "AmazonBedrock", "version": "20260901000000",
        "publicationDate": "2026-09-01T00:00:00Z", "products": {}, "terms": {"OnDemand": {}},
    }  # fmt: skip
    for sku, model, usage, inference, amount, feature in (
        ("LLAMA3IN", "Llama 3 70B", "Llama3-70B-input-tokens", "Input tokens", "0.0026500000", ON_DEMAND),
        ("LLAMA3OUT", "Llama 3 70B", "Llama3-70B-output-tokens", "Output tokens", "0.0035000000", ON_DEMAND),
        ("LLAMA33IN", "Llama 3.3 70B", "Llama3-3-70B-input-tokens", "Input tokens", "0.0007200000", ON_DEMAND),
        ("LLAMA33OUT", "Llama 3.3 70B", "Llama3-3-70B-output-tokens", "Output tokens", "0.0007200000", ON_DEMAND),
        # A batch says "Input tokens", too: its usage type alone tells it apart
        ("LLAMA33BIN", "Llama 3.3 70B", "Llama3-3-70B-input-tokens-batch", "Input tokens", "0.0003600000", ON_DEMAND),
        ("NOVAIN", "Nova Pro", "NovaPro-input-tokens", "Input tokens", "0.0008000000", ON_DEMAND),
        ("NOVAOUT", "Nova Pro", "NovaPro-output-tokens", "Output tokens", "0.0032000000", ON_DEMAND),
        ("NOVACACHE", "Nova Pro", "NovaPro-cache-read-input-token-count", None, "0.0002000000", ON_DEMAND),
        ("CLAUDEIN", "Claude 2.0", "Claude2.0-input-tokens", "Input tokens", "0.0080000000", ON_DEMAND),
        ("OSSIN", "gpt-oss-20b", "openai.gpt-oss-20b-mantle-input-tokens-standard", "Input tokens", "0.0000700000",
         None),
        ("OSSOUT", "gpt-oss-20b", "openai.gpt-oss-20b-mantle-output-tokens-standard", "Output tokens", "0.0003000000",
         None),
    ):  # fmt: skip
        add(document, sku, amount, model=model, usagetype=f"USE1-{usage}", inferenceType=inference, feature=feature)
    return document


def add(document: dict[str, Any], sku: str, amount: str, *, unit: str = "1K tokens", **attributes: str | None) -> None:
    """Add a product and its price; an attribute of None is absent."""
    document["products"][sku] = {
        "sku": sku, "productFamily": "Amazon Bedrock",
        "attributes": {
            "regionCode": "us-east-1", "servicecode": "AmazonBedrock", "locationType": "AWS Region",
            "location": "US East (N. Virginia)", "servicename": "Amazon Bedrock", "operation": "",
            **{name: value for name, value in attributes.items() if value is not None},
        },
    }  # fmt: skip
    code = f"{sku}.JRTCKXETXF"
    rate = {
        "rateCode": f"{code}.6YS6EN2CT7", "unit": unit, "beginRange": "0", "endRange": "Inf", "description": "",
        "appliesTo": [], "pricePerUnit": {"USD": amount},
    }  # fmt: skip
    document["terms"]["OnDemand"][sku] = {
        code: {
            "sku": sku, "offerTermCode": "JRTCKXETXF", "effectiveDate": "2026-09-01T00:00:00Z", "termAttributes": {},
            "priceDimensions": {rate["rateCode"]: rate},
        }
    }  # fmt: skip


def write(file: Path, document: dict[str, Any] | None = None) -> Path:
    """Write a price list to a file."""
    file.write_text(json.dumps(listed() if document is None else document), encoding="utf-8")
    return file
