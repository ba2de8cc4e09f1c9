"""What the quantiles of a marketplace should be, computed a second time and from the document alone.

By label, option, tier, region and statistic, with the amount. Markets that a source leaves out, since they are of one
machine or hold an offer that it could not read, may be among them.
"""

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

Quantiles = Callable[..., set[tuple[str, ...]]]
Ask = tuple[str, str, str, str, Decimal]
"""Label, option, tier, region and the price of one chip of a machine."""


def quantiles(asks: Callable[[Any], Iterator[Ask]]) -> Quantiles:
    """Return the function of a document that gives its quantiles, from one that yields its asks.

    Rows that were refused, by the place of a field in them such as answer.nodes[3].tier, belong to no market.
    """

    def found(body: bytes, refused: Iterable[str] = ()) -> set[tuple[str, ...]]:
        markets: dict[tuple[str, ...], list[Decimal]] = defaultdict(list)
        try:
            for *market, price in asks(_without(json.loads(body, parse_float=Decimal), refused)):
                markets[tuple(market)].append(price)
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError):
            return set()
        return {
            (*market, name, _plain(value))
            for market, prices in markets.items()
            for name, value in zip(("p25", "median"), _p25_and_median(prices), strict=True)
        }

    return found


def _without(answer: Any, refused: Iterable[str]) -> Any:
    pages = answer.get("chipledger_pages", [answer])
    for place in sorted({one[: one.rfind("]") + 1] for one in refused}, key=_numbers, reverse=True):
        first, *steps = re.findall(r"[^.\[\]]+", place)
        row = pages[int(first[5:]) - 1] if first.startswith("page ") else answer
        for step in steps[:-1]:
            row = row[int(step) if step.isdecimal() else step]
        if steps:
            del row[int(steps[-1])]
    return answer


def _numbers(place: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", place)]


def _p25_and_median(prices: list[Decimal]) -> tuple[Decimal, Decimal]:
    if len(prices) == 1:
        return prices[0], prices[0]
    lower, middle, _ = statistics.quantiles(sorted(prices), n=4, method="inclusive")
    return lower, middle


def _plain(value: Decimal) -> str:
    text = format(value.quantize(Decimal("1e-10")), "f")
    return text.rstrip("0").rstrip(".")


def lium(answer: Any) -> Iterator[Ask]:
    """Yield the nodes of Lium that can be rented."""
    seen = set()
    for node in answer["nodes"]:
        price, free, least = node["price_per_gpu_hour"], node["available_gpu_count"], node["min_rentable_gpu_count"]
        if not price or not node["gpu_model"] or not node["country_code"] or free < max(least, 1) or node["id"] in seen:
            continue
        seen.add(node["id"])
        label = node["gpu_model"]
        if "GB" not in label:
            label += f" {node['gpu_memory_gb']}GB"
        option = {"secure": "on_demand", "spot": "spot"}[node["tier"]]
        yield label, option, node["tier"], node["country_code"], Decimal(price)


def spheron(answer: Any) -> Iterator[Ask]:
    """Yield the offers of Spheron that can be rented, each once for all that agree in host, chips and price."""
    pages = answer.get("chipledger_pages", [answer])
    seen = set()
    for group in (group for page in pages for group in page["data"]):
        for one in group["offers"]:
            if not one["gpuCount"] or not one["available"] or one["maintenance"]:
                continue
            memory = f"{one['gpu_memory']}GB"
            name = group["displayName"]
            label = name if memory in name.replace(" ", "") or not one["gpu_memory"] else f"{name} {memory}"
            for option, price in _spheron_prices(one):
                for place in {cluster.split(":")[-1] for cluster in one["clusters"] if cluster.strip()}:
                    ask = label, option, place, one["instanceType"], one["provider"], one["gpuCount"], price
                    if price and ask not in seen:
                        seen.add(ask)
                        yield label, option, one["instanceType"], place, Decimal(price) / one["gpuCount"]


def _spheron_prices(one: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if one["instanceType"] == "SPOT":
        yield "spot", one.get("spot_price") or one.get("price")
    else:
        yield "on_demand", one["price"]
        yield "spot", one.get("spot_price")


def vast(answer: Any) -> Iterator[Ask]:
    """Yield the verified machines of Vast.ai that can be rented, each by its largest offer, cheapest first."""
    pages = answer.get("chipledger_pages", [answer])
    largest: dict[tuple[object, ...], tuple[int, Decimal, Any]] = {}
    for one in {one["id"]: one for page in reversed(pages) for one in reversed(page["offers"])}.values():
        country = re.search(r"\b([A-Z]{2})(, ?(AF|AS|EU|NA|OC|SA))?$", one["geolocation"] or "")
        disk = Decimal(one["dph_total"]) - Decimal(one["dph_base"])
        is_strange = abs(disk - Decimal(one["storage_total_cost"])) > Decimal("0.001") or one["is_bid"]
        is_strange |= one["gpu_total_ram"] != one["gpu_ram"] * one["num_gpus"] or one["bundled_results"] is not None
        is_free = one["verification"] == "verified" and one["rentable"] and not one["rented"] and not one["external"]
        if is_strange or not is_free or not country:
            continue
        market = (
            f"{one['gpu_name']} {round(one['gpu_ram'] / 1024)}GB",
            ("verified", "verified datacenter")[one["hosting_type"]],
            country[1],
        )
        mine = one["num_gpus"], -Decimal(one["dph_base"]) / one["num_gpus"], one["min_bid"]
        known = largest.get((*market, one["machine_id"]))
        if known is None or mine[:2] > known[:2]:
            largest[(*market, one["machine_id"])] = mine
    for (label, tier, region, _), (chips, price, bid) in largest.items():
        yield str(label), "on_demand", str(tier), str(region), -price
        if bid and Decimal(bid) / chips <= -price + Decimal("1e-10"):
            yield str(label), "spot", str(tier), str(region), Decimal(bid) / chips


MARKETS = {"lium": quantiles(lium), "spheron": quantiles(spheron), "vast": quantiles(vast)}
"""By source; the quantiles of any other are counted and not compared."""
