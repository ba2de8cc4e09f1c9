"""Where AWS's prices are: partitions with their addresses, regions, and the choice between API and bulk files.

`source` is what errors name.
"""

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from extract.base import Context, url_in
from warehouse.errors import CredentialsMissing, SettingsError, SourceError

Found = TypeVar("Found")

BEST_STOCKED = ("us-east-1", "us-east-2", "us-west-2", "ap-northeast-1")
"""The regions with the most types of accelerators (85, 81, 75 and 75 in public data of 2025 and 2026)."""

_without_rights: dict[tuple[object, ...], str] = {}
"""What to note of sources, each with the environment whose credentials AWS refused; empty where it was noted."""

_ABBREVIATED = {"north": "n", "south": "s", "east": "e", "west": "w", "central": "c", "gov": "g"}
_ABBREVIATED |= {"northeast": "ne", "northwest": "nw", "southeast": "se", "southwest": "sw"}
PSEUDO_REGIONS = frozenset({"cn-north-1-pkx-1", "aws-cn-other"})
"""Entries of the indexes that are no regions: the first is in the global index, the second in China's."""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """One of AWS's separate worlds: its bulk files, and the region whose endpoint answers for all of it."""

    name: str
    bulk_url: str
    api_region: str


GLOBAL = Partition(name="aws", bulk_url="https://pricing.us-east-1.amazonaws.com", api_region="us-east-1")
"""Serves the regions of GovCloud too, which have no endpoint of their own."""
CHINA = Partition(name="cn", bulk_url="https://pricing.cn-northwest-1.amazonaws.com.cn", api_region="cn-northwest-1")


@functools.cache
def region_names() -> Mapping[str, str]:
    """Return AWS's name of each Region Code, as botocore has it."""
    import botocore.session

    partitions: Any = botocore.session.Session().get_component("data_loader").load_data("endpoints")["partitions"]
    return {code: each["description"] for one in partitions for code, each in one["regions"].items()}


def region_named(name: str) -> str | None:
    """Return the Region Code of a name, in the words of AWS's pages too; None where it is no region's."""
    name = name.replace("EU (", "Europe (").replace("Australia (", "Asia Pacific (").replace("\xe3", "a")
    return {named: code for code, named in region_names().items()}.get(name)


def zone_prefix(region: str) -> str:
    """Return how the zone ids of a region begin: us-east-1 has use1-az1; empty where that is not known."""
    country, *sides = region.split("-")
    short = [_ABBREVIATED.get(side, "") for side in sides[:-1]]
    return f"{country}{''.join(short)}{sides[-1]}" if short and all(short) and sides[-1].isdecimal() else ""


def partition_of(scope: str) -> Partition:
    """Return the partition of a region."""
    return CHINA if scope.startswith("cn-") else GLOBAL


def bulk_url(settings: Mapping[str, object], partition: Partition, *, source: str) -> str:
    """Return the address of the bulk files: the setting `bulk_url` where there is one."""
    return url_in(settings, "bulk_url", partition.bulk_url, source=source).rstrip("/")


def names_in(settings: Mapping[str, object], name: str, *, source: str) -> tuple[str, ...] | None:
    """Return the names that a setting lists, each once; None where it is absent or "all"."""
    value = settings.get(name, "all")
    if value == "all":
        return None
    if isinstance(value, list | tuple) and value and all(isinstance(each, str) and each.strip() for each in value):
        return tuple(dict.fromkeys(value))
    hint = 'Allowed: "all" or a list of names'
    raise SettingsError("not a list of names", source=source, field=name, value=value, hint=hint)


def check_region(scope: str, *, source: str) -> None:
    """Raise SourceError for a name in the indexes that is no region."""
    if scope in PSEUDO_REGIONS:
        raise SourceError("not a region", source=source, field="region", value=scope, hint="Leave it out")


def own_regions(listed: Iterable[str], ctx: Context) -> tuple[str, ...]:
    """Return the regions among the names of an index to fetch where no setting names any, in order.

    The user's own or the four that sell most, and those fetched before; all where none of these is listed.
    """
    names = tuple(sorted({*listed} - PSEUDO_REGIONS - {""}))
    if ctx.settings.get("regions") == "all":
        return names
    own = set(ctx.regions) & set(names) or set(BEST_STOCKED)
    return tuple(name for name in names if name in own or ctx.last_observed(name)) or names


def uses_api(settings: Mapping[str, object], *, source: str) -> bool:
    """Return whether to fetch through the API: as the setting says, else with credentials that have the right."""
    chosen = settings.get("access", "auto")
    if chosen == "auto":
        return (source, *_aws_environment()) not in _without_rights and has_credentials()
    return chosen == "api"


def has_credentials() -> bool:
    """Return whether botocore finds credentials now."""
    return _has_credentials(_aws_environment())


def either_access(
    ctx: Context, source: str, through_api: Callable[[], Found], through_files: Callable[[], Found]
) -> Found:
    """Return what the API or the public files give, as the setting `access` says.

    With access "auto" the files serve where the credentials lack a right, and the API is not called again.
    """
    if not uses_api(ctx.settings, source=source):
        return through_files()
    try:
        return through_api()
    except CredentialsMissing as error:
        if ctx.settings.get("access", "auto") != "auto":
            raise
        note = f"read from the public files, as the credentials found do not work: {error}"
        _without_rights[(source, *_aws_environment())] = note
        return through_files()


def note_of_rights(source: str) -> tuple[str, ...]:
    """Return that the files served for want of rights; once in a process."""
    key = (source, *_aws_environment())
    note = _without_rights.get(key)
    if note:
        _without_rights[key] = ""
    return (note,) if note else ()


def _aws_environment() -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith("AWS_")))


@functools.lru_cache(maxsize=8)
def _has_credentials(_environment: tuple[tuple[str, str], ...]) -> bool:
    """Return whether botocore finds credentials in an environment.

    Asked once for each environment: off AWS, the search ends with a second of waiting for the metadata service.
    """
    # Imported here: the shell must not wait for boto3 where no price is fetched.
    import botocore.exceptions
    import botocore.session

    try:
        return botocore.session.Session().get_credentials() is not None
    except botocore.exceptions.BotoCoreError:
        # Something is configured and broken: the API names it, the bulk files would hide it.
        return True
