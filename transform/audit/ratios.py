"""Checks of how many times, or by how many per cent, one thing is more than another."""

import itertools
import re
from collections import defaultdict
from dataclasses import replace

from transform.audit.article import Article, Fits, same_thing
from transform.audit.evidence import Chip, Evidence, Offer, chip_words
from transform.audit.finding import Finding, Range, claimed, exactly, found, number, unknown
from transform.audit.prices import UNITS, candidates, windows_of
from transform.audit.verdicts import CONSISTENT, INCONSISTENT, STALE, UNVERIFIABLE
from warehouse.reference.claim_text import Thing
from warehouse.reference.claims import Claim

FACTS = {
    "fp8": ("dense_fp8_tflops",),
    "fp4": ("dense_fp4_tflops",),
    "bf16": ("dense_bf16_tflops",),
    "memory": ("memory_gb",),
    "bandwidth": ("memory_bandwidth_tb_s",),
    "tdp": ("tdp_w",),
    **dict.fromkeys(("compute", "performance", "flops"), ("dense_fp8_tflops", "dense_bf16_tflops")),
}
"""What a ratio may be of: each fact is a reading."""
OWN = {
    "price_per_chip": ("price_per_chip",),
    "price": ("price_usd_per_hour_instance", "price_per_chip"),
    "throughput": ("throughput_tokens_per_s_system", "throughput_tokens_per_s_per_chip"),
    "cost_to_train": ("cost_to_train",),
    "cpm": ("cpm",),
}
"""Ratios that a text computes from two of its own figures."""
PRICE_UNITS = {"price_per_chip": "chip", "price": "instance"}
"""Ratios of prices, and of what: where a text gives no two prices, the history does."""
_METRIC = re.compile(r"ratio_(\w+?)(_pct)?")
_BEHIND = re.compile(r"\b(?:trails?|behind|below|less|fewer|lower|slower|cheaper)\b", re.IGNORECASE)
_AHEAD = re.compile(r"\b(?:more|above|higher|faster|ahead|leads?|greater|better|exceeds?)\b", re.IGNORECASE)
_PRICED = re.compile(r"\bprices?\b|\bhourly\b|\bper (?:chip[- ])?hour\b|/ ?h(?:r|our)?\b", re.IGNORECASE)
_WORK = re.compile(r"perform|train(?:ing)?\b|token|throughput|infer|workload|\bjobs?\b", re.IGNORECASE)
"""What a saving may be of, other than prices: less is paid for the same work."""
Tried = tuple[Range, str, tuple[str, ...], tuple[str, ...]]
"""A reading: its value, words, addresses, and ids of claims."""


def ratio(claim: Claim, article: Article, evidence: Evidence) -> Finding:
    """Check a ratio against the text's own two figures, or against published facts of both sides."""
    match = _METRIC.fullmatch(claim.metric)
    if match is None or len(claim.subject.things) != 2:
        return unknown("it compares no two things that are known here")
    one, other = claim.subject.things
    own = _own(claim, article, match[1])
    basis = "arithmetic" if own else "evidence"
    if not own and match[1] in PRICE_UNITS:
        return _of_prices(claim, PRICE_UNITS[match[1]], evidence, percent=bool(match[2]))
    is_paid = match[1] == "flops_per_dollar"
    tried = own or (_per_dollar(claim, evidence) if is_paid else _facts(one, other, match[1], evidence))
    if not tried:
        return unknown(f"nothing of {match[1].replace('_', ' ')} of both sides is known here")
    readings = [
        (_as_claimed(span, claim, percent=bool(match[2])), words, urls, ids) for span, words, urls, ids in tried
    ]
    claimed_range = claimed(claim, reached=True)
    span, words, urls, ids = min(readings, key=lambda each: each[0].distance(claimed_range))
    holds = span.meets(claimed_range)
    text = f"{words} = {number(span.middle)} {claim.unit}, claimed {claim.figure}"
    is_less = claim.hedge.is_upper and span.low > claimed_range.high
    # What a workload gains is more than a ratio of peaks, by memory and by precision: such a ratio refutes none.
    if not holds and (is_less or (match[1] == "performance" and basis == "evidence")):
        return unknown(f"{text}: peaks do not decide what a workload gains", recomputed=span.middle, documents=urls)
    return found(
        CONSISTENT if holds else INCONSISTENT,
        basis,
        text,
        recomputed=span.middle,
        rests_on=ids,
        documents=urls,
        readings=tuple(f"{each[1]}: {number(each[0].middle)} {claim.unit}" for each in readings),
    )


