"""Prices of Hyperbolic's on-demand machines, asked without a key.

The answer of https://api.hyperbolic.ai/v2/alpha/on-demand/rental-options is what its GPU page shows to anybody who is
not signed in, under https://hyperbolic.xyz/terms .

Settings: `url`.

Quirks:

1. `costPerHourCents` is of the whole option, in US cents, whatever `gpuCount` is. `providerCostPerHourCents` beside it
   is what Hyperbolic pays itself, and is never read.
2. An option has no id. What tells two in one region apart is the processor, so its cores are the conditions.
3. `nodes` count the chips once more; an option whose nodes have another number of them is left out and counted.
4. An option that is not `enabled` cannot be rented: no price, and counted.
5. `totalAvailable` stands beside few options. Where it is absent, nothing is known; whether it counts chips or machines
   is not said, so that it is read for options of one chip only.
6. `gpuFormFactor` may be absent of a chip that has but one form: of all options of a chip, or of none.
7. The network of `ethernet` machines is named once more, `normal` or `rocev2`: RoCE makes another fabric of it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta

from extract.base import Parsed
from extract.neoclouds.answers import Fields, content, objects, refusal
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import CENTS, Row, offer, once, parsed
from warehouse.documents import Document

NAME = "hyperbolic"
URL = "https://api.hyperbolic.ai/v2/alpha/on-demand/rental-options"
PROVIDER = "Hyperbolic"
OFF_BECAUSE = (
    "Hyperbolic was left out by a reader of its terms and robots.txt, which closes /api/ (2026-10-10); "
    "read https://hyperbolic.xyz/terms and decide"
)
MACHINES = {"virtual-machine": "vcpuCount", "bare-metal": "cpuCount"}
"""Each kind of machine, which is the tier, and the field that counts the cores of its nodes."""
CORES = {"vcpuCount": "vCPU", "cpuCount": "CPU"}
NETWORKS = {
    ("ethernet", "normal"): "ethernet",
    ("ethernet", "rocev2"): "ethernet rocev2",
    ("infiniband", None): "infiniband",
}
"""The fabric of each pair of connectionType and ethernetVariant."""


def parse(document: Document) -> Parsed:
    """Return the prices of the options that can be rented; raise LayoutChanged where the answer is another."""
    ignored: Counter[str] = Counter()
    options = objects(NAME, "options", content(document))
    _refuse_lost_forms(options)
    rows, twice = once(row for option in options for row in _rows(option, ignored))
    ignored["the same offer twice"] += twice
    return parsed(rows, source=NAME, ignored=+ignored, availability=_free(options))


def _rows(option: Fields, ignored: Counter[str]) -> Iterator[Row]:
    option.only_money("costPerHourCents", "providerCostPerHourCents")
    count, cents, cores = option.whole("gpuCount"), option.number("costPerHourCents"), MACHINES[_machine(option)]
    nodes, label, fabric = option.objects("nodes"), _label(option), _fabric(option)
    for node in nodes:
        node.only_money()
    if not option.flag("enabled"):
        ignored["an option that is not enabled"] += 1
    elif not cents or not count:
        ignored["an option without price or chips"] += 1
    elif sum(node.whole("gpuCount") for node in nodes) != count:
        ignored["an option whose nodes have another number of chips"] += 1
    elif not all(node.whole(cores) for node in nodes):
        ignored["an option whose nodes have no cores"] += 1
    else:
        yield offer(
            PROVIDER,
            label=label,
            price=cents / CENTS,
            count=count,
            region_id=option.text("region"),
            tier=_machine(option),
            fabric=fabric,
            minimum_quantity="1" if count == 1 else None,
            conditions=f"{sum(node.whole(cores) for node in nodes)} {CORES[cores]}",
        )


def _refuse_lost_forms(options: list[Fields]) -> None:
    """Raise where the form is gone from some options of a chip, or from all: "h100" is two chips without it."""
    formed = {option.text("gpuType") for option in options if "gpuFormFactor" in option}
    for option in options:
        if "gpuFormFactor" not in option and (not formed or option.text("gpuType") in formed):
            raise refusal(NAME, "expected the field gpuFormFactor", f"{option.place}.gpuFormFactor", None)


def _label(option: Fields) -> str:
    form = option.text("gpuFormFactor") if "gpuFormFactor" in option else ""
    return f"{option.text('gpuType')} {form}".strip()


def _machine(option: Fields) -> str:
    kind = option.text("machineType")
    if kind not in MACHINES:
        raise refusal(NAME, "a kind of machine that is not known", f"{option.place}.machineType", kind)
    return kind


def _fabric(option: Fields) -> str:
    network = option.text("connectionType"), option.text("ethernetVariant") if "ethernetVariant" in option else None
    if network not in NETWORKS:
        raise refusal(
            NAME, "a network that is not known", f"{option.place}.connectionType", " ".join(map(str, network))
        )
    return NETWORKS[network]


def _free(options: list[Fields]) -> list[Mapping[str, object]]:
    """Return what is free of options of one chip, where no other option would be written to the same row."""
    available: dict[tuple[str, str, str], list[int]] = {}
    for option in options:
        if "totalAvailable" in option and option.whole("gpuCount") == 1:
            key = (_label(option), option.text("region"), _machine(option))
            available.setdefault(key, []).append(option.whole("totalAvailable"))
    return [
        {
            "service_provider_name": PROVIDER,
            "accelerator_label": label,
            "accelerator_count": 1,
            "region_id": region,
            "purchase_option": "on_demand",
            "tier": tier,
            "n_machines": free[0],
            "n_accelerators": free[0],
        }
        for (label, region, tier), free in available.items()
        if len(free) == 1
    ]


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Hyperbolic on-demand options",
    url=URL,
    terms_url="https://hyperbolic.xyz/terms",
    max_age=timedelta(days=3),
    parse=parse,
    off_because=OFF_BECAUSE,
)
