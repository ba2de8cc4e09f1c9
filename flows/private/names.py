"""The names that private files may use: providers and their machines as published, and chips as people write them."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from flows.private.entry import Entry
from warehouse.reference import accelerators, instance_types


@dataclass(frozen=True)
class Thing:
    """What an offer is named by: a machine of its provider, or a chip, perhaps in one form."""

    instance_type: str | None = None
    accelerator_name: str | None = None
    form_factor: str | None = None


@dataclass(frozen=True)
class Names:
    """Providers, and the machines of each: both by their names in small letters."""

    providers: Mapping[str, str]
    instance_types: Mapping[str, Mapping[str, str]]

    def provider(self, entry: Entry, field: str = "provider") -> str:
        """Return how a provider writes itself. Raises ChipledgerError where nobody is called so."""
        from extract.observations import provider_named

        text = entry.required(field)
        named = self.providers.get(provider_named(text).lower())
        if named is None:
            raise entry.error(field, "no provider is called so", self._near(text, self.providers.values()))
        return named

    def thing(self, text: str, provider: str) -> Thing | None:
        """Return what a text names: a machine of the provider, else a chip; None where neither is certain."""
        machine = self.instance_types.get(provider, {}).get(text.lower())
        if machine is not None:
            return Thing(instance_type=machine)
        chip = accelerators.resolve(text, provider)
        if chip is None or chip.accelerator_share != 1:
            return None
        return Thing(accelerator_name=chip.accelerator_name, form_factor=chip.form_factor)

    def known_thing(self, entry: Entry, field: str, provider: str) -> Thing:
        """Return what a field names. Raises ChipledgerError where no machine and no chip is called so."""
        text = entry.required(field)
        thing = self.thing(text, provider)
        if thing is None:
            known = (*self.instance_types.get(provider, {}).values(), *accelerators.names())
            raise entry.error(field, f"no machine of {provider} and no chip is called so", self._near(text, known))
        return thing

    @staticmethod
    def _near(text: str, known: object) -> str:
        by_plain = {str(name).lower(): str(name) for name in known}  # type: ignore[attr-defined]
        near = difflib.get_close_matches(text.lower(), by_plain, n=3, cutoff=0.6)
        return f"Perhaps {' or '.join(by_plain[name] for name in near)}" if near else ""


def read(con: duckdb.DuckDBPyConnection) -> Names:
    """Return the names, with those of the published file, which is attached as `prices`."""
    from extract.observations import PROVIDERS

    rows = con.execute(
        "select distinct service_provider_name, instance_type from prices.core.offer order by all"
    ).fetchall()
    machines: dict[str, dict[str, str]] = {"AWS": {row[0].lower(): row[0] for row in instance_types.read_table()}}
    for provider, name in rows:
        if name is not None:
            machines.setdefault(provider, {})[name.lower()] = name
    providers = {name.lower(): name for name in (*PROVIDERS.values(), *(provider for provider, _ in rows))}
    return Names(providers, machines)
