"""One table of SkyPilot's catalogue as prices: columns by their names, machines that contradict themselves left out.

The quirks stand in the package's docstring.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

from extract.base import Parsed
from extract.neoclouds.answers import refusal
from extract.neoclouds.offers import TEN_DECIMALS, Row, offer, once, parsed, plain
from warehouse.documents import Document
from warehouse.errors import SourceError

NAME = "skypilot_catalog"

OWN_REGIONS = "region from SkyPilot's own list"
NEEDED = frozenset({"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "Region"})
KNOWN = NEEDED | {
    "vCPUs",
    "MemoryGiB",
    "GpuInfo",
    "AvailabilityZone",
    "UpstreamCloudId",
    "Provider",
    "OperatingSystem",
    "SpheronInstanceType",
    "StorageGiB",
    "HostingType",
    "Arch",
}
"""Columns of all versions that were seen."""

NO_REGIONS = ("", "UNSPECIFIED", "default")
NO_PRICE = Decimal(99999999)
"""What Prime Intellect's table has for "no spot price"."""
NOISE = Decimal("1e-12")
"""What a sum of binary fractions may be off by, in dollars."""
MIN_MIB = 1024
"""No chip has less memory than this in MiB: below, the number is of GB."""
OFF_BY = Decimal("0.08")
"""How far two accounts of one memory may be apart: an H200 has 141 GB, or the 140 GiB that its driver shows."""
MOST = Decimal("0.1")
"""Part of the machines that may contradict themselves before the table is taken to have changed."""

