"""A small price list with every kind of row that has misled a reader, built from the facts.

Invented are the prices of Windows, SQL and Dedicated of accelerators, and which rows other than the on-demand one a
type has in a region.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from standin.catalogue import (
    FREE_TIER,
    HOURLY,
    ON_DEMAND,
    UPFRONT,
    Catalogue,
    Edition,
    Product,
    Rate,
    Term,
    sku_of,
    ten_places,
)
from standin.facts import (
    AFTER_THE_CUT,
    BEFORE_THE_CUT,
    CAPACITY_BLOCK_ONLY,
    CHINA_PRICES_CNY,
    CURRENT,
    DEARER_BEFORE_THE_CUT,
    MACHINES,
    NOT_YET_IN_2025,
    ONE_YEAR_STANDARD_NO_UPFRONT,
    PRICES,
    RESERVATIONS,
    place_of,
)

# --- terms


def reserved_terms(instance_type: str, *, on_demand: str, no_upfront: str) -> tuple[Term, ...]:
    """Return the twelve reserved terms; `no_upfront` is the hourly amount of the first, one year standard."""
    terms = []
    for each in RESERVATIONS:
        hourly = Decimal(on_demand) * (1 - Decimal(each.discount))
        upfront = round(hourly * each.share_upfront * each.years * 8760)
        recurring = no_upfront if each.code == RESERVATIONS[0].code else round(hourly * (1 - each.share_upfront), 6)
        words = f"Linux/UNIX (Amazon VPC), {instance_type} reserved instance applied"
        rates = [Rate(code=HOURLY, unit="Hrs", amount=ten_places(recurring), description=words)]
        if each.share_upfront:
            fee = Rate(code=UPFRONT, unit="Quantity", amount=str(upfront), description="Upfront Fee", begin="", end="")
            rates.insert(each.years % 2, fee)  # AWS's order of the two is arbitrary
        terms.append(
            Term(
                kind="Reserved",
                code=each.code,
                rates=tuple(rates),
                lease=f"{each.years}yr",
                payment=each.payment,
                offering_class=each.offering_class,
            )
        )
    return tuple(terms)


def on_demand_term(amount: str, description: str, *, unit: str = "Hrs") -> Term:
    """Return the one on-demand term of a product."""
    rate = Rate(code=HOURLY, unit=unit, amount=ten_places(amount), description=description)
    return Term(kind="OnDemand", code=ON_DEMAND, rates=(rate,))


# --- the products of one region


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One of the rows that share an instance type: how it differs from the plain Linux one, and what it costs.

    The price is `share` of the on-demand price plus `surcharge` per vCPU.
    """

    words: str
    usage: str = "BoxUsage"
    operation: str = "RunInstances"
    share: str = "1"
    surcharge: str = "0"
    os: str = "Linux"
    software: str = "NA"
    license: str = "No License required"
    tenancy: str = "Shared"
    status: str = "Used"
    market: str = "OnDemand"

    def amount(self, on_demand: str, vcpu: int) -> str:
        return str(Decimal(on_demand) * Decimal(self.share) + Decimal(self.surcharge) * vcpu)


LINUX = Variant(words="On Demand Linux")
VARIANTS = (
    LINUX,
    Variant(words="Unused Reservation Linux", usage="UnusedBox", status="UnusedCapacityReservation"),
    Variant(words="Reservation Linux", usage="Reservation", status="AllocatedCapacityReservation", share="0"),
    Variant(words="Dedicated Linux", usage="DedicatedUsage", tenancy="Dedicated", share="1.0625"),
    Variant(words="Dedicated Host Linux", usage="HostBoxUsage", tenancy="Host", status="AllocatedHost", share="0"),
    Variant(words="On Demand RHEL", operation="RunInstances:0010", os="RHEL", surcharge="0.0144"),
    Variant(words="On Demand SUSE", operation="RunInstances:000g", os="SUSE", surcharge="0.0125"),
    Variant(words="On Demand Windows", operation="RunInstances:0002", os="Windows", surcharge="0.046"),
    Variant(
        words="On Demand Windows without licenses",
        operation="RunInstances:0002:box",
        os="Windows",
        license="License Included - Infrastructure",
    ),
    Variant(
        words="On Demand Windows BYOL", operation="RunInstances:0800", os="Windows", license="Bring your own license"
    ),
    Variant(words="On Demand Linux with SQL Std", operation="RunInstances:0004", software="SQL Std", surcharge="0.12"),
)
CAPACITY_BLOCKS = (
    Variant(words="Capacity Block Linux", operation="RunInstances:CB", market="CapacityBlock", share="0"),
    Variant(
        words="Capacity Block Windows",
        operation="RunInstances:0002:CB",
        market="CapacityBlock",
        share="0",
        surcharge="0.046",
        os="Windows",
    ),
)


