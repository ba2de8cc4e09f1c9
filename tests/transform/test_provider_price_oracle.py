"""The mart of providers' prices, made once more in plain Python from the same offers."""

import random
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from statistics import median

import pytest
from looks import day, row
from published import records
from purchase import Put, said, seen

ASKED = ("provider_price",)
NOW = 140
RATES = {"USD": Decimal(1), "EUR": Decimal("1.25")}
LOOKED = (0, 40, 60, NOW)
LIMIT = 90
"""Days after which no price is ranked; the second of these days is beyond it."""
LABELS = {
    "NVIDIA H100 SXM5 80GB": ("H100", "SXM"), "NVIDIA H100 PCIe 80GB": ("H100", "PCIe"), "NVIDIA H100": ("H100", None),
    "NVIDIA L4": ("L4", None), "NVIDIA Z9000": (None, None),
}  # fmt: skip
TYPES = {"p5.48xlarge": ("H100", "SXM", 8), "p5.4xlarge": ("H100", "SXM", 1), "g6.xlarge": ("L4", None, 1)}
CLASSES = {None: None, 720: "under_a_year", 8760: "one_year", 17520: "two_years", 26280: "three_years"}


def drawn(seed: int, n: int) -> list[dict[str, object]]:
    """Return offers, each of a region of its own, with what the oracle has to know of them."""
    pick = random.Random(seed)  # noqa: S311
    offers = []
    for number in range(n):
        option = pick.choice(["on_demand", "on_demand", "spot", "reserved"])
        hours = pick.choice(list(CLASSES)) if option == "reserved" else None
        named: dict[str, object] = {
            "region_id": f"r-{number}",
            "purchase_option": option,
            "commitment_term_hours": hours,
        }
        if pick.random() < 0.3:
            kind = pick.choice(list(TYPES))
            name, form, count = TYPES[kind]
            conditions = pick.choice([None, None, "Windows"])
            named |= {"instance_type": kind, "conditions": conditions, "service_provider_name": "AWS"}
            if option == "reserved":
                hours = pick.choice([8760, 26280])
                named |= {
                    "commitment_term_hours": hours, "purchase_payment_model": "No Upfront", "upfront_price": "0",
                    "offering_class": "standard",
                }  # fmt: skip
            left_out = conditions is not None
        else:
            label, count = pick.choice(list(LABELS)), pick.choice([1, 4, 8])
            name, form = LABELS[label]
            restriction, kind = pick.choice([None, None, "announced"]), pick.choice(["List", "List", "Contracted"])
            named |= {
                "instance_type": "m", "service_provider_name": pick.choice("AB"), "accelerator_label": label,
                "accelerator_count": str(count), "tier": pick.choice([None, "t"]), "restriction": restriction,
                "statistic": pick.choice(["price", "price", "price", "floor", "p25", "median"]),
                "unit_price_type": kind, "contract_id": "c" if kind == "Contracted" else None,
                "pricing_currency": pick.choice(["USD", "EUR"]),
            }  # fmt: skip
            left_out = restriction is not None or kind == "Contracted" or name is None
        amount = Decimal(pick.randrange(100, 10_000)) / 100
        offer = row(named.pop("instance_type"), str(amount), **named)
        offers.append({
            "row": offer, "at": pick.choice(LOOKED), "name": name, "form": form, "count": count, "amount": amount,
            "left_out": left_out,
        })  # fmt: skip
    return offers


def is_ranked(each: dict[str, object]) -> bool:
    """Return whether a price counts: no "from" price, confirmed within the limit of age."""
    return each["statistic"] != "floor" and NOW - each["at"] <= LIMIT