def price_saving(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Check by how many per cent one price is below another, where a saving says that it is of prices."""
    if len(claim.subject.things) != 2 or not _PRICED.search(claim.words) or _WORK.search(claim.words):
        return None
    is_of_machines = all(thing.instance_type for thing in claim.subject.things) and "chip" not in claim.conditions_text
    return _of_prices(claim, "instance" if is_of_machines else "chip", evidence, percent=True)


def _of_prices(claim: Claim, unit: str, evidence: Evidence, *, percent: bool) -> Finding:
    """Check a ratio of two prices of one seller, place and option against the history, then and today."""
    claimed_range = claimed(claim)
    windows = windows_of(claim, evidence)
    sides = [evidence.held(_offers(claim, thing, unit, evidence), *windows) for thing in claim.subject.things]
    results = []
    for window in windows:
        top, bottom = ([price for price in side if price.holds(*window) and price.per(unit)] for side in sides)
        by_place = defaultdict(list)
        for b in bottom:
            by_place[b.offer.service_provider_name, b.offer.region_id].append(b)
        pairs = [
            (_as_claimed(exactly((a.per(unit) or 0.0) / (b.per(unit) or 1.0)), claim, percent=percent), a, b)
            for a in top
            for b in by_place[a.offer.service_provider_name, a.offer.region_id]
        ]
        results.append(min(pairs, key=lambda one: one[0].distance(claimed_range), default=None))
    if results == [None, None]:
        return unknown("no two prices of one seller, place and option are known of both sides")
    verdicts = [
        UNVERIFIABLE if one is None else CONSISTENT if one[0].meets(claimed_range) else INCONSISTENT for one in results
    ]
    if verdicts == [CONSISTENT, INCONSISTENT]:
        verdicts[1] = STALE
    span, a, b = next(one for one in (results[1], results[0]) if one)
    paid = " / ".join(number(one.per(unit) or 0) for one in (a, b))
    words = f"{paid} USD/h of {unit} at {a.offer.service_provider_name}"
    return Finding(
        verdicts[0],
        verdicts[1],
        "history",
        f"{words} = {number(span.middle)} {claim.unit}, claimed {claim.figure}",
        recomputed=span.middle,
        documents=tuple(dict.fromkeys(evidence.address(one) for one in (a, b))),
        readings=tuple(
            f"{number(one[0].middle)} {claim.unit} on {when}"
            for one, when in zip(results, ("its date", "today"), strict=True)
            if one
        ),
        evidence_until=max(a.last_observed, b.last_observed).isoformat(),
    )


def _offers(claim: Claim, thing: Thing, unit: str, evidence: Evidence) -> list[Offer]:
    """Return the offers of one side; one of unknown form is of neither."""
    metric = next(name for name, what in UNITS.items() if what == unit)
    conditions, subject = replace(claim.conditions, instance_type=None), replace(claim.subject, things=(thing,))
    found = candidates(replace(claim, metric=metric, conditions=conditions, subject=subject), evidence)
    named = [] if thing.instance_type else evidence.spelled(thing.chips)
    return [
        one
        for one in (() if isinstance(found, str) else found.offers)
        if not one.is_floor
        and (not named or any(one.accelerator_name == n and form in (None, one.form_factor) for n, form in named))
    ]


def _as_claimed(span: Range, claim: Claim, *, percent: bool) -> Range:
    """Return a ratio as the claim tells it: as it is, or in per cent more or less."""
    if not percent:
        return span
    if claim.metric == "savings_pct" or _BEHIND.search(claim.words):
        return (exactly(1.0) - span) * exactly(100.0)
    if _AHEAD.search(claim.words):
        return (span - exactly(1.0)) * exactly(100.0)
    return span * exactly(100.0)


def _own(claim: Claim, article: Article, what: str) -> list[Tried]:
    tried: list[Tried] = []
    for metric in OWN.get(what, ()):
        sides = [article.find(claim, metric, _side(claim, thing))[:1] for thing in claim.subject.things]
        if all(sides):
            (top,), (bottom,) = sides
            span = claimed(top, hedged=False) / claimed(bottom, hedged=False)
            tried.append((span, f"{top.figure} / {bottom.figure}", (), (top.claim_id, bottom.claim_id)))
    return tried


def _side(claim: Claim, thing: Thing) -> Fits:
    return lambda other: (
        len(other.subject.things) == 1
        and same_thing(other.thing, thing)
        and _same_model(claim, other)
        and other.conditions.purchase_option in (None, "on_demand", claim.conditions.purchase_option)
    )


def _same_model(claim: Claim, other: Claim) -> bool:
    """Return whether another claim is of the model that a claim names, or of the size that its words state."""
    if other.model_name is None or other.model_name == claim.model_name:
        return True
    size = re.search(r"(\d+(?:\.\d+)?)[BT]\b", claim.conditions_text)
    return claim.model_name is None and bool(
        size and re.search(rf"-{re.escape(size[1].lower())}[bt]\b", other.model_name)
    )


def _facts(one: Thing, other: Thing, what: str, evidence: Evidence) -> list[Tried]:
    tried: list[Tried] = []
    for fact in FACTS.get(what, ()):
        for a, b in itertools.product(evidence.named(one.chips), evidence.named(other.chips)):
            top, bottom = _amount(one, a, fact, evidence), _amount(other, b, fact, evidence)
            if top and bottom:
                named = dict.fromkeys(fact.replace("dense", "sparse") if x.is_sparse else fact for x in (one, other))
                words = f"{' / '.join(named)}: {top[1]} / {bottom[1]}"
                tried.append((exactly(top[0] / bottom[0]), words, tuple(dict.fromkeys((top[2], bottom[2]))), ()))
    return tried


def _amount(thing: Thing, chip: Chip, fact: str, evidence: Evidence) -> tuple[float, str, str] | None:
    """Return a fact of a chip, of a core of it, or of all chips of a system, in words and with its address."""
    name = fact.replace("dense", "sparse") if thing.is_sparse else fact
    rows = evidence.sources(chip, name)
    if not rows:
        return None
    value, url, _ = rows[0]
    label = chip_words(chip)
    if thing.is_core:
        cores = evidence.fact(chip, "cores_per_accelerator")
        return (value / cores, f"{number(value)} of {label} / {number(cores)} cores", url) if cores else None
    if thing.is_system:
        chips = thing.count or evidence.fact(chip, "scale_up_domain")
        return (value * chips, f"{number(chips)} x {number(value)} of {label}", url) if chips else None
    return value, f"{number(value)} of {label}", url


def _per_dollar(claim: Claim, evidence: Evidence) -> list[Tried]:
    """Return FLOP/s a dollar of one side over the other's, at prices of one option known of both on the claim's day."""
    on_its_date, _ = windows_of(claim, evidence)
    tried: list[Tried] = []
    wanted = claim.conditions.purchase_option
    options = (wanted,) if wanted else ("on_demand", "capacity_block")
    for option, fact in itertools.product(options, FACTS["flops"]):
        sides = []
        for thing in claim.subject.things:
            sold = (each for each in evidence.offers_of(None, thing.chips) if each.purchase_option == option)
            held = evidence.held((each for each in sold if each.service_provider_name == "AWS"), on_its_date)
            priced = ((one.offer.accelerator_name or "", one.offer.form_factor, one.per("chip")) for one in held)
            paid = {(name, form): usd for name, form, usd in priced if usd}
            sides.append([(peak, usd) for chip, usd in paid.items() if (peak := evidence.fact(chip, fact))])
        for a, b in itertools.product(*sides):
            parts = " / ".join(f"({number(peak)} / {number(usd)} USD/h)" for peak, usd in (a, b))
            words = f"{fact}, {option.replace('_', ' ')} at AWS: {parts}"
            tried.append((exactly(a[0] / a[1] * b[1] / b[0]), words, (), ()))
    return tried
