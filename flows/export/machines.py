"""Current prices of machines, for tools that schedule or bill nodes: OpenCost and Kubecost, and Karpenter.

Both take a price per node and hour for today's, so that only current list prices of Linux machines in US dollars go in:
per node, whatever chips it has, and never per month or per chip. A machine with two prices in one place is left out.

OpenCost's file (https://github.com/opencost/opencost/blob/11d3017f/pkg/cloud/provider/csvprovider.go, read 2026-11-23)
finds a node by region and machine and knows no purchase option: each has a file of its own. Of two rows of one machine
it keeps the first. It has no rows of chips: those are added to the node's price, which holds them already.

An overlay of Karpenter has one price for all offerings that it matches, so that it names machine, region, capacity type
and zone (https://github.com/kubernetes-sigs/karpenter/blob/0546b80b/pkg/apis/v1alpha1/nodeoverlay.go). Contracted ones
weigh more than list prices; `priceAdjustment` is a discount off Karpenter's own price, `price` is in its place.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from extract.neoclouds.offers import plain
from flows.export.exporting import Written, attach_private
from flows.shared import tabular
from flows.shared.query import PRIVATE, columns, rows
from warehouse.errors import ChipledgerError

PRICES = """
select
    service_provider_name, instance_type, region_id, availability_zone_id, purchase_option, accelerator_name,
    accelerator_vendor, accelerator_count, accelerator_memory_gib, unit_price, is_current, offer_id, document_sha256
from int.accelerator_hour_price
where
    purchase_option in ('on_demand', 'spot')
    and capacity_unit = 'instance'
    and coalesce(instance_type not like 'ml.%', true)
    and pricing_currency = 'USD'
    and unit_price_type = 'List'
    and statistic = 'price'
    and pricing_unit is null
    and restriction is null
    and conditions is null
    and tier is null
    and offer_id not in (
        select o.offer_id from core.offer as o where o.availability_zone is not null and o.availability_zone_id is null
    )
order by all
"""
"""Prices of machines for schedulers, current or not."""
REGION_SPOT = """
select region_id, instance_type, median_zone_price::DECIMAL(18, 10) as unit_price
from int.spot_region_price where service_provider_name = 'AWS' and is_current and median_zone_price > 0 order by all
"""
"""What OpenCost, which knows no zone, gets as a spot price of AWS: the middle one of the zones."""
CONTRACTED = f"select offer_id, contracted_unit_price, discount, rule from {PRIVATE}.main.contracted_price"

COLUMNS = columns("EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version")
INSTANCE_TYPE, REGION = "node.kubernetes.io/instance-type", "topology.kubernetes.io/region"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
ZONE_ID = "topology.k8s.aws/zone-id"
"""AWS's label of a zone's id, the same for every account."""
LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
"""What a node's label may be."""
KARPENTER = ("AWS", "Azure", "Google Cloud")
"""Providers with a Karpenter of their own."""
CAPACITY_TYPES = {"on_demand": "on-demand", "spot": "spot"}
WEIGHTS = {"list": 50, "contracted": 60}

Price = Mapping[str, Any]


class Overlay(NamedTuple):
    """One price, or one discount, for one machine in one region, and in zones where it has several."""

    instance_type: str
    region: str
    capacity_type: str
    zones: tuple[str, ...]
    kind: str
    field: str
    amount: str
    document: str

    @property
    def name(self) -> str:
        """Return the overlay's name, unique in the cluster."""
        parts = ("chipledger", *self[:3], self.kind, *self.zones[:1])
        return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower())


def opencost(file: Path, folder: Path, *, with_private: bool = False, force: bool = False) -> list[Written]:
    """Write `on_demand.csv` and `spot.csv`, and `private/contracted.csv` on request, for OpenCost and Kubecost."""
    with duckdb.connect(str(file), read_only=True) as con:
        prices, left_out, contracts, built_at = _read(con, file, with_private=with_private)
        of_zones = rows(con, REGION_SPOT)
    everywhere = [price for price in prices if price["availability_zone_id"] is None]
    on_demand = [price for price in everywhere if price["purchase_option"] == "on_demand"]
    spot = [price for price in everywhere if price["purchase_option"] == "spot"] + of_zones
    sheets: dict[tuple[str, ...], list[Price]] = {("on_demand.csv",): on_demand, ("spot.csv",): spot}
    if with_private:
        sheets[PRIVATE, "contracted.csv"] = [
            {**price, "unit_price": contracts[price["offer_id"]]["contracted_unit_price"]}
            for price in on_demand
            if price["offer_id"] in contracts
        ]
    texts = {parts: _price_file(found, built_at) for parts, found in sheets.items()}
    return write(folder, texts, left_out, force=force)


def karpenter(file: Path, folder: Path, *, with_private: bool = False, force: bool = False) -> list[Written]:
    """Write the overlays of each region, `<provider>/<region>.yaml`, contracted ones in `private/` on request."""
    with duckdb.connect(str(file), read_only=True) as con:
        prices, left_out, contracts, built_at = _read(con, file, with_private=with_private)
    overlays: dict[tuple[str, ...], list[Overlay]] = defaultdict(list)
    for price in prices:
        provider = price["service_provider_name"]
        if provider not in KARPENTER:
            left_out[f"no Karpenter for {provider}"] += 1
            continue
        place = (provider.lower().replace(" ", "_"), f"{price['region_id']}.yaml")
        overlays[place].append(_overlay(price, "list", "price", plain(price["unit_price"])))
        contract = contracts.get(price["offer_id"])
        if contract and contract["discount"] is not None:
            off = f"-{plain(contract['discount'] * 100)}%"
            overlays[PRIVATE, *place].append(_overlay(price, "contracted", "priceAdjustment", off))
        elif contract:
            agreed = plain(contract["contracted_unit_price"])
            overlays[PRIVATE, *place].append(_overlay(price, "contracted", "price", agreed))
    texts = {place: [_document(one, built_at) for one in _merged(found)] for place, found in overlays.items()}
    return write(folder, texts, left_out, force=force)


