"""The tables [sources.<name>] of the settings: `enabled`, and what each source lets a deployment choose."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from flows.config import table
from flows.config.types import Address, Counts, Day, Door, Names, Switch

if TYPE_CHECKING:
    from extract.base import Source


@dataclass(frozen=True)
class Kind:
    """A setting that several sources may have: its type, what it chooses, and an example."""

    type: Any
    meaning: str
    example: object


KINDS: Mapping[str, Kind] = {
    "door": Kind(Door, "api (needs credentials), bulk (public files), auto: api where credentials are found", "auto"),
    "regions": Kind(Names, '"all" or a list of regions, zones or parts of the provider', "all"),
    "instance_types": Kind(Names, '"all" or a list of types', "all"),
    "gpu_names": Kind(Names, '"all" or a list of the provider\'s names of chips', "all"),
    "durations_hours": Kind(Counts, "lengths of the blocks that are asked for", [24]),
    "counts": Kind(Counts, "how many machines a block that is asked for has", [1]),
    "since": Kind(Day, "first day that is asked for, as far as it is still held", "2026-10-01"),
    "url": Kind(Address, "address in place of the provider's own, such as a mirror", "https://mirror.example.com"),
    "bulk_url": Kind(Address, "host of the public price files", "https://pricing.us-east-1.amazonaws.com"),
    "archive_url": Kind(Address, "where `chipledger backfill` reads", "https://mirror.example.com/archive"),
    "prices_url": Kind(Address, "address of the feed of prices", "https://mirror.example.com/spot.json"),
    "advisor_url": Kind(Address, "address of the feed of interruptions", "https://mirror.example.com/advisor.json"),
}
"""Each setting that a source may name in `Source.settings`. Where none is given, the source decides."""


@functools.cache
def tables() -> type[BaseModel]:
    """Return the model of the table [sources]: one table a source."""
    from extract import SOURCES

    closed = ConfigDict(extra="forbid", frozen=True)
    made: dict[str, Any] = {}
    for source in SOURCES:
        model = table_of(source)
        made[source.name] = (model, Field(default_factory=model, description=source.title))
    return create_model("Sources", __config__=closed, **made)


def table_of(source: "Source") -> type[BaseModel]:
    """Return the model of one source's table."""
    meaning = "whether runs collect from it" + (f". Off because {source.off_because}" if source.off_because else "")
    fields: dict[str, Any] = {"enabled": (Switch, Field(default=not source.off_because, description=meaning))}
    for name in source.settings:
        kind = KINDS[name]
        fields[name] = (kind.type | None, Field(default=None, description=kind.meaning, examples=[kind.example]))
    return create_model(source.name, __config__=ConfigDict(extra="forbid", frozen=True), **fields)


def checked(value: Mapping[str, Any], *, source: str = "") -> Mapping[str, Mapping[str, Any]]:
    """Return what is set of each source, and nothing else. Raises SettingsError that names what is wrong."""
    if not value:
        return {}
    made = table.checked(tables(), value, name="sources", source=source)
    return {name: table.given(getattr(made, name)) for name in value}
