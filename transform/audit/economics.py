"""Checks of what was computed from other figures: prices, savings, costs of tokens and of trainings, break-even.

Such a claim is graded by its own arithmetic, over what its inputs may stand for as they were rounded, and names the
claims that it rests on. Nothing here knows a price of its own: where a text gives no input, the history is asked.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from transform.audit import prices
from transform.audit.article import Article, Fits, of_model, same_option, same_subject, same_thing, shares_chip
from transform.audit.evidence import Evidence, chip_words, model_named
from transform.audit.finding import Finding, Range, claimed, exactly, found, is_number, number, printed, scale, unknown
from transform.audit.rates import PER_CHIP, PER_CORE, SYSTEM, bounds_of, readings
from transform.audit.verdicts import CONSISTENT, IMPOSSIBLE, INCONSISTENT
from warehouse.reference.claim_text import SCALE, Thing, machines
from warehouse.reference.claims import Claim
from warehouse.schema.vocabulary import HOURS_PER_MONTH

_DIVIDED = re.compile(r"([a-z0-9-]+\.\w+) ?/ ?(\d+)")
_DISCOUNT = re.compile(r"\(\s*[-\u2212]\s?(\d+(?:\.\d+)?) ?%\s*\)")
_HOURS = re.compile(r"(\d+) ?h(?:ours|rs)?\b(?P<daily> ?(?:/|per|a) ?day(?:\D+(\d+) days)?)?")
_WORK = re.compile(
    r"(\d+(?:\.\d+)?) weeks?\D+?(\d+) (?:\w+ )?engineers?\D+?(\d+(?:\.\d+)?) ?(?:USD|\$)?", re.IGNORECASE
)
_VERSUS = re.compile(
    r"(\d+(?:\.\d+)?)(?: ?USD)? (?:vs\.?|versus|against|to) (?:\$|USD )?(\d+(?:\.\d+)?)(?: ?USD)?"
    r"(?: ?/ ?1?M| per (?:1M|million))"
)
_A_DAY = re.compile(r"(\d+(?:\.\d+)?) ?([KMBT])?(?:r?illion)? tokens ?(?:(?:/|per|a) ?day|daily)", re.IGNORECASE)
_PRICE_IN = re.compile(
    r"(?:(?<=\$)|(?<=USD )|(?=[\d.]+ ?USD))(\d+(?:\.\d+)?)(?: ?USD)?"
    r" ?(?:/|per|an) ?(?:(?:(?P<of>(?i:gpu|chip|accelerator|card))|\w+)(?: per |[-/ ]))?(?:h|hr|hour)\b"
)
_RATE_IN = re.compile(
    r"([\d,]+(?:\.\d+)?) ?(?:output )?tok(?:en)?s? ?(?:/|per) ?s(?:ec(?:ond)?)?\b(?! ?(?:/|per|a) ?user)"
    r"(?P<of> ?(?:/|per|a) ?(?:gpu|chip|accelerator|card))?",
    re.IGNORECASE,
)
_MFU = re.compile(r"(?:(?<=MFU )|(?<=MFU of )|(?=[\d.]+ ?% (?:MFU|utili[sz]ation)))(\d+(?:\.\d+)?) ?%", re.IGNORECASE)
_OVERHEAD = re.compile(r"(?:(?<=\+)|(?<=\+ )|(?=[\d.]+ ?% overhead))(\d+(?:\.\d+)?) ?%", re.IGNORECASE)
_OF_A = re.compile(r"(\d+(?:\.\d+)?) ?% of (?:a |an |the )?(?:USD ?|\$ ?)?([\d,.]+\d)")
_PER_PEAK = re.compile(r"\bper[- ](?:tera|peta)?fl?ops?\b|\bper[- ][tp]flops?\b", re.IGNORECASE)
_SIZE = re.compile(r"(?:under|below|less than) (\d+(?:\.\d+)?) ?([MB])\b|\b(\d+(?:\.\d+)?) ?([MB])\+", re.IGNORECASE)
"""Models under 10B parameters, or of 70B+."""
_PEAKS = ("dense_bf16_tflops", "dense_fp8_tflops")
WEEK_HOURS = 40
_KINDS = itertools.product(("bf16", "fp16", "fp8", "fp4"), ("", "_sparse"), "tp")
PEAK_METRICS = tuple(f"spec_{width}{kind}_{scale}flops" for width, kind, scale in _KINDS)
PRICES = ("price_per_chip", "price_usd_per_hour_instance", "price_per_core")
RATES = (PER_CHIP, PER_CORE, SYSTEM)
Tried = tuple[Range, str, tuple[Claim, ...]]
"""A reading: its value, words, and the claims that it rests on."""


def verdict_of(claim: Claim, computed: Range, words: str, inputs: tuple[Claim, ...] = ()) -> Finding:
    """Return whether a claim is what its inputs give."""
    holds = computed.meets(claimed(claim))
    recomputed = computed.middle / scale(claim)
    return found(
        CONSISTENT if holds else INCONSISTENT,
        "arithmetic",
        f"{words} = {number(recomputed)}, claimed {claim.figure} {claim.unit}",
        recomputed=recomputed,
        readings=(f"{words}: {number(computed.low)} to {number(computed.high)}",),
        rests_on=tuple(one.claim_id for one in inputs),
    )


def closest(claim: Claim, tried: Sequence[Tried]) -> Finding | None:
    """Return the verdict of the reading that agrees, or of the nearest; None where there is none."""
    if not tried:
        return None
    claimed_range = claimed(claim)
    computed, words, inputs = min(tried, key=lambda one: one[0].distance(claimed_range))
    result = verdict_of(claim, computed, words, inputs)
    return replace(result, readings=tuple(f"{text}: {number(span.middle)}" for span, text, _ in tried))


def own_peaks(claim: Claim, article: Article) -> list[tuple[str, float]]:
    """Return the peaks in TFLOP/s that the text itself gives of the chip of a claim, with their words."""
    own = article.find(claim, PEAK_METRICS, lambda other: same_thing(other.thing, claim.thing))
    words = "text's own peak of {0.figure} {0.unit} ({1})"
    return [
        (words.format(one, one.metric.split("_")[1].upper()), claimed(one, hedged=False).middle)
        for one in sorted(own, key=lambda one: PEAK_METRICS.index(one.metric))
    ]


def side(claim: Claim, thing: Thing) -> Fits:
    """Return what is a figure of one side of a comparison, under its model, option and tokens."""
    return lambda other: (
        len(other.subject.things) == 1
        and same_thing(other.thing, thing)
        and other.model_name == claim.model_name
        and other.conditions.purchase_option in (None, claim.conditions.purchase_option, "on_demand")
        and claim.conditions.tokens in (None, other.conditions.tokens)
    )


def undiscounted(one: Claim) -> Fits:
    """Return what is the on-demand price of the same subject."""
    return lambda other: same_subject(one, other) and other.conditions.purchase_option in (None, "on_demand")


def has_figure(text: str) -> Fits:
    """Return what is stated as one figure."""
    return lambda other: other.value is not None and float(other.value) == float(text)


def price(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return a price as the text computes it from another: divided by chips, discounted, or over a month."""
    divided, discount = _DIVIDED.search(claim.conditions_text), _DISCOUNT.search(claim.conditions_text)
    if divided:
        wholes = article.find(
            claim,
            "price_usd_per_hour_instance",
            lambda other: (
                other.thing.instance_type == divided[1].lower()
                and other.conditions.purchase_option in (None, "on_demand", claim.conditions.purchase_option)
            ),
        )
        if wholes:
            span = claimed(wholes[0], hedged=False) / exactly(float(divided[2]))
            return verdict_of(claim, span, f"{wholes[0].figure} / {divided[2]}", wholes[:1])
    if discount:
        full = article.find(claim, claim.metric, undiscounted(claim))
        if full:
            left = exactly(1.0) - printed(discount[1]) * exactly(0.01)
            return verdict_of(
                claim, claimed(full[0], hedged=False) * left, f"{full[0].figure} x (1 - {discount[1]} %)", full[:1]
            )
    return None


