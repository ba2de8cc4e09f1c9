"""What private files have in common: how their lines are checked, and names of providers, machines and chips.

An empty value is no value. Every refusal names file, line, field, value and what is allowed; its message holds no
value, so that it can be shown where the values must not be.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from warehouse.errors import nearest, plain
from warehouse.reference import accelerators, instance_types
from warehouse.reference.table import Line, Rule, Values, first_refusal, values
from warehouse.schema.vocabulary import HOURS_PER_YEAR, PAYMENT_MODELS, PURCHASE_OPTIONS

NONE = "none"
"""The value of a cell where an offer must have nothing of the kind."""
VOCABULARY = {"option": PURCHASE_OPTIONS, "payment": (*PAYMENT_MODELS, NONE)}
TERM = r"([1-9][0-9]{0,4})\s*(y|yr|yrs|year|years|h|hour|hours)"
MEANINGS = {
    "option": f"one of {', '.join(PURCHASE_OPTIONS)}",
    "payment": f"one of {', '.join(VOCABULARY['payment'])}",
    "term": f"1yr, 3 years or 24h, for example; {NONE}: the offer must have none",
    "region": "the provider's code of a region; empty: any",
}


def rules(types: Mapping[str, Any], vocabulary: Mapping[str, Sequence[str]]) -> tuple[Rule, ...]:
    """Return what texts among fields of some types must be: printable, of their vocabulary, an understood term."""
    return (
        *(
            Rule(name, "contains non-printable characters", rf"regexp_like({name}, '^([^\p{{C}}\p{{Z}}]| )*$')")
            for name, type_ in types.items()
            if type_ in (str, str | None)
        ),
        *(
            Rule(name, f"not one of {', '.join(words)}", f"{name} in ({', '.join(map(repr, words))})")
            for name, words in vocabulary.items()
        ),
        Rule("term", "not a term", rf"regexp_like(term, '^(?i)({TERM}|{NONE})$')"),
    )


def checked(found: Sequence[Line], vocabulary: Mapping[str, Sequence[str]]) -> list[Values]:
    """Return the values of each line, words of a vocabulary in their own spelling. Raises ChipledgerError.

    Case, blanks, hyphens and underscores do not matter in a word of a vocabulary.
    """
    spelt = {name: {plain(word, "_"): word for word in words} for name, words in vocabulary.items()}
    respelt = [
        {name: spelt.get(name, {}).get(plain(cell, "_"), cell) for name, cell in line.cells.items()} for line in found
    ]
    rows = [values(line._replace(cells=cells)) for line, cells in zip(found, respelt, strict=True)]
    if refused := first_refusal(found, rows):
        raise refused[1]
    return rows


def term_hours(term: str | None) -> int | None:
    """Return the hours of a term such as 1yr, 3 years or 24h; 0 for "none", None where it is not stated."""
    match = re.fullmatch(TERM, (term or "").lower())
    if match is None:
        return None if term is None else 0
    return int(match[1]) * (HOURS_PER_YEAR if match[2].startswith("y") else 1)


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

    def provider(self, text: str) -> str | None:
        """Return how a provider writes itself; None where none has this name."""
        from extract.observations import provider_named

        return self.providers.get(provider_named(text).lower())

    def thing(self, text: str, provider: str) -> Thing | None:
        """Return what a text names: a machine of the provider, else a chip; None where neither is certain."""
        machine = self.instance_types.get(provider, {}).get(text.lower())
        if machine is not None:
            return Thing(instance_type=machine)
        chip = accelerators.resolve(text, provider)
        if chip is None or chip.accelerator_share != 1:
            return None
        return Thing(accelerator_name=chip.accelerator_name, form_factor=chip.form_factor)

    def known_provider(self, line: Line, row: Values) -> str:
        """Return how the provider of a line writes itself. Raises ChipledgerError where none has this name."""
        named = self.provider(row["provider"])
        if named is None:
            raise _unknown(line, "provider", "unknown provider", self.providers.values())
        return named

    def known_thing(self, line: Line, row: Values, field: str, provider: str) -> Thing:
        """Return what a field names. Raises ChipledgerError where no machine and no chip has this name."""
        thing = self.thing(row[field], provider)
        if thing is None:
            known = (*self.instance_types.get(provider, {}).values(), *accelerators.names())
            raise _unknown(line, field, f"neither a machine of {provider} nor a chip has this name", known)
        return thing


def _unknown(line: Line, field: str, reason: str, known: Iterable[str]) -> Exception:
    """Return the refusal of a name, with those that it may have meant."""
    error = line.error(field, reason)
    near = nearest(str(error.value), known, most=3)
    error.hint = f"Perhaps {' or '.join(near)}" if near else error.hint
    return error


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
