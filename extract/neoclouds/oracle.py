"""Prices of Oracle Cloud's accelerators: its public price list, asked without a key.

https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/ is the list behind Oracle's cost estimator. A price is of
one accelerator and one hour, the same in every region.

1. `metricName` "GPU Per Hour" is no sign of an accelerator: licences of NVIDIA AI Enterprise have it in the same
   category, and Cloud@Customer with the same chip. So each part number is known with its name, and refused where the
   name is another.
2. X7 and V2 are P100 and V100 by the equal prices of Oracle's shapes. E3 and E4 are named and not read: both cost what
   an A100 of 40 GB does, and no page says which is one. H100T is a chip of its own that no page explains: the same.
3. A price in another currency stands beside; only USD is asked for, and any other refused.
4. Preemptible capacity costs half by Oracle's documentation, of virtual machines only, and is no price of the list: it
   is marked as derived.
5. One rents whole shapes: the fewest accelerators of a chip's shapes are the minimum quantity (`cloud_machine.csv`).
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from extract.neoclouds import answers
from extract.neoclouds.answers import Fields
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import Found, Unknown, each, offer, plain
from warehouse.documents import Document
from warehouse.reference.cloud_machines import CloudMachine, machines

PROVIDER = "Oracle Cloud"
METRIC = "GPU Per Hour"
PARTS = {
    "B88517": ("X7", "NVIDIA P100"),
    "B88518": ("X7", "NVIDIA P100"),
    "B89734": ("V2", "NVIDIA V100"),
    "B95907": ("A100 - v2", "NVIDIA A100 80GB"),
    "B95909": ("A10", "NVIDIA A10"),
    "B98415": ("H100", "NVIDIA H100"),
    "B109479": ("L40S", "NVIDIA L40S"),
    "B109485": ("MI300X", "AMD MI300X"),
    "B110519": ("H200", "NVIDIA H200"),
    "B110978": ("B200", "NVIDIA B200"),
    "B110979": ("GB200", "NVIDIA GB200"),
    "B111758": ("MI355X", "AMD MI355X"),
    "B112140": ("GB300", "NVIDIA GB300"),
    "B112237": ("B300", "NVIDIA B300"),
    "B112613": ("RTX PRO 6000", "NVIDIA RTX PRO 6000"),
}
"""The part numbers of accelerators: how the name of each ends, and its chip (list of 2026-08-14)."""
OTHERS = {
    "AI Enterprise": "a licence",
    "Cloud@Customer": "Cloud@Customer",
    "VMware": "a node of VMware",
    "Roving Edge": "Roving Edge",
}
"""Words in the name or the category of what is priced per GPU and is no accelerator to rent, and the reason."""
ONLY = {"B88517": "bare metal", "B88518": "virtual machine"}
"""Parts of one kind of shape; all others are of every shape of their chip."""
PREEMPTIBLE = Decimal("0.5")
"""https://docs.oracle.com/iaas/Content/Compute/Concepts/preemptible.htm: preemptible capacity costs 50 % less."""


def read(document: Document) -> Iterator[Found]:
    """Yield the price of each accelerator."""
    yield from each(answers.answer(document).objects("items"), _item)


def _item(item: Fields) -> Iterator[Found]:
    part, category = item.text("partNumber"), item.text("serviceCategory")
    name = " ".join(item.text("displayName").split())
    if part not in PARTS:
        if item.text("metricName") != METRIC and "GPU" not in name:
            yield "no accelerator"
        else:
            others = (reason for word, reason in OTHERS.items() if word in name or word in category)
            yield next(others, Unknown(f"the part {part}, {name}"))
        return
    ending, label = PARTS[part]
    if not re.search(rf"Compute - .*\bGPU\b.* - {ending}$", name) or category != "Compute - GPU":
        raise item.wrong("displayName", f"expected the accelerator {ending} of part {part}")
    if item.text("metricName") != METRIC:
        raise item.form_changed("metricName", f"expected {METRIC}")
    price = _price(item)
    shapes = [one for one in machines(PROVIDER).values() if one.accelerator_label == label]
    virtual = [one for one in shapes if one.instance_type.startswith("VM.")]
    if part in ONLY:
        shapes = virtual if part == "B88518" else [one for one in shapes if one not in virtual]
        virtual = virtual if part == "B88518" else []
    yield offer(label, price, minimum_quantity=_least(shapes), tier=ONLY.get(part))
    if virtual:
        yield offer(
            label,
            price * PREEMPTIBLE,
            option="spot",
            minimum_quantity=_least(virtual),
            tier="virtual machine",
            conditions="preemptible: derived, half of the price on demand by Oracle's documentation",
        )


def _least(shapes: list[CloudMachine]) -> str | None:
    """Return the fewest accelerators that a shape has: so many one rents at least."""
    return plain(min(one.accelerator_count for one in shapes)) if shapes else None


def _price(item: Fields) -> Decimal:
    """Return the price in USD as one pays as one goes."""
    localizations = item.objects("currencyCodeLocalizations")
    if [one.text("currencyCode") for one in localizations] != ["USD"]:
        raise item.form_changed("currencyCodeLocalizations", "expected prices in USD alone")
    prices = localizations[0].objects("prices")
    if [one.text("model") for one in prices] != ["PAY_AS_YOU_GO"]:
        raise item.wrong("currencyCodeLocalizations", "expected one price of PAY_AS_YOU_GO")
    prices[0].only_money()
    return prices[0].number("value")


SOURCE = web_source(
    read,
    name="oracle",
    provider=PROVIDER,
    title="Oracle Cloud price list",
    url="https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/?currencyCode=USD",
)
