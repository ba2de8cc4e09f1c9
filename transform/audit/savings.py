"""Checks of savings and discounts: by the text's own costs, prices and savings, all together or a peak FLOP/s."""

import itertools
import re
from collections.abc import Sequence

from transform.audit.article import Article, same_thing
from transform.audit.evidence import Evidence, model_named
from transform.audit.finding import (
    CONSISTENT,
    INCONSISTENT,
    Finding,
    Range,
    claimed,
    exactly,
    found,
    is_number,
    number,
    printed,
)
from transform.audit.inputs import PRICES, Tried, closest, has_figure, side, undiscounted, verdict_of
from warehouse.reference.claim_text import machines
from warehouse.reference.claims import Claim

_OF_A = re.compile(r"(\d+(?:\.\d+)?) ?% of (?:a |an |the )?(?:USD ?|\$ ?)?([\d,.]+\d)")
_PER_PEAK = re.compile(r"\bper[- ](?:tera|peta)?fl?ops?\b|\bper[- ][tp]flops?\b", re.IGNORECASE)
_SIZE = re.compile(r"(?:under|below|less than) (\d+(?:\.\d+)?) ?([MB])\b|\b(\d+(?:\.\d+)?) ?([MB])\+", re.IGNORECASE)
"""Models under 10B parameters, or of 70B+."""
_PEAKS = ("dense_bf16_tflops", "dense_fp8_tflops")


def saving(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return what the text's own costs, prices or savings of two things give as a saving in per cent."""
    things = claim.subject.things
    repeated = [one for one in article.named(claim) if one.metric == claim.metric and is_number(one)]
    if repeated:
        return _of_parts(claim, repeated, "the saving that it repeats,")
    if _PER_PEAK.search(claim.words):
        return closest(claim, _per_peak(claim, article, evidence))
    parts = (
        ()
        if claim.model_name
        else article.find(
            claim,
            claim.metric,
            lambda other: (
                other.model_name is not None
                and len(other.subject.things) == 2
                and all(same_thing(a, b) for a, b in zip(other.subject.things, things, strict=False))
            ),
        )
    )
    if parts:
        return _of_parts(claim, parts, "the text's own savings by model,")
    if len(things) != 2:
        return None
    tried = []
    for metric in ("cost_to_train", "cpm", *PRICES):
        sides = [article.find(claim, metric, side(claim, thing))[:1] for thing in things]
        if all(sides):
            (less,), (more,) = sides
            share = exactly(1.0) - claimed(less, hedged=False) / claimed(more, hedged=False)
            tried.append((share * exactly(100.0), f"1 - {less.figure} / {more.figure} in %", (less, more)))
    return closest(claim, tried)


def saving_amount(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return a share of an amount, both told in the claim's own words; it rests on the text's saving of that share."""
    match = _OF_A.search(claim.conditions_text)
    if match is None:
        return None
    amount = match[2].replace(",", "")
    claimed_range = printed(match[1]) * exactly(0.01) * exactly(float(amount))
    shares = article.find(claim, "savings_pct", has_figure(match[1]))[:1]
    return verdict_of(claim, claimed_range, f"{match[1]} % x {match[2]}", shares)


def discount(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return the discounts that the text's own prices under one option show against on demand."""
    option = claim.conditions.purchase_option
    reduced = [
        other
        for metric in PRICES
        for other in article.find(
            claim,
            metric,
            lambda one: (
                one.conditions.purchase_option == option and one.conditions.term_hours == claim.conditions.term_hours
            ),
        )
    ]
    tried = []
    sign = -1.0 if claim.figure.startswith("-") else 1.0
    for one in reduced if option else ():
        full = article.find(one, one.metric, undiscounted(one))
        if full:
            share = exactly(1.0) - claimed(one, hedged=False) / claimed(full[0], hedged=False)
            tried.append((share * exactly(100.0 * sign), f"1 - {one.figure} / {full[0].figure} in %", (one, full[0])))
    if tried and not all(span.meets(claimed(claim)) for span, _, _ in tried):
        return verdict_of(claim, *next(each for each in tried if not each[0].meets(claimed(claim))))
    return closest(claim, tried)


def _of_parts(claim: Claim, parts: Sequence[Claim], words: str) -> Finding:
    """Return whether a saving is one of others, lies between them, or as a range holds one of them."""
    chosen = _of_size(claim, parts)
    claimed_range, spans = claimed(claim), [claimed(one) for one in chosen or parts]
    between = Range(min(one.low for one in spans), max(one.high for one in spans))
    if chosen:
        holds = all(one.meets(claimed_range) for one in spans)
        words += f" of {', '.join(one.model_name or '' for one in chosen)}:"
    else:
        holds = (
            between.meets(claimed_range) if claim.value is not None else any(one.meets(claimed_range) for one in spans)
        )
    shown = ", ".join(sorted(one.figure for one in chosen or parts))
    relation = (
        "is not" if not holds else "agrees with" if any(one.meets(claimed_range) for one in spans) else "lies within"
    )
    text = f"claimed {claim.figure} % {relation} {words} {shown} %"
    return found(
        CONSISTENT if holds else INCONSISTENT,
        "arithmetic",
        text,
        recomputed=between.middle,
        rests_on=tuple(one.claim_id for one in parts),
    )


def _of_size(claim: Claim, parts: Sequence[Claim]) -> list[Claim]:
    """Return the savings on models of the size that the words of a claim state; none where they state none."""
    size = _SIZE.search(claim.conditions_text)
    if size is None:
        return []
    limit = float(size[1] or size[3]) * (1e9 if (size[2] or size[4]).upper() == "B" else 1e6)
    known = [(one, model) for one in parts if (model := model_named(one.model_name))]
    return [one for one, model in known if (model.parameters_total < limit) == bool(size[1])]


def _per_peak(claim: Claim, article: Article, evidence: Evidence) -> list[Tried]:
    """Return savings a peak FLOP/s by the text's own two prices, for each precision and each chip that may be meant."""
    things = claim.subject.things
    named = [one for one in article.named(claim) if one.metric in PRICES and is_number(one)]
    if len(named) != 2 and len(things) == 2:
        pairs = [article.find(claim, PRICES, side(claim, thing))[:1] for thing in things]
        named = [one for pair in pairs for one in pair]
    if len(named) != 2 or len(things) != 2:
        return []
    tried: list[Tried] = []
    for fact in _PEAKS:
        sides = [_dollars(one, thing.chips, fact, evidence) for one, thing in zip(named, things, strict=True)]
        for (less, chip), (more, other) in itertools.product(*sides):
            words = f"1 - ({named[0].figure} USD/h / {fact} of {chip}) / ({named[1].figure} USD/h / that of {other})"
            tried.append(((exactly(1.0) - less / more) * exactly(100.0), f"{words} in %", (named[0], named[1])))
    return tried


def _dollars(
    price: Claim, meant: tuple[tuple[str, str | None], ...], fact: str, evidence: Evidence
) -> list[tuple[Range, str]]:
    """Return USD an hour and peak FLOP/s of what a text's price buys: of the chips that it has, or is said to have."""
    thing = price.subject.things[0]
    facts = machines().get(thing.instance_type or "")
    count = float(facts.accelerator_count) if facts else 1.0
    chips = list(dict.fromkeys([*evidence.forms(thing), *evidence.named(meant)]))
    return [
        (claimed(price, hedged=False) / exactly(peak * count), f"{number(count)} x {' '.join(filter(None, chip))}")
        for chip in chips
        if (peak := evidence.fact(chip, fact)) and (facts or price.metric == "price_per_chip")
    ]
