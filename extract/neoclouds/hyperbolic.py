"""Prices of Hyperbolic's on-demand machines, asked without a key.

https://api.hyperbolic.ai/v2/alpha/on-demand/rental-options is what its GPU page shows to anybody not signed in.

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

from collections.abc import Iterator

from extract.neoclouds.answers import Fields, content, objects
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import CENTS, Found, Priced, each, offer, stock
from warehouse.documents import Document

MACHINES = {"virtual-machine": ("vcpuCount", "vCPU"), "bare-metal": ("cpuCount", "CPU")}
"""Each kind of machine, which is the tier, with the field that counts the cores of its nodes, and their name."""
NETWORKS = {
    ("ethernet", "normal"): "ethernet",
    ("ethernet", "rocev2"): "ethernet rocev2",
    ("infiniband", None): "infiniband",
}
"""The fabric of each pair of connectionType and ethernetVariant."""


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of the options that can be rented, and what is free."""
    options = objects("options", content(document.body))
    formed = {str(option.any("gpuType")) for option in options if "gpuFormFactor" in option and option.has("gpuType")}
    single: dict[tuple[str, str, str], list[int]] = {}
    for found in each(options, _row, formed):
        if isinstance(found, Priced) and found.ask:
            key, free = found.ask
            single.setdefault(key, []).append(free)
        yield found
    for (label, region, tier), numbers in single.items():
        if len(numbers) == 1:  # another option would be written to the same row
            number = numbers[0]
            yield stock(label, count=1, region_id=region, tier=tier, n_machines=number, n_accelerators=number)


def _row(option: Fields, formed: set[str]) -> Iterator[Found]:
    """Yield the price of an option, and what is free of it where it has one chip."""
    # Without its form "h100" is two chips.
    if "gpuFormFactor" not in option and (not formed or option.text("gpuType") in formed):
        raise option.wrong("gpuFormFactor", "expected the field gpuFormFactor")
    yield _price(option)
    is_single = "totalAvailable" in option and option.whole("gpuCount") == 1
    key = _label(option), option.text("region"), option.text("machineType")
    yield Priced((key, option.whole("totalAvailable")) if is_single else None)


def _price(option: Fields) -> Found:
    option.only_money("costPerHourCents", "providerCostPerHourCents")
    machine = option.one_of("machineType", MACHINES)
    cores, unit = MACHINES[machine]
    count, cents, nodes = option.whole("gpuCount"), option.number("costPerHourCents"), option.objects("nodes")
    label = _label(option)
    network = option.text("connectionType"), option.text("ethernetVariant") if "ethernetVariant" in option else None
    if network not in NETWORKS:
        known = "; ".join(map(str, NETWORKS))
        raise option.wrong("connectionType", f"unknown network {network}; expected one of {known}")
    for node in nodes:
        node.only_money()
    if not option.flag("enabled"):
        return "an option that is not enabled"
    if not cents or not count:
        return "an option without price or chips"
    if sum(node.whole("gpuCount") for node in nodes) != count:
        return "an option whose nodes have another number of chips"
    if not all(node.whole(cores) for node in nodes):
        return "an option whose nodes have no cores"
    return offer(
        label,
        cents / CENTS,
        count=count,
        region_id=option.text("region"),
        tier=machine,
        fabric=NETWORKS[network],
        minimum_quantity="1" if count == 1 else None,
        conditions=f"{sum(node.whole(cores) for node in nodes)} {unit}",
    )


def _label(option: Fields) -> str:
    return f"{option.text('gpuType')} {option.text('gpuFormFactor') if 'gpuFormFactor' in option else ''}".strip()


SOURCE = web_source(
    read,
    name="hyperbolic",
    provider="Hyperbolic",
    title="Hyperbolic on-demand options",
    url="https://api.hyperbolic.ai/v2/alpha/on-demand/rental-options",
)