CONTRADICTIONS = (
    "another count than its name",
    "another count than GpuInfo",
    "another memory than its name",
    "another memory than GpuInfo",
    "another form than its name",
    "another chip than its name",
)
UNNAMED_MEMORY = "an A100 labelled 80 GB whose machine does not say so"

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?([eE]-?[0-9]{1,2})?")
_FORM = re.compile(r"(?<![a-z])(sxm|pcie|pci|nvl)(?=\d?(?:x\d{1,2})?(?:[^a-z0-9]|$))", re.IGNORECASE)
_MEMORY = re.compile(r"(?<![\d.])(\d{2,3}) ?GB?(?=x\d|[^a-z0-9]|$)", re.IGNORECASE)
_TIMES = r"x(\d{1,2})(?=[_-]|$)"
_SESTERCE_A100 = re.compile(r"A100(?!.*80G.*_[0-9a-f]{24}_).*_[0-9a-f]{24}_", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """What is particular to one provider's table.

    `count` finds the number of chips in a machine's name. `words` finds the chip in it, where that says more than
    AcceleratorName; with `info_names` GpuInfo does. `is_total`: GpuInfo counts the memory of all chips together.
    `names_form` and `names_memory`: what a machine's name says of the chip's form and memory is the provider's word.
    """

    provider: str
    currency: str = "USD"
    statistic: str = "price"
    conditions: str | None = None
    count: str = ""
    words: str = ""
    info_names: bool = False
    is_total: bool = False
    names_form: bool = False
    names_memory: bool = False


CATALOGUES = {
    "cudo": Catalogue(provider="CUDO Compute", conditions="without disk and address", count=r"_(\d+)x\d+v"),
    "do": Catalogue(provider="DigitalOcean", count=_TIMES),
    "fluidstack": Catalogue(provider="FluidStack"),
    "hyperbolic": Catalogue(provider="Hyperbolic", count=r"^(\d+)x-", info_names=True),
    "lambda": Catalogue(
        provider="Lambda", conditions=OWN_REGIONS, count=r"^gpu_(\d+)x_", names_form=True, names_memory=True
    ),
    "nebius": Catalogue(provider="Nebius", count=r"_(\d+)gpu-", names_form=True),
    "paperspace": Catalogue(provider="Paperspace", count=_TIMES),
    "primeintellect": Catalogue(
        provider="Prime Intellect", count=r"__(\d+)x", words=r"__\d+x(.+?)__\d+__\d+$", is_total=True
    ),
    "runpod": Catalogue(provider="RunPod", conditions=OWN_REGIONS, count=r"^(\d+)x_", info_names=True),
    "seeweb": Catalogue(provider="Seeweb", currency="EUR"),
    "shadeform": Catalogue(provider="Shadeform", count=_TIMES, names_memory=True),
    "spheron": Catalogue(provider="Spheron", count=_TIMES, names_memory=True),
    "vast": Catalogue(
        provider="Vast.ai",
        statistic="median",
        conditions="median over all regions",
        count=r"^(\d+)x-",
        words=r"^\d+x-(.+)-\d+-\d+$",
        is_total=True,
    ),
    "verda": Catalogue(provider="Verda", count=r"^(\d+)[A-Z]"),
}
"""The tables that are read, by the name of their folder."""


class Info(NamedTuple):
    """What GpuInfo says: the chip's name, how many, and SizeInMiB; None each where it does not."""

    name: str | None = None
    chips: Decimal | None = None
    size: Decimal | None = None


class Machine(NamedTuple):
    """One line of a table: the cells by column, and the chips in it."""

    cells: dict[str, str]
    chips: Decimal

    @property
    def name(self) -> str:
        """Return the machine's name."""
        return self.cells["InstanceType"].strip()


def parse(document: Document) -> Parsed:
    """Return the prices of a table, the document's scope being its provider; raise LayoutChanged."""
    catalogue = CATALOGUES.get(document.scope)
    if catalogue is None:
        hint = f"The catalogues are {', '.join(CATALOGUES)}"
        raise SourceError("no such catalogue", source=NAME, field="scope", value=document.scope, hint=hint)
    rows: list[Row] = []
    ignored: Counter[str] = Counter()
    lines = list(_lines(document.body))
    if not lines:
        raise refusal(NAME, "expected machines, found only a header", "InstanceType", None)
    swapped = priced_twice = machines = 0
    for number, cells in enumerate(lines, start=2):
        machine = _machine(cells, number)
        if machine is None:
            ignored["without accelerators"] += 1
            continue
        machines += 1
        price, spot = (_amount(cells[column], f"line {number}, {column}") for column in ("Price", "SpotPrice"))
        label, reason = _label(document.scope, catalogue, machine)
        if label is None:
            ignored[reason] += 1
            continue
        ignored.update(_without(price, spot, document.scope))
        if document.scope == "vast" or spot == NO_PRICE:
            spot = None
        if price and spot:
            priced_twice += 1
            swapped += spot > price
        if price:
            rows.append(_row(document.scope, catalogue, machine, label, price, "on_demand"))
        if spot and (not price or spot < price):
            rows.append(_row(document.scope, catalogue, machine, label, spot, "spot"))
    contradicting = sum(ignored[reason] for reason in CONTRADICTIONS)
    if contradicting > machines * MOST:
        raise refusal(NAME, "machines contradict their names", "InstanceType", f"{contradicting} of {machines}")
    if swapped * 2 > priced_twice:
        raise refusal(NAME, "spot prices above the prices", "SpotPrice", f"{swapped} of {priced_twice}")
    rows, repeated = once(rows)
    ignored += Counter({"repeated": repeated})
    return parsed(rows, source=NAME, ignored=dict(sorted(ignored.items())))


def _without(price: Decimal | None, spot: Decimal | None, scope: str) -> Iterator[str]:
    """Yield why a machine has no price, and why no spot price, where its cells are not simply empty."""
    if price == 0:
        yield "a price of zero"
    if spot and scope == "vast":
        yield "the highest bid of several"
    elif spot == NO_PRICE:
        yield "a spot price that means none"
    elif spot and price and spot == price:
        yield "a spot price equal to the price"
    elif spot and price and spot > price:
        yield "a spot price above the price"


def _lines(body: bytes) -> Iterator[dict[str, str]]:
    """Yield the lines of a table by column; raise LayoutChanged where it is cut short or has another column."""
    try:
        text = body.decode("utf-8")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = next(reader, [])
        unknown, missing = sorted(set(header) - KNOWN), sorted(NEEDED - set(header))
        if unknown or missing or len(set(header)) < len(header):
            message = f"expected the columns {', '.join(sorted(NEEDED))}, and no other than {', '.join(sorted(KNOWN))}"
            raise refusal(NAME, message, "header", ", ".join(header))
        if not text.endswith("\n"):
            raise refusal(NAME, "expected an end of line, found a table that is cut short", "body", text[-80:])
        for cells in reader:
            if len(cells) != len(header):
                message = f"expected {len(header)} cells, found {len(cells)}"
                raise refusal(NAME, message, f"line {reader.line_num}", ",".join(cells))
            yield dict(zip(header, cells, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise refusal(NAME, f"expected a table of UTF-8: {error}", "body", repr(body[:60])) from error


def _machine(cells: dict[str, str], number: int) -> Machine | None:
    """Return a machine, None where it has no chips; raise LayoutChanged where it has half of them."""
    if not cells["InstanceType"].strip():
        raise refusal(NAME, "expected the name of a machine", f"line {number}, InstanceType", "")
    chips = _amount(cells["AcceleratorCount"], f"line {number}, AcceleratorCount")
    if bool(chips) != bool(cells["AcceleratorName"].strip()):
        found = f"{cells['AcceleratorName']!r} and {cells['AcceleratorCount']!r}"
        raise refusal(NAME, "expected both a chip and a count", f"line {number}, AcceleratorName", found)
    return Machine(cells, chips) if chips else None


def _amount(text: str, field: str) -> Decimal | None:
    """Return a number that is not negative, None for an empty cell, without the noise of binary fractions."""
    if not text.strip():
        return None
    if not _NUMBER.fullmatch(text.strip()):
        raise refusal(NAME, "expected a number that is not negative", field, text)
    exact = Decimal(text.strip())
    short = exact.quantize(TEN_DECIMALS)
    return short if abs(short - exact) <= NOISE else exact


def _label(scope: str, catalogue: Catalogue, machine: Machine) -> tuple[str | None, str]:
    """Return the chip in the most telling words that the line has, or why there are none to be trusted."""
    info = _info(machine.cells.get("GpuInfo", ""))
    words, reason = _words(scope, catalogue, machine, info)
    if words is None:
        return None, reason
    counted = re.search(catalogue.count, machine.name) if catalogue.count else None
    if counted and Decimal(counted[1]) != machine.chips:
        return None, "another count than its name"
    if info.chips is not None and info.chips != machine.chips:
        return None, "another count than GpuInfo"
    form, own_form = _form(words), _form(machine.name)
    if form and own_form and form != own_form:
        return None, "another form than its name"
    if own_form and not form and catalogue.names_form:
        words += f" {own_form}"
    memory, own_memory, info_memory = _memory(words), _memory(machine.name), _info_memory(catalogue, machine, info)
    if memory and info_memory and not _is_near(memory, info_memory):
        return None, "another memory than GpuInfo"
    if not memory and info_memory:
        memory = info_memory
        words += f" {plain(memory)}GB"
    if catalogue.names_memory and own_memory and memory and not _is_near(memory, own_memory):
        return None, "another memory than its name"
    if scope == "spheron" and machine.cells.get("Provider") == "sesterce" and _SESTERCE_A100.match(machine.name):
        return None, UNNAMED_MEMORY
    return words, ""


def _words(scope: str, catalogue: Catalogue, machine: Machine, info: Info) -> tuple[str | None, str]:
    """Return the chip's name where this table has it best, or why it has none."""
    name = machine.cells["AcceleratorName"].strip()
    upstream = machine.cells.get("UpstreamCloudId", "").strip()
    if scope == "primeintellect" and upstream.startswith(("NVIDIA ", "AMD ")):
        return upstream, ""
    if scope == "shadeform" and not _machine_of(machine).lower().startswith(re.split("[-_ ]", name)[0].lower()):
        return None, "another chip than its name"
    if catalogue.words:
        found = re.search(catalogue.words, machine.name)
        return (found[1].replace("_", " "), "") if found else (None, "an ask for a single machine")
    return (info.name if catalogue.info_names and info.name else name), ""


def _machine_of(machine: Machine) -> str:
    """Return the name of a machine without its host's, as in crusoe_A100-80GBx2."""
    return machine.name.partition("_")[2]


def _form(text: str) -> str | None:
    found = _FORM.search(text)
    return {"sxm": "SXM", "nvl": "NVL"}.get(found[1].lower(), "PCIe") if found else None


def _memory(text: str) -> Decimal | None:
    found = _MEMORY.search(text)
    return Decimal(found[1]) if found else None


def _info_memory(catalogue: Catalogue, machine: Machine, info: Info) -> Decimal | None:
    """Return the memory of one chip in whole GiB, None where GpuInfo does not say it."""
    if not info.size:
        return None
    gib = info.size if info.size < MIN_MIB else info.size / MIN_MIB
    return (gib / (machine.chips if catalogue.is_total else 1)).quantize(Decimal(1), ROUND_HALF_UP)


def _is_near(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= other * OFF_BY


@lru_cache(maxsize=4096)
def _info(text: str) -> Info:
    """Return what GpuInfo says, in any of its spellings; raise LayoutChanged where it is of another form."""
    if not text.lstrip().startswith("{"):
        return Info()
    try:
        content = _lower(json.loads(text if '"' in text else text.replace("'", '"'), parse_float=str, parse_int=str))
        (gpu,) = content["gpus"]
        size = gpu.get("memoryinfo", {}).get("sizeinmib")
        return Info(
            name=str(gpu["name"]),
            chips=_amount(str(gpu["count"]), "GpuInfo, Count"),
            size=None if size is None else _amount(str(size), "GpuInfo, SizeInMiB"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise refusal(NAME, f"another form: {error!r}", "GpuInfo", text[:120]) from error


def _lower(value: object) -> "dict[str, list[dict[str, dict[str, str]]]]":
    """Return the objects of GpuInfo with their names in lower case; DigitalOcean's table has them so."""

    def of(item: object) -> object:
        if isinstance(item, dict):
            return {str(name).lower(): of(inner) for name, inner in item.items()}
        return [of(inner) for inner in item] if isinstance(item, list) else item

    lowered = of(value)
    if not isinstance(lowered, dict):
        raise TypeError("no object")
    return lowered


def _row(scope: str, catalogue: Catalogue, machine: Machine, label: str, price: Decimal, option: str) -> Row:
    """Return one price of a machine where it stands."""
    cells = machine.cells
    region, zone = cells["Region"].strip(), cells.get("AvailabilityZone", "").strip()
    host: str | None = None
    tier: str | None = None
    conditions = catalogue.conditions
    match scope:
        case "shadeform":
            host = machine.name.partition("_")[0]
        case "primeintellect":
            host = machine.name.partition("__")[0]
            conditions = cells.get("UpstreamCloudId", "").strip() or None
        case "spheron":
            host, tier = cells.get("Provider", "").strip() or None, cells.get("SpheronInstanceType", "").strip() or None
        case "runpod":
            tier = machine.name.rpartition("_")[2].lower()
        case "vast" if cells.get("HostingType", "").strip():
            tier = f"hosting type {cells['HostingType'].strip()}"
    return offer(
        catalogue.provider,
        label=label,
        price=price,
        count=machine.chips,
        instance_type=machine.name,
        option=option,
        currency=catalogue.currency,
        statistic=catalogue.statistic,
        conditions=conditions,
        tier=tier,
        host_provider_name=host,
        region_id=None if region in NO_REGIONS else region,
        availability_zone=zone or None,
    )
