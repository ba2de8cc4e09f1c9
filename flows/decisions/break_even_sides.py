"""A side of a move in words: "h200 spot spheron" is a chip, how it is bought, and who sells it, in any order.

Every word must be understood; one that is not is an error that names it and what is allowed. Nothing is guessed: no
option stands for another, and no chip for one that is near it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from warehouse.errors import SettingsError
from warehouse.reference import accelerators, instance_types
from warehouse.schema.vocabulary import PURCHASE_OPTIONS

COMMITMENTS = ("under_a_year", "one_year", "two_years", "three_years", "longer")
CAPACITIES = ("fraction", "single", "several", "node", "cluster", "rack")
_LONGEST_PHRASE = 4
_COUNT = re.compile(r"x?\d+x?")
_AWS = "AWS"


@dataclass(frozen=True, kw_only=True)
class Side:
    """What is rented on one side: None where the words leave it open.

    `machine` is an AWS type (trn2.48xlarge) or family of types (trn2), of which alone prices count then.
    """

    text: str
    accelerator_name: str
    form_factor: str | None
    purchase_option: str
    provider: str | None
    commitment_class: str | None
    capacity_class: str | None
    machine: str | None

    @property
    def chip(self) -> str:
        """Return the chip and its form, as the words have them."""
        return " ".join(filter(None, (self.accelerator_name, self.form_factor)))

    @property
    def words(self) -> str:
        """Return the side in full."""
        return ", ".join(
            filter(
                None,
                (
                    self.chip,
                    self.machine,
                    self.purchase_option,
                    self.provider or "any provider",
                    self.commitment_class,
                    self.capacity_class,
                ),
            )
        )

    @property
    def values(self) -> dict[str, str | None]:
        """Return the values of the conditions `FILTER`."""
        return {
            "chip": self.accelerator_name,
            "form": self.form_factor,
            "option": self.purchase_option,
            "provider": self.provider,
            "length": self.commitment_class,
            "size": self.capacity_class,
            "machine": self.machine,
        }


FILTER = """
accelerator_name = $chip and ($form::VARCHAR is null or form_factor = $form) and purchase_option = $option
and ($provider::VARCHAR is null or service_provider_name = $provider)
and ($length::VARCHAR is null or commitment_class = $length)
and ($size::VARCHAR is null or capacity_class = $size)
and ($machine::VARCHAR is null or instance_type = $machine or starts_with(instance_type, $machine || '.'))
"""
"""Which rows of a mart are of a side."""


def read(text: str, *, field: str, providers: Iterable[str]) -> Side:
    """Return the side that words name. Raises SettingsError for a word that says nothing known, or too little."""
    known = {_plain(provider): provider for provider in providers}
    vocabulary: dict[str, tuple[str, str]] = {
        **{phrase: ("provider", name) for phrase, name in known.items()},
        **{_plain(name): ("capacity_class", name) for name in CAPACITIES},
        **{_plain(name): ("commitment_class", name) for name in COMMITMENTS},
        **{_plain(name): ("purchase_option", name) for name in PURCHASE_OPTIONS},
    }
    found, left = _phrases(text, vocabulary, field)
    machine, chip = _chip(left, text=text, field=field, allowed=_allowed(known.values()))
    if "purchase_option" not in found:
        raise SettingsError(
            "names no purchase option", field=field, value=text, hint=f"One of {', '.join(PURCHASE_OPTIONS)}"
        )
    provider = found.get("provider")
    if machine and provider not in (None, _AWS):
        raise SettingsError(f"{machine} is sold by AWS, not by {provider}", field=field, value=text)
    return Side(
        text=text,
        accelerator_name=chip[0],
        form_factor=chip[1],
        machine=machine,
        provider=_AWS if machine else provider,
        purchase_option=found["purchase_option"],
        commitment_class=found.get("commitment_class"),
        capacity_class=found.get("capacity_class"),
    )


def _phrases(text: str, vocabulary: Mapping[str, tuple[str, str]], field: str) -> tuple[dict[str, str], list[str]]:
    """Return what phrases of the vocabulary say, the longest first, and the words that are in none."""
    words = text.replace(",", " ").split()
    found: dict[str, str] = {}
    left: list[str] = []
    place = 0
    while place < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
            meaning = vocabulary.get(_plain(" ".join(words[place : place + length])))
            if meaning is None:
                continue
            kind, name = meaning
            if found.get(kind, name) != name:
                raise SettingsError(
                    f"names two of one kind ({kind.replace('_', ' ')}): {found[kind]} and {name}",
                    field=field,
                    value=text,
                )
            found[kind] = name
            place += length
            break
        else:
            left.append(words[place])
            place += 1
    return found, left


def _chip(left: Sequence[str], *, text: str, field: str, allowed: str) -> tuple[str | None, tuple[str, str | None]]:
    """Return the AWS machine, if one is named, and the chip with its form."""
    if not left:
        raise SettingsError("names no chip", field=field, value=text, hint=allowed)
    machines = _machines()
    named = [word for word in left if word.lower() in machines]
    if named:
        chip = machines[named[0].lower()]
        others = [word for word in left if word not in named]
        told = accelerators.resolve(" ".join(others)) if others else None
        if told and told.accelerator_name == chip[0] and told.form_factor in (None, chip[1]):
            others = []
        others += named[1:]
        if others:
            raise SettingsError(f"the word {others[0]!r} is not understood", field=field, value=text, hint=allowed)
        return named[0].lower(), chip
    found = accelerators.resolve(" ".join(left))
    counts = [word for word in left if _COUNT.fullmatch(word) and accelerators.resolve(_without(left, word)) == found]
    if found is None or counts:
        strange = counts or [word for word in left if accelerators.resolve(_without(left, word))]
        strange = strange or [word for word in left if accelerators.resolve(word) is None] or [" ".join(left)]
        raise SettingsError(f"the word {strange[0]!r} is not understood", field=field, value=text, hint=allowed)
    return None, (found.accelerator_name, found.form_factor)


def _without(words: Sequence[str], word: str) -> str:
    return " ".join(each for each in words if each != word)


@cache
def _machines() -> Mapping[str, tuple[str, str | None]]:
    """Return chip and form of each AWS type, and of each family whose types all have one."""
    chips: dict[str, set[tuple[str, str | None]]] = {}
    for fact in instance_types.read_table():
        for name in {fact.instance_type, fact.instance_type.partition(".")[0]}:
            chips.setdefault(name, set()).add((fact.accelerator_name, fact.form_factor))
    return {name: next(iter(each)) for name, each in chips.items() if len(each) == 1}


def _plain(text: str) -> str:
    """Return a name as it is compared: case, hyphens, underscores and blanks do not matter."""
    return re.sub(r"[\s_-]+", " ", text.strip().lower())


def _allowed(providers: Iterable[str]) -> str:
    return (
        f"Allowed: a chip (`chipledger chips` lists them) or an AWS type; {', '.join(PURCHASE_OPTIONS)}; a length, "
        f"{', '.join(COMMITMENTS)}; a size, {', '.join(CAPACITIES)}; a provider, {', '.join(sorted(providers))}"
    )
