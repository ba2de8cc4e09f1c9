"""Checks against the price history: of prices of machines, chips and cores, and of whether a thing is sold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from transform.audit.evidence import Evidence, Offer, Price
from transform.audit.finding import Finding, Range, claimed, number, unknown
from transform.audit.verdicts import CONSISTENT, INCONSISTENT, STALE, UNVERIFIABLE
from warehouse.reference.claim_text import AWS_PLACES, Thing
from warehouse.reference.claims import Claim

UNITS = {
    "price_usd_per_hour_instance": "instance",
    "price_per_chip": "chip",
    "price_per_core": "core",
    "price_usd_per_month": "instance",
}
AWS = "AWS"
COMMITMENTS = ("reserved", "savings_plan")
AWS_CHIPS = ("Trainium", "Inferentia")
ROUNDING = 0.0005
"""Price lists that are copied round to a twentieth of a per cent at most."""
FEW = 3
AVAILABILITY = re.compile(r"(on_demand|spot|reserved|savings_plan|capacity_block)_available")
_NO = ("no", "false", "0", "none")
_YES = ("yes", "true", "1")


@dataclass(frozen=True)
class _Candidates:
    """The offers whose prices may answer a claim, and the words by which the answer names them."""

    words: str
    offers: tuple[Offer, ...]
    is_market: bool
    """Whether nobody is named who sells it, or a form such as PCIe that is known of none: any in between is as good."""
    is_anywhere: bool
    """Whether it is of AWS in a region that is not named."""


def history(claim: Claim, evidence: Evidence, *, hours: float = 1.0) -> Finding:
    """Check a price of so many hours against those that the file has of the same thing, then and today."""
    unit = UNITS[claim.metric]
    candidates_found = candidates(claim, evidence)
    if isinstance(candidates_found, str):
        return unknown(candidates_found)
    claimed_range = claimed(claim)
    claimed_range = Range(claimed_range.low / hours * (1 - ROUNDING), claimed_range.high / hours * (1 + ROUNDING))
    newest = evidence.last(candidates_found.offers)
    if newest is None:
        return unknown(f"the file has no history in USD of {candidates_found.words}")
    windows = windows_of(claim, evidence)
    held = evidence.held(candidates_found.offers, *windows)
    (verdict, words, used), (today, words_today, used_today) = (
        _then(evidence, candidates_found, held, claimed_range, unit, *window) for window in windows
    )
    if verdict == CONSISTENT and today == STALE:
        words = f"true then: {words}"
    elif verdict == CONSISTENT and today == UNVERIFIABLE:
        words = f"true then: {words}; since then {words_today}"
    shown = (used_today or used)[-1:] if today != CONSISTENT else used_today
    hourly = shown[0].per(unit) if shown else None
    value = hourly * hours if hourly is not None else None
    spread = f" over {number(hours)} h" if hours != 1 else ""
    text = f"claimed {claim.figure} {claim.unit}{spread}, {candidates_found.words}: {words}"
    if words_today not in words:
        text += f"; today {words_today}"
    decisive = list(dict.fromkeys((*used, *used_today)))
    return Finding(
        verdict,
        today,
        "nothing" if verdict == today == UNVERIFIABLE else "history",
        text,
        recomputed=value,
        readings=tuple(_line(price, unit) for price in decisive),
        documents=tuple(dict.fromkeys(map(evidence.address, decisive))),
        evidence_until=newest.last_observed.isoformat(),
    )


def read(claims: Iterable[Claim], evidence: Evidence) -> None:
    """Read at once the prices of all offers whose prices may answer these claims."""
    found = [candidates(claim, evidence) for claim in claims if claim.metric in UNITS]
    offers = [offer for one in found if isinstance(one, _Candidates) for offer in one.offers]
    evidence.read(offers)
    evidence.read_ended(offers)


def windows_of(claim: Claim, evidence: Evidence) -> tuple[tuple[date | None, date], tuple[date, date]]:
    """Return the days that a claim speaks of, up to today, and today."""
    today = evidence.today
    return (claim.claimed_from, min(claim.claimed_until or today, today)), (today, today)


def seller(claim: Claim, thing: Thing, evidence: Evidence) -> tuple[str | None, str | None]:
    """Return who sells a thing by the words of a claim, None where nobody is named, and a word that names none here."""
    provider, strange = evidence.provider(claim.subject.others)
    if provider or strange:
        return provider, strange
    is_of_aws = thing.instance_type or claim.conditions.instance_type or claim.conditions.regions
    if is_of_aws or re.search("AWS|EC2", claim.words) or any(name.startswith(AWS_CHIPS) for name, _ in thing.chips):
        return AWS, None
    words = claim.conditions_text.casefold()
    named = {name for called, name in evidence.providers.items() if re.search(rf"\b{re.escape(called)}\b", words)}
    return named.pop() if len(named) == 1 else None, None


def candidates(claim: Claim, evidence: Evidence) -> _Candidates | str:
    """Return which offers a claim is about by its first thing, or why the file has none."""
    thing, conditions = claim.thing, claim.conditions
    machine = thing.instance_type or conditions.instance_type
    provider, strange = seller(claim, thing, evidence)
    if strange:
        return f"no price of {strange} is in this file"
    if machine is None and UNITS.get(claim.metric) == "instance":
        return f"{claim.subject_text!r} names no machine of AWS; those of others are known by price_per_chip alone"
    if machine is None and not thing.chips:
        return f"{claim.subject_text!r} names no machine or chip that is known here"
    places = {code for place, code in AWS_PLACES.items() if re.search(rf"\b{place}\b", claim.words, re.IGNORECASE)}
    regions = conditions.regions or (tuple(sorted(places)) if provider == AWS else ())
    # A term of which no option is named ("1-year commitment") is of either kind of commitment.
    sold = AVAILABILITY.fullmatch(claim.metric)
    stated = sold[1] if sold else conditions.purchase_option
    options = (stated,) if stated else COMMITMENTS if conditions.term_hours else ("on_demand",)
    option = " or ".join(options).replace("_", " ")
    parts = [machine or "/".join(sorted({name for name, _ in thing.chips})), provider, option]
    if not stated and options[0] == "on_demand":
        parts.append("as no other option is named")
    if conditions.term_hours and options[0] in COMMITMENTS:
        parts.append(f"{conditions.term_hours:,} h")
    parts += regions
    words = ", ".join(part for part in parts if part)
    chips = evidence.spelled(thing.chips)
    found = tuple(
        one
        for one in evidence.offers_of(machine, chips)
        if one.purchase_option in options
        and (
            machine or any(one.accelerator_name == n and (f is None or one.form_factor in (f, None)) for n, f in chips)
        )
        and (provider is None or one.service_provider_name == provider)
        and (not regions or one.region_id in regions)
        and (options[0] not in COMMITMENTS or conditions.term_hours in (None, one.commitment_term_hours))
    )
    forms = [] if machine else [chip for chip in chips if chip[1] and len(evidence.named([(chip[0], None)])) > 1]
    is_form_open = bool(forms) and not any((one.accelerator_name, one.form_factor) in forms for one in found)
    return _Candidates(words, found, provider is None or is_form_open, provider == AWS and not regions)


def _then(
    evidence: Evidence,
    candidates_found: _Candidates,
    prices: Sequence[Price],
    claimed_range: Range,
    unit: str,
    since: date | None,
    until: date,
) -> tuple[str, str, tuple[Price, ...]]:
    """Return the verdict over one window of days, the reason, and the prices that decide."""
    offers = [one for one in candidates_found.offers if one.units(unit)]
    if not offers:
        return UNVERIFIABLE, f"how many of {unit} its machines have is not known", ()
    held = [(one, value) for one in prices if one.holds(since, until) and (value := one.per(unit)) is not None]
    agreeing = [price for price, value in held if claimed_range.meets(Range(value, value))]
    if agreeing:
        best = max(agreeing, key=lambda price: (price.last_observed, price.valid_from))
        return CONSISTENT, f"it was {_line(best, unit)}", (best,)
    if not held:
        first, last = evidence.first(offers), evidence.last(offers)
        if first is None or last is None:
            return UNVERIFIABLE, f"no price of {unit} is known", ()
        if until < first.earliest:
            return UNVERIFIABLE, f"the history begins later: first {_line(first, unit)}", ()
        words = "has a gap there: next" if last.valid_from > until else "does not reach it: last"
        return UNVERIFIABLE, f"the history {words} {_line(last, unit)}", ()
    nearest = min(held, key=lambda one: min(abs(one[1] - claimed_range.low), abs(one[1] - claimed_range.high)))[0]
    if all(price.offer.is_floor for price, _ in held) and claimed_range.high > min(value for _, value in held):
        return UNVERIFIABLE, f"the least offer was {_line(nearest, unit)}, and the other offers are not known", ()
    sold = [(price, value) for price, value in held if not price.offer.is_floor] or held
    lowest, highest = min(value for _, value in sold), max(value for _, value in sold)
    sellers = {price.offer.service_provider_name for price, _ in sold}
    is_market = candidates_found.is_market
    if is_market and len(sellers) >= FEW and claimed_range.meets(Range(lowest, highest)):
        return CONSISTENT, f"between {number(lowest)} and {number(highest)} of {len(sellers)} providers", (nearest,)
    old = evidence.last_before(offers, since, unit, claimed_range.low, claimed_range.high) if since else None
    if old:
        nearest = next((price for price, _ in held if price.offer == old.offer), nearest)
        change = (nearest.per(unit) or 0) / (old.per(unit) or 1) - 1
        return STALE, f"that was {_line(old, unit)}; then {_line(nearest, unit)} ({change:+.0%})", (old, nearest)
    if is_market and (len(sellers) < FEW or claimed_range.high < lowest):
        return UNVERIFIABLE, f"no provider or known form is named; the nearest here is {_line(nearest, unit)}", ()
    if since and until < evidence.today and not any(price.last_observed >= since for price, _ in held):
        # Not seen on those days, it may have been by then what was seen later.
        for later in evidence.held(offers, (until, evidence.today)):
            if later.valid_from > until and claimed_range.meets(Range(value := later.per(unit) or 0, value)):
                words = f"before it was {_line(nearest, unit)}, later {_line(later, unit)}"
                return UNVERIFIABLE, words, (nearest, later)
    places = sorted({price.offer.region_id for price, _ in held if price.offer.region_id})
    if candidates_found.is_anywhere and "us-east-1" not in places:
        return UNVERIFIABLE, f"no region is named; the nearest here is {_line(nearest, unit)}", (nearest,)
    where = f" in {', '.join(places) if len(places) <= FEW else f'{len(places)} regions'}" if places else ""
    return INCONSISTENT, f"it was {_line(nearest, unit)}, and never seen as claimed{where}", (nearest,)


def _line(price: Price, unit: str) -> str:
    """Return a price with its days and place in words."""
    end = f"until {price.valid_to}" if price.valid_to else f"last confirmed {price.last_observed}"
    offer = price.offer
    place = " ".join(filter(None, (offer.service_provider_name, offer.instance_type, offer.region_id)))
    return f"{number(price.per(unit) or 0)} USD/h of {unit} ({place}, from {price.valid_from} {end})"


def available(claim: Claim, evidence: Evidence) -> Finding:
    """Check a yes or no against prices of the thing under that option, on the claim's day and today."""
    answer = (claim.value or "").casefold()
    if answer not in (*_NO, *_YES):
        return unknown("the claim is neither yes nor no")
    candidates_found = candidates(claim, evidence)
    if isinstance(candidates_found, str):
        return unknown(candidates_found)
    name = f"{claim.metric.removesuffix('_available').replace('_', ' ')} price of {claim.subject_text}"
    windows = windows_of(claim, evidence)
    held = evidence.held(candidates_found.offers, *windows)
    verdicts, words = [], []
    for window in windows:
        last = max((one for one in held if one.holds(*window)), key=lambda one: one.last_observed, default=None)
        verdicts.append(UNVERIFIABLE if last is None else INCONSISTENT if answer in _NO else CONSISTENT)
        words.append(
            f"a {name} was seen at {last.offer.service_provider_name} in {last.offer.region_id}, "
            f"last on {last.last_observed}"
            if last
            else f"the file has no {name}, which is no proof that there is none"
        )
    text = words[0] if words[0] == words[1] else f"{words[0]}; today {words[1]}"
    basis = "nothing" if verdicts == [UNVERIFIABLE, UNVERIFIABLE] else "history"
    return Finding(verdicts[0], verdicts[1], basis, f"claimed {claim.value}: {text}")