def refusal(price: Price) -> str | None:
    """Return why a price cannot go into a file of machines; None where it can."""
    if not price["is_current"]:
        return "not current"
    if price["instance_type"] is None:
        return "machine without a name"
    if price["region_id"] is None:
        return "region unknown"
    if not all(LABEL.fullmatch(price[name]) for name in ("instance_type", "region_id")):
        return "no name that a node's label could have"
    return "Local Zone, no region" if re.search("-[0-9]+-[a-z]", price["region_id"]) else None


def _read(
    con: duckdb.DuckDBPyConnection, file: Path, *, with_private: bool
) -> tuple[list[Price], Counter[str], dict[int, Price], str]:
    """Return current prices, one for a machine in a place; those left out by reason; contracts; build time."""
    left_out: Counter[str] = Counter()
    found: dict[tuple[str, ...], list[Price]] = defaultdict(list)
    for price in rows(con, PRICES):
        if reason := refusal(price):
            left_out[reason] += 1
        else:
            key = ("service_provider_name", "instance_type", "region_id", "availability_zone_id", "purchase_option")
            found[tuple(price[name] for name in key)].append(price)
    left_out["several prices of one machine"] = sum(len(same) for same in found.values() if len(same) > 1)
    attach_private(con, file, with_private=with_private)
    contracts: dict[int, Price] = {each["offer_id"]: each for each in rows(con, CONTRACTED)} if with_private else {}
    ((built_at,),) = con.execute("select strftime(built_at, '%Y-%m-%dT%H:%M:%SZ') from meta.build").fetchall()
    return [same[0] for same in found.values() if len(same) == 1], +left_out, contracts, built_at


def write(
    folder: Path, texts: Mapping[tuple[str, ...], Sequence[str]], left_out: Mapping[str, int], *, force: bool
) -> list[Written]:
    """Write files of entries, what is private for its owner alone; what was left out is said of the first.

    Raises ChipledgerError where no file has an entry.
    """
    if not any(len(lines) > parts[-1].endswith(".csv") for parts, lines in texts.items()):
        raise ChipledgerError(
            "no price of a machine is current",
            source="export",
            field="left out",
            value=", ".join(f"{reason}: {count}" for reason, count in sorted(left_out.items())) or "no prices at all",
            hint="`chipledger run` collects current ones",
        )
    targets = {parts: tabular.inside(folder, *parts) for parts in sorted(texts)}
    tabular.refuse_existing(targets.values(), force=force)
    written: list[Written] = []
    for parts, target in targets.items():

        def save(part: Path, parts: tuple[str, ...] = parts) -> int:
            part.write_text("".join(texts[parts]), encoding="utf-8")
            return len(texts[parts]) - (parts[-1].endswith(".csv"))  # its header is no row

        n_rows = tabular.put(target, save, force=force, private=PRIVATE in parts)
        written.append(Written(target, n_rows, {} if written else dict(left_out)))
    return written


def _price_file(prices: Sequence[Price], built_at: str) -> list[str]:
    """Return header and lines of OpenCost's file, one for a machine in a region."""
    lines = sorted(
        f",{each['instance_type']},{each['region_id']},node,metadata.labels.{INSTANCE_TYPE},{each['instance_type']},"
        f"{plain(each['unit_price'])},chipledger {built_at}\n"
        for each in prices
    )
    return [",".join(COLUMNS) + "\n", *lines]


def _overlay(price: Price, kind: str, field: str, amount_: str) -> Overlay:
    zone = price["availability_zone_id"]
    machine = price["instance_type"], price["region_id"], CAPACITY_TYPES[price["purchase_option"]]
    return Overlay(*machine, (zone,) if zone else (), kind, field, amount_, price["document_sha256"])


def _merged(overlays: Sequence[Overlay]) -> Iterator[Overlay]:
    """Yield overlays, those of zones with one price and document as one."""
    zones: dict[Overlay, list[str]] = defaultdict(list)
    for one in overlays:
        zones[one._replace(zones=())] += one.zones
    for one, found in sorted(zones.items()):
        yield one._replace(zones=tuple(sorted(found)))


def _document(one: Overlay, built_at: str) -> str:
    """Return an overlay as YAML, whose scalars and lists are in JSON's spelling."""
    of = {INSTANCE_TYPE: [one.instance_type], REGION: [one.region], CAPACITY_TYPE: [one.capacity_type]}
    required = of | ({ZONE_ID: list(one.zones)} if one.zones else {})
    notes = {"unit": "USD per node-hour", "price": one.kind, "as-of": built_at, "document": one.document}
    lines = [
        "---",
        "apiVersion: karpenter.sh/v1alpha1",
        "kind: NodeOverlay",
        "metadata:",
        f"  name: {json.dumps(one.name)}",
        "  annotations:",
        *(f"    chipledger-{name}: {json.dumps(value)}" for name, value in notes.items()),
        "spec:",
        f"  weight: {WEIGHTS[one.kind]}",
        f"  {one.field}: {json.dumps(one.amount)}",
        "  requirements:",
        *(f"    - {{key: {key}, operator: In, values: {json.dumps(values)}}}" for key, values in required.items()),
    ]
    return "\n".join(lines) + "\n"