def monthly(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return a month of an hourly price of the same text, or of the history where the text has none."""
    hourly = article.find(
        claim,
        "price_usd_per_hour_instance",
        lambda other: (
            same_subject(claim, other)
            and same_option(claim, other)
            and other.conditions.term_hours == claim.conditions.term_hours
        ),
    )
    hours = _HOURS.search(claim.conditions_text)
    length = float(hours[1]) if hours else HOURS_PER_MONTH
    if hours and hours["daily"]:
        length *= float(hours[3] or HOURS_PER_MONTH / 24)
    if not hourly:
        return prices.history(claim, evidence, hours=length)
    spans = [(claimed(one, hedged=False) * exactly(length), f"{one.figure} x {length:g} h", (one,)) for one in hourly]
    return closest(claim, spans)


def token_cost(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return USD a million tokens from the price and rate in the claim's words, else in its text, of seller and option.

    Each is of a chip, a core or a system; one in the claim's words that does not say of what is read as a chip's and as
    the system's. A price of another thing with these chips bears a cost out, and refutes none.
    """
    price_in, rate_in = _PRICE_IN.search(claim.words), _RATE_IN.search(claim.words)

    def is_paid(other: Claim) -> bool:
        if price_in:
            return has_figure(price_in[1])(other)
        is_of_seller = claim.subject.others[-1:] == other.subject.others[-1:] or claim.model_name is not None
        return is_of_seller and same_option(other, claim)

    def is_rate(other: Claim) -> bool:
        return shares_chip(other.thing, claim.thing) and (not rate_in or has_figure(rate_in[1].replace(",", ""))(other))

    fitting = article.find(claim, PRICES, lambda other: shares_chip(other.thing, claim.thing) and is_paid(other))
    own = tuple(one for one in fitting if same_thing(one.thing, claim.thing))
    paid = _figure(price_in, (own or fitting)[:1], claim, evidence)
    rate = _figure(rate_in, article.find(claim, RATES, is_rate)[:1], claim, evidence)
    if paid is None or rate is None:
        return None
    tried: list[Tried] = []
    for share in {(of or 1) / (by or 1) for by in paid[1] for of in rate[1] if bool(by) == bool(of)}:
        calls = (paid[0].low * share, 1.0, rate[0].high, 1.0), (paid[0].high * share, 1.0, rate[0].low, 1.0)
        times = f" x {number(share)} chips" if share > 1 else f" / {number(1 / share)} chips" if share < 1 else ""
        power = 6 if scale(claim) == 1 else 3
        words = f"{number(paid[0].middle)} USD/h{times} / ({number(rate[0].middle)} tokens/s x 3600 s) x 10^{power}"
        tried.append((Range(*evidence.formula("cost.usd_per_million_tokens", *calls)), words, (*paid[2], *rate[2])))
    result = closest(claim, tried)
    return None if result and result.verdict == INCONSISTENT and fitting and not own else result


def _figure(
    words: re.Match[str] | None, stated: tuple[Claim, ...], claim: Claim, evidence: Evidence
) -> tuple[Range, list[float | None], tuple[Claim, ...]] | None:
    """Return a price or a rate, of how many chips it may be (None: of a system), and who states it; None for none."""
    if not words and not stated:
        return None
    span = printed(words[1].replace(",", "")) if words else claimed(stated[0], hedged=False)
    if not stated:
        return span, [1.0] if words and words["of"] else [1.0, claim.thing.count], ()
    cores = [evidence.fact(chip, "cores_per_accelerator") for chip in evidence.named(stated[0].thing.chips)]
    known = {"chip": 1.0, "core": 1 / ((cores and cores[0]) or 1.0)}
    chips = known.get(stated[0].metric.rpartition("_")[2], stated[0].thing.count or claim.thing.count)
    return span, [chips], stated


def cheapest_tokens(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return that a cost a million tokens is below what the highest bound makes at the lowest price that is known."""
    bounds = bounds_of(readings(claim, article, evidence), evidence)
    paid = _lowest_price(claim, article, evidence)
    if not bounds or paid is None:
        return None
    words, bound = bounds[0]
    (least,) = evidence.formula("cost.usd_per_million_tokens", (paid[0], 1.0, bound, 1.0))
    return _below(claim, least, f"{paid[1]} at {number(bound)} tokens/s ({words})", is_own=paid[2])


def training_cost(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return what a training costs at the tokens, utilisation, overhead and price that the text gives, by each peak."""
    model, tokens = model_named(claim.model_name), claim.conditions.tokens
    if model is None or tokens is None or not claim.thing.chips:
        return None
    overhead = _OVERHEAD.search(claim.conditions_text)
    extra = float(overhead[1]) / 100 if overhead else 0.0
    shape = float(model.parameters_active), float(model.layers), float(model.attention_size), 0.0
    (flop,) = evidence.formula("physics.training_flop_per_token", shape)
    peaks = evidence.peaks(evidence.named(claim.thing.chips), sparse=claim.conditions.is_sparse)
    paid = _lowest_price(claim, article, evidence)
    if peaks and paid:
        name, most = max(peaks, key=lambda peak: peak[1])
        (fastest,) = evidence.formula("physics.forward_compute_bound", (1.0, most, flop))
        (each,) = evidence.formula("cost.training_usd_per_million", (paid[0], fastest, 0.0, 1.0))
        bound = f"{paid[1]}, at 100 % of the {name}"
        under = _below(claim, each * tokens / 1e6, bound, is_own=paid[2])
        if under:
            return under
    tried: list[Tried] = []
    mfu = _MFU.search(claim.conditions_text)
    own = article.find(
        claim, "price_per_chip", lambda other: same_thing(other.thing, claim.thing) and same_option(other, claim)
    )
    for source in own[:1]:
        span = claimed(source, hedged=False)
        options: list[tuple[float, str, tuple[Claim, ...]]] = []
        # The machine whose price it is tells the form of its chips.
        machine = machines().get(source.conditions.instance_type or "")
        form = chip_words((machine.accelerator_name, machine.form_factor)) if machine else ""
        if mfu:
            reached = [*([one for one in peaks if one[0].endswith(form)] or peaks), *own_peaks(claim, article)]
            calls = [(float(mfu[1]) / 100, peak, flop) for _, peak in reached]
            at_mfu = evidence.formula("physics.training_rate_at_mfu", *calls)
            options += [
                (rate, f"{mfu[1]} % of the {words}", ()) for rate, (words, _) in zip(at_mfu, reached, strict=True)
            ]
        rates = article.find(claim, PER_CHIP, of_model(claim))
        options += [(claimed(one, hedged=False).middle, f"its own {one.figure} tokens/s", (one,)) for one in rates[:1]]
        costs = evidence.formula("cost.training_usd_per_million", *((1.0, rate, extra, 1.0) for rate, _, _ in options))
        for (_, words, more), each in zip(options, costs, strict=True):
            text = f"{number(tokens / 1e9)}B tokens at {words}, {source.figure} USD/h a chip, +{number(100 * extra)} %"
            tried.append((span * exactly(each * tokens / 1e6), text, (source, *more)))
    return closest(claim, tried)


def migration(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return weeks x 40 h x engineers x rate, as the claim's own words have them."""
    match = _WORK.search(claim.conditions_text)
    if match is None:
        return None
    cost = float(match[1]) * WEEK_HOURS * float(match[2]) * float(match[3])
    return verdict_of(
        claim, exactly(cost), f"{match[1]} weeks x {WEEK_HOURS} h x {match[2]} engineers x {match[3]} USD/h"
    )


def break_even_tokens(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return the cost of a move over the saving a million tokens."""
    costs = article.find(claim, "migration_cost", lambda other: other.value is not None and float(other.value) > 0)
    match = _VERSUS.search(claim.words)
    if not costs or match is None:
        return None
    costs_a, costs_b = sorted((printed(match[1]), printed(match[2])), key=lambda span: span.low)
    saved = costs_b - costs_a
    inputs = [costs[0], *(one for text in match.groups() for one in article.find(claim, "cpm", has_figure(text))[:1])]
    words = f"{costs[0].figure} USD / ({match[2]} - {match[1]} USD a million tokens) x 10^6"
    if saved.low <= 0:
        return found(INCONSISTENT, "arithmetic", f"{words} never pays", rests_on=tuple(one.claim_id for one in inputs))
    saving = abs(float(match[2]) - float(match[1]))
    (nominal,) = evidence.formula("decision.break_even_tokens", (float(costs[0].figure), saving))
    span = exactly(float(costs[0].figure)) / saved * exactly(1e6)
    text = f"{words} = {number(nominal)}, claimed {claim.figure} {claim.unit}"
    return replace(verdict_of(claim, span, words, tuple(inputs)), arithmetic=text, recomputed=nominal)


def break_even_days(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return the tokens to break even over the tokens of a day."""
    tokens = article.find(claim, "break_even_tokens", lambda other: other.value is not None)
    match = _A_DAY.search(claim.conditions_text)
    if not tokens or match is None:
        return None
    daily = float(match[1]) * SCALE[(match[2] or "").lower()]
    years = re.search(r"(\d+(?:\.\d+)?) years?", claim.conditions_text)
    span = claimed(tokens[0]) / exactly(daily)
    words = f"{number(float(tokens[0].figure))} tokens / {number(daily)} a day"
    if years:
        nominal = float(tokens[0].figure) / daily
        verdict = CONSISTENT if span.meets(printed(years[1]) * exactly(365.0)) else INCONSISTENT
        text = f"{words} = {number(nominal)} days, claimed {years[1]} years"
        return found(verdict, "arithmetic", text, recomputed=nominal, rests_on=(tokens[0].claim_id,))
    return verdict_of(claim, span, words, tokens[:1])


def _below(claim: Claim, least: float, words: str, *, is_own: bool) -> Finding | None:
    """Return that a cost is below the least that physics allows, by more than its hedge; None where it is not."""
    if claimed(claim, hedged=False).high * (1 + claim.hedge.share) >= least:
        return None
    least /= scale(claim)
    text = f"claimed {claim.figure} {claim.unit} is below {number(least)}, the least at {words}"
    return found(
        IMPOSSIBLE if is_own else INCONSISTENT, "bound", text, recomputed=least, readings=(text,), bounds=(words,)
    )


def _lowest_price(claim: Claim, article: Article, evidence: Evidence) -> tuple[float, str, bool] | None:
    """Return the lowest price of a chip-hour of the text, else of the history under any option, in words too.

    The last tells whether it is the text's own: with a price of somebody else's, a low cost is no matter of physics.
    """
    own = article.find(claim, "price_per_chip", lambda other: same_thing(other.thing, claim.thing))
    if own:
        least = min(own, key=lambda one: claimed(one).low)
        return claimed(least).low, f"the text's own lowest price, {least.figure} USD/h of a chip", True
    known = evidence.lowest(evidence.offers_of(None, claim.thing.chips))
    return (known, f"{number(known)} USD/h of a chip, the lowest known", False) if known else None


def saving(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return what the text's own costs, prices or savings of two things give as a saving in per cent."""
    things = claim.subject.things
    repeated = [one for one in article.named(claim) if one.metric == claim.metric and is_number(one)]
    if repeated:
        return _of_parts(claim, repeated, "the saving that it repeats,")
    if _PER_PEAK.search(claim.words):
        return closest(claim, _per_peak(claim, article, evidence))

    def is_part(other: Claim) -> bool:
        of_both = zip(other.subject.things, things, strict=False)
        return bool(other.model_name) and len(other.subject.things) == 2 and all(same_thing(a, b) for a, b in of_both)

    if parts := () if claim.model_name else article.find(claim, claim.metric, is_part):
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
    """Return a share of an amount, both in the claim's own words; it rests on the text's saving of that share."""
    match = _OF_A.search(claim.conditions_text)
    if match is None:
        return None
    claimed_range = printed(match[1]) * exactly(0.01) * exactly(float(match[2].replace(",", "")))
    shares = article.find(claim, "savings_pct", has_figure(match[1]))[:1]
    return verdict_of(claim, claimed_range, f"{match[1]} % x {match[2]}", shares)


def discount(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return the discounts that the text's own prices under one option show against on demand.

    A price that was computed with a discount bears it out no more than the discount does.
    """
    option, hours = claim.conditions.purchase_option, claim.conditions.term_hours
    if option == "on_demand":
        return None

    def is_reduced(one: Claim) -> bool:
        is_alike = one.conditions.purchase_option == option and one.conditions.term_hours == hours
        return is_alike and (same_subject(claim, one) or not (claim.thing.chips or claim.thing.instance_type))

    reduced = [other for metric in PRICES for other in article.find(claim, metric, is_reduced)]
    tried = []
    sign = -1.0 if claim.figure.startswith("-") else 1.0
    plain = [one for one in reduced if option and not _DISCOUNT.search(one.conditions_text)]
    if option and reduced and not plain:
        return unknown("the text's prices under that option were computed with it, and bear nothing out")
    for one in plain:
        full = article.find(one, one.metric, undiscounted(one))
        if full:
            share = exactly(1.0) - claimed(one, hedged=False) / claimed(full[0], hedged=False)
            tried.append((share * exactly(100.0 * sign), f"1 - {one.figure} / {full[0].figure} in %", (one, full[0])))
    refuted = next((each for each in tried if not each[0].meets(claimed(claim))), None)
    return verdict_of(claim, *refuted) if refuted else closest(claim, tried)


def _of_parts(claim: Claim, parts: Sequence[Claim], words: str) -> Finding:
    """Return whether a saving is one of others, lies between them, or as a range holds one of them."""
    chosen = _of_size(claim, parts)
    claimed_range, spans = claimed(claim), [claimed(one) for one in chosen or parts]
    between = Range(min(one.low for one in spans), max(one.high for one in spans))
    agrees = any(one.meets(claimed_range) for one in spans)
    if chosen:
        holds = all(one.meets(claimed_range) for one in spans)
        words += f" of {', '.join(one.model_name or '' for one in chosen)}:"
    else:
        holds = between.meets(claimed_range) if claim.value is not None else agrees
    shown = ", ".join(sorted(one.figure for one in chosen or parts))
    relation = "is not" if not holds else "agrees with" if agrees else "lies within"
    return found(
        CONSISTENT if holds else INCONSISTENT,
        "arithmetic",
        f"claimed {claim.figure} % {relation} {words} {shown} %",
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
        named = [one for thing in things for one in article.find(claim, PRICES, side(claim, thing))[:1]]
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
    thing = price.thing
    facts = machines().get(thing.instance_type or "")
    count = float(facts.accelerator_count) if facts else 1.0
    chips = list(dict.fromkeys([*evidence.named(thing.chips), *evidence.named(meant)]))
    return [
        (claimed(price, hedged=False) / exactly(peak * count), f"{number(count)} x {chip_words(chip)}")
        for chip in chips
        if (peak := evidence.fact(chip, fact)) and (facts or price.metric == "price_per_chip")
    ]
