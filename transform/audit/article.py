"""The other claims of the same text: what a figure may have been computed from."""

from collections.abc import Callable, Iterable, Sequence

from transform.audit.finding import is_number
from warehouse.reference.claim_text import Thing
from warehouse.reference.claims import Claim

Fits = Callable[[Claim], bool]


class Article:
    """The claims of one text, in its order."""

    def __init__(self, claims: Iterable[Claim]) -> None:
        self.claims = tuple(claims)
        self._by_id = {claim.claim_id: claim for claim in self.claims}
        self._places = {claim.claim_id: place for place, claim in enumerate(self.claims)}

    def named(self, claim: Claim) -> tuple[Claim, ...]:
        """Return the claims that a claim names as what it was computed from."""
        return tuple(self._by_id[one] for one in claim.derived_from if one in self._by_id)

    def find(self, claim: Claim, metrics: str | Sequence[str], fits: Fits) -> tuple[Claim, ...]:
        """Return other claims of these metrics that fit: those that the claim names, then the nearest of its region."""
        wanted = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        place, here = self._places[claim.claim_id], {*claim.conditions.regions}
        found = [
            (abs(index - place) + (0.5 if index > place else 0.0), index)
            for index, other in enumerate(self.claims)
            if index != place and other.metric in wanted and is_number(other) and fits(other)
            if not here or here & {*(other.conditions.regions or here)} or other.claim_id in claim.derived_from
        ]
        near = [self.claims[index] for _, index in sorted(found)]
        named = [other for other in self.named(claim) if other in near]
        return tuple(dict.fromkeys([*named, *near]))


def same_thing(one: Thing, other: Thing) -> bool:
    """Return whether two things are the same chips or machine; a form that is left out does not matter."""
    if one.instance_type or other.instance_type:
        return one.instance_type == other.instance_type
    if one.is_system != other.is_system:
        return False
    if not one.chips and not other.chips:
        return one.key == other.key
    return shares_chip(one, other) and one.is_core == other.is_core


def shares_chip(one: Thing, other: Thing) -> bool:
    """Return whether two things may be the same chip in any form, alone or several of it."""
    return not {name for name, _ in one.chips}.isdisjoint(name for name, _ in other.chips)


def of_model(claim: Claim, alike: Callable[[Thing, Thing], bool] = same_thing) -> Fits:
    """Return what is of the model of a claim, and of a thing like its own."""
    return lambda other: other.model_name == claim.model_name and alike(other.thing, claim.thing)


def same_option(one: Claim, other: Claim) -> bool:
    """Return whether two claims are of one purchase option; where none is named, on demand is meant."""
    return (one.conditions.purchase_option or "on_demand") == (other.conditions.purchase_option or "on_demand")


def same_subject(one: Claim, other: Claim) -> bool:
    """Return whether two claims are about the same things, model and provider."""
    return (
        len(one.subject.things) == len(other.subject.things)
        and all(same_thing(a, b) for a, b in zip(one.subject.things, other.subject.things, strict=True))
        and one.subject.model_name == other.subject.model_name
        and [word.casefold() for word in one.subject.others] == [word.casefold() for word in other.subject.others]
    )