def _attributes(region: str, instance_type: str, variant: Variant) -> dict[str, str]:
    place, machine = place_of(region), MACHINES[instance_type]
    linux = sku_of(region, instance_type, LINUX.words)
    attributes = {
        "availabilityzone": "NA",
        "capacitystatus": variant.status,
        "classicnetworkingsupport": "false",
        "currentGeneration": "Yes",
        "ecu": "NA",
        "gpu": machine.gpu,
        "gpuMemory": machine.gpu_memory,
        "instanceFamily": machine.family,
        "instancesku": linux if variant.status == "UnusedCapacityReservation" else "",
        "instanceType": instance_type,
        "licenseModel": variant.license,
        "location": place.location,
        "locationType": place.kind,
        "marketoption": variant.market,
        "memory": machine.memory,
        "operatingSystem": variant.os,
        "operation": variant.operation,
        "physicalProcessor": "Intel Xeon Family",
        "preInstalledSw": variant.software,
        "processorArchitecture": "64-bit",
        "processorFeatures": "Intel AVX; Intel AVX2; Intel AVX512; Intel Turbo",
        "regionCode": region,
        "servicecode": "AmazonEC2",
        "servicename": "Amazon Elastic Compute Cloud",
        "storage": "EBS only",
        "tenancy": variant.tenancy,
        "usagetype": f"{place.prefix}{variant.usage}:{instance_type}",
        "vcpu": str(machine.vcpu),
        "vpcnetworkingsupport": "true",
    }
    return {name: value for name, value in attributes.items() if value}


def instance(region: str, instance_type: str, on_demand: str, variant: Variant = LINUX) -> Product:
    """Return one row of an instance type; the plain Linux row has the reserved terms, where AWS sells any."""
    amount = variant.amount(on_demand, MACHINES[instance_type].vcpu)
    currency, sign = ("CNY", "CNY") if region in CHINA_PRICES_CNY else ("USD", "$")
    words = f"{sign}{Decimal(amount).normalize():f} per {variant.words} {instance_type} Instance Hour"
    no_upfront = ONE_YEAR_STANDARD_NO_UPFRONT.get(instance_type, {}).get(region)
    reserved: tuple[Term, ...] = ()
    if variant is LINUX and no_upfront:
        reserved = reserved_terms(instance_type, on_demand=on_demand, no_upfront=no_upfront)
    return Product(
        sku=sku_of(region, instance_type, variant.words),
        family="Compute Instance (bare metal)" if instance_type.endswith(".metal") else "Compute Instance",
        attributes=_attributes(region, instance_type, variant),
        terms=(on_demand_term(amount, words), *reserved),
        currency=currency,
    )


def instances(region: str, prices: Mapping[str, str]) -> Iterator[Product]:
    """Yield all rows of the instance types of a region."""
    for instance_type, price in prices.items():
        sold_on_demand = price != CAPACITY_BLOCK_ONLY
        variants: tuple[Variant, ...] = VARIANTS if sold_on_demand else ()
        if MACHINES[instance_type].capacity_block:
            variants += CAPACITY_BLOCKS
        for variant in variants:
            yield instance(region, instance_type, price if sold_on_demand else "0", variant)


def traffic(region: str) -> Product:
    """Return a product that is no machine and has another unit."""
    place = place_of(region)
    attributes = {
        "fromLocation": place.location,
        "fromRegionCode": region,
        "regionCode": region,
        "servicecode": "AmazonEC2",
        "servicename": "Amazon Elastic Compute Cloud",
        "transferType": "AWS Outbound",
        "usagetype": f"{place.prefix}DataTransfer-Out-Bytes",
    }
    return Product(
        sku=sku_of(region, "traffic"),
        family="Data Transfer",
        attributes=attributes,
        terms=(on_demand_term("0.09", "$0.09 per GB, first 10 TB / month, data transfer out", unit="GB"),),
        currency="CNY" if region in CHINA_PRICES_CNY else "USD",
    )


def free_tier(file_region: str) -> Product:
    """Return the free tier: no instance type, no region, a price of zero for 750 hours."""
    rate = Rate(
        code="TKQXKGP374",
        unit="Hrs",
        amount=ten_places("0"),
        description="Global",
        end="750",
        applies_to=("DBYKKKJW4DNWYZYV", "UZN5PC673JE8UQAY", "V9ES3NHTPE38KTTM"),
    )
    attributes = {
        "group": "FreeTrial",
        "groupDescription": "Free Trial for running instances for a limited number of hours and instances",
        "location": "Any",
        "locationType": "AWS Region",
        "operation": "RunInstances",
        "regionCode": "",
        "servicecode": "AmazonEC2",
        "servicename": "Amazon Elastic Compute Cloud",
        "usagetype": "Global-BoxUsage:freetrial",
    }
    term = Term(kind="OnDemand", code=FREE_TIER, rates=(rate,), restriction="Limited SKU Usage")
    sku = sku_of("free tier")
    return Product(sku=sku, family="Compute Instance", attributes=attributes, terms=(term,), file_region=file_region)


# --- whole catalogues


def edition(version: str, prices: Mapping[str, Mapping[str, str]]) -> Edition:
    """Return an edition with the given on-demand prices by region and instance type."""
    products = [product for region in prices for product in (*instances(region, prices[region]), traffic(region))]
    if "us-east-1" in prices:
        products.append(free_tier("us-east-1"))
    return Edition(version=version, products=tuple(products))


def _in_2025(dearer: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {
        region: {
            name: dearer.get(region, {}).get(name, price)
            for name, price in prices.items()
            if name not in NOT_YET_IN_2025
        }
        for region, prices in PRICES.items()
    }


def aws() -> Catalogue:
    """Return the world outside China: three editions, the first two around AWS's price cut of 2025-06-05."""
    editions = (
        edition(BEFORE_THE_CUT, _in_2025(DEARER_BEFORE_THE_CUT)),
        edition(AFTER_THE_CUT, _in_2025({})),
        edition(CURRENT, PRICES),
    )
    return Catalogue(partition="aws", currency="USD", editions=editions)


def china() -> Catalogue:
    """Return China's catalogue, in CNY, behind its own endpoint and paths."""
    return Catalogue(partition="cn", currency="CNY", editions=(edition(CURRENT, CHINA_PRICES_CNY),))