def oracle(offers: Iterable[dict[str, object]]) -> dict[tuple[object, ...], tuple[object, ...]]:
    """Return what the mart should hold, by the words of its SELECT's comment."""
    groups: dict[tuple[object, ...], list[dict[str, object]]] = defaultdict(list)
    for offer in offers:
        said_of, at = offer["row"], offer["at"]
        # Euros have a rate within ten days before day 60 and the last day alone.
        if offer["left_out"] or (said_of["pricing_currency"] == "EUR" and at < 60):
            continue
        option = said_of["purchase_option"]
        commitment = {"on_demand": "none", "spot": "interruptible"}.get(option) or CLASSES[
            said_of["commitment_term_hours"]
        ]
        capacity = {1: "single", 4: "several", 8: "node"}[offer["count"]]
        key = (
            offer["name"], offer["form"], said_of["service_provider_name"], option, commitment, capacity,
            said_of.get("tier"), said_of["statistic"] == "floor",
        )  # fmt: skip
        price = float(offer["amount"] * RATES[said_of["pricing_currency"]] / offer["count"])
        groups[key].append({"price": price, "at": at, "statistic": said_of["statistic"]})

    chosen = {}
    for key, all_of in groups.items():
        newest = max(each["at"] for each in all_of)
        ranked = [each for each in all_of if is_ranked(each)]
        standing = ranked or [each for each in all_of if newest - each["at"] <= 30]
        by = {
            kind: [each for each in standing if each["statistic"] == kind]
            for kind in ("price", "floor", "p25", "median")
        }
        pool = by["p25"] or by["price"] + by["floor"] or by["median"]
        middle = by["median"] or by["price"]
        dearest = max(each["price"] for each in by["price"]) if len(by["price"]) == len(standing) else None
        best = min(pool, key=lambda each: each["price"])
        if [each["price"] for each in pool].count(best["price"]) > 1:
            raise AssertionError("a tie, which the oracle does not know how to break")
        n_current = sum(each["at"] == NOW for each in all_of)
        usual = median(each["price"] for each in middle) if middle else None
        chosen[key] = best, usual, dearest, len(all_of), n_current

    expected = {}
    for key, (best, middle, dearest, n, n_current) in chosen.items():
        name, form, provider, _, commitment, capacity, *_ = key
        of_aws = [
            other for (chip_, _, seller, _, term_, size, *_), (other, *_) in chosen.items()
            if (chip_, seller, term_, size) == (name, "AWS", commitment, capacity) and commitment is not None
            and provider != "AWS" and (name != "H100" or form == "SXM")
        ]  # fmt: skip
        aws = min(of_aws, key=lambda each: (not is_ranked(each), each["price"]), default=None)
        cheapest = None if best["statistic"] == "median" else best["price"]
        near = aws is not None and ((is_ranked(best) and is_ranked(aws)) or abs(best["at"] - aws["at"]) <= 30)
        ratio = cheapest / aws["price"] - 1 if near and cheapest is not None else None
        expected[key] = (
            cheapest, middle, dearest, best["statistic"], NOW - best["at"], n, n_current, aws and aws["price"], ratio
        )  # fmt: skip
    return expected


def test_every_row_is_what_plain_python_makes_of_the_same_offers(put: Put) -> None:
    offers = drawn(7, 600)
    rates = [
        {"pricing_currency": "USD", "rate_date": day(on).date(), "units_per_eur": Decimal("1.25")} for on in (58, 138)
    ]
    looks = [
        seen(at, "aws_price_list", *(each["row"] for each in offers if each["at"] == at), scope=f"day {at}")
        for at in LOOKED
    ]
    file = put(said(NOW, "offline_archive", "fx_rate", *rates), *looks, at=NOW)

    keys = (
        "accelerator_name", "form_factor", "service_provider_name", "purchase_option", "commitment_class",
        "capacity_class", "tier", "is_floor",
    )  # fmt: skip
    facts = (
        "cheapest_price_usd", "median_price_usd", "dearest_price_usd", "statistic", "age_days", "n_offers", "n_current",
        "aws_price_usd", "distance_to_aws",
    )  # fmt: skip
    lines = records(file, "from int.provider_price")
    found = {tuple(line[key] for key in keys): tuple(line[fact] for fact in facts) for line in lines}
    expected = oracle(offers)
    assert len(found) == len(lines)
    assert found.keys() == expected.keys()
    assert {key: found[key] for key in found if found[key] != pytest.approx(expected[key], nan_ok=False)} == {}
    # What the draw has to hold for the comparison to mean anything.
    assert sum(line["distance_to_aws"] is not None for line in lines) > 10
    assert sum(line["cheapest_price_usd"] is None for line in lines) > 3
    assert (
        sum(
            (line["dearest_price_usd"] or 0) > line["cheapest_price_usd"]
            for line in lines
            if line["cheapest_price_usd"]
        )
        > 10
    )
    assert {line["commitment_class"] for line in lines} > {None, "none", "interruptible", "one_year"}
    assert any(line["aws_price_usd"] is not None and line["distance_to_aws"] is None for line in lines)
