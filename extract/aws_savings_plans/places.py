"""The choice of regions and of the door; partitions are those of the price list."""

from collections.abc import Mapping
from typing import Literal

from extract.aws_price_list import places as price_list
from extract.aws_price_list.places import GLOBAL, PSEUDO_REGIONS, Partition, partition_of
from extract.aws_savings_plans.rates import SOURCE_NAME
from warehouse.errors import SettingsError, SourceError

Door = Literal["api", "bulk"]
DOORS = ("auto", "api", "bulk")

__all__ = [
    "GLOBAL", "PSEUDO_REGIONS", "Door", "Partition", "bulk_url", "check_region", "door", "partition_of",
    "wanted_regions",
]  # fmt: skip


def door(settings: Mapping[str, object]) -> Door:
    """Return the door to take: the one that is set, else the API where there are credentials."""
    wanted = settings.get("door", "auto")
    if wanted not in DOORS:
        hint = f"Allowed are {', '.join(DOORS)}"
        raise SettingsError("unknown door", source=SOURCE_NAME, field="door", value=wanted, hint=hint)
    return price_list.door({"door": wanted})


def bulk_url(settings: Mapping[str, object], partition: Partition) -> str:
    """Return the address of the bulk files: the setting `bulk_url` where it is given."""
    url = settings.get("bulk_url") or partition.bulk_url
    if not isinstance(url, str) or not url.startswith(("https://", "http://")):
        raise SettingsError("expected an http address", source=SOURCE_NAME, field="bulk_url", value=url)
    return url.rstrip("/")


def wanted_regions(settings: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the regions that the settings name; None for all that the index lists."""
    regions = settings.get("regions", "all")
    if regions == "all":
        return None
    if isinstance(regions, list | tuple) and regions and all(isinstance(each, str) and each for each in regions):
        return tuple(dict.fromkeys(regions))
    hint = 'Expected is "all" or a list of Region Codes, such as ["us-east-1", "eu-west-1"]'
    raise SettingsError("not a list of regions", source=SOURCE_NAME, field="regions", value=regions, hint=hint)


def check_region(scope: str) -> None:
    """Raise SourceError for a name in the indexes that is no region."""
    if scope in PSEUDO_REGIONS:
        raise SourceError("not a region", source=SOURCE_NAME, field="region", value=scope, hint="Leave it out")
