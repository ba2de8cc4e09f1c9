"""Checks of what was computed from other figures: prices, savings, costs of tokens and of trainings, break-even.

Such a claim is graded by its own arithmetic, over what its inputs may stand for as they were rounded, and names the
claims that it rests on. Nothing here knows a price of its own: where a text gives no input, the history is asked.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from transform.audit import prices
from transform.audit.article import Article, same_subject, same_thing
from transform.audit.evidence import Evidence, model_named
from transform.audit.finding import (
    CONSISTENT,
    IMPOSSIBLE,
    INCONSISTENT,
    Finding,
    Range,
    claimed,
    exactly,
    found,
    number,
    printed,
)
from transform.audit.inputs import PRICES, Tried, closest, has_figure, own_peaks, verdict_of
from transform.audit.rates import PER_CHIP, rate_readings
from warehouse.reference.claim_text import machines
from warehouse.reference.claims import Claim

_DIVIDED = re.compile(r"([a-z0-9-]+\.\w+) ?/ ?(\d+)")
_DISCOUNT = re.compile(r"\(\s*[-\u2212]\s?(\d+(?:\.\d+)?) ?%\s*\)")
_HOURS = re.compile(r"(\d+) ?h(?:ours|rs)?\b")
_WORK = re.compile(
    r"(\d+(?:\.\d+)?) weeks?\D+?(\d+) (?:\w+ )?engineers?\D+?(\d+(?:\.\d+)?) ?(?:USD|\$)?", re.IGNORECASE
)
_VERSUS = re.compile(
    r"(\d+(?:\.\d+)?) (?:vs\.?|versus|against|to) (\d+(?:\.\d+)?)(?: ?USD)?(?: ?/ ?M| per (?:1M|million))"
)
_A_DAY = re.compile(r"(\d+(?:\.\d+)?) ?([KMBT])?(?:illion)? tokens ?(?:/|per|a) ?day", re.IGNORECASE)
_PRICE_IN = re.compile(r"(\d+(?:\.\d+)?) ?USD ?/ ?(?:[\w]+-)?(?:h|hour)\b")
_RATE_IN = re.compile(r"([\d,]+(?:\.\d+)?) ?(?:tok|tokens) ?/ ?s\b")
_MFU = re.compile(r"(\d+(?:\.\d+)?) ?% (?:MFU|utili[sz]ation)", re.IGNORECASE)
_OVERHEAD = re.compile(r"\+ ?(\d+(?:\.\d+)?) ?% (?:overhead)?", re.IGNORECASE)
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
WEEK_HOURS = 40
MONTH_HOURS = 730.0
"""Hours of a month in cost.monthly, and in AWS's own calculator."""


def price(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return a price as the text computes it from another: divided by chips, discounted, or over a month."""
    divided, discount = _DIVIDED.search(claim.conditions_text), _DISCOUNT.search(claim.conditions_text)
    if divided:
        wholes = article.find(
            claim,
            "price_usd_per_hour_instance",
            lambda other: (
                other.subject.things[0].instance_type == divided[1].lower()
                and other.conditions.purchase_option in (None, "on_demand", claim.conditions.purchase_option)
            ),
        )
        if wholes:
            span = claimed(wholes[0], hedged=False) / exactly(float(divided[2]))
            return verdict_of(claim, span, f"{wholes[0].figure} / {divided[2]}", wholes[:1])
    if discount:
        full = article.find(
            claim,
            claim.metric,
            lambda other: same_subject(claim, other) and other.conditions.purchase_option in (None, "on_demand"),
        )
        if full:
            left = exactly(1.0) - printed(discount[1]) * exactly(0.01)
            return verdict_of(
                claim, claimed(full[0], hedged=False) * left, f"{full[0].figure} x (1 - {discount[1]} %)", full[:1]
            )
    return None


def monthly(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return a month of an hourly price of the same text, or of the history where the text has none."""
    conditions = claim.conditions
    hourly = article.find(
        claim,
        "price_usd_per_hour_instance",
        lambda other: (
            same_subject(claim, other)
            and (other.conditions.purchase_option or "on_demand") == (conditions.purchase_option or "on_demand")
            and other.conditions.term_hours == conditions.term_hours
        ),
    )
    hours = _HOURS.search(claim.conditions_text)
    if not hourly:
        return prices.history(claim, evidence, hours=float(hours[1]) if hours else MONTH_HOURS)
    spans = []
    for one in hourly:
        if hours:
            spans.append(
                (claimed(one, hedged=False) * exactly(float(hours[1])), f"{one.figure} x {hours[1]} h", (one,))
            )
        else:
            ends = claimed(one, hedged=False)
            low, high = evidence.formula("cost.monthly", (ends.low,), (ends.high,))
            spans.append((Range(low, high), f"{one.figure} x 730 h", (one,)))
    return closest(claim, spans)


def token_cost(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return USD a million tokens from the price and the rate that the claim or its text gives."""
    price_in, rate_in = _PRICE_IN.search(claim.words), _RATE_IN.search(claim.words)
    option = claim.conditions.purchase_option
    prices = (
        []
        if price_in
        else article.find(
            claim,
            PRICES,
            lambda other: (
                same_thing(other.subject.things[0], claim.subject.things[0])
                and (claim.subject.others[-1:] == other.subject.others[-1:] or claim.model_name is not None)
                and (other.conditions.purchase_option or "on_demand") == (option or "on_demand")
            ),
        )
    )
    rates = article.find(
        claim,
        (PER_CHIP, "throughput_tokens_per_s_per_core", "throughput_tokens_per_s_system"),
        lambda other: (
            bool({n for n, _ in other.subject.things[0].chips} & {n for n, _ in claim.subject.things[0].chips})
            and (not rate_in or has_figure(rate_in[1].replace(",", ""))(other))
        ),
    )
    if not (price_in or prices) or not (rate_in or rates):
        return None
    rests = [] if price_in else [prices[0]]
    if price_in:
        rests += article.find(
            claim,
            PRICES,
            lambda other: (
                has_figure(price_in[1])(other) and same_thing(other.subject.things[0], claim.subject.things[0])
            ),
        )[:1]
    rests += rates[:1]
    paid = printed(price_in[1]) if price_in else claimed(prices[0], hedged=False)
    rate = printed(rate_in[1].replace(",", "")) if rate_in else claimed(rates[0], hedged=False)
    low, high = evidence.formula(
        "cost.usd_per_million_tokens", (paid.low, 1.0, rate.high, 1.0), (paid.high, 1.0, rate.low, 1.0)
    )
    words = f"{number(paid.middle)} USD/h / ({number(rate.middle)} tokens/s x 3600 s) x 10^6"
    return verdict_of(claim, Range(low, high), words, tuple(rests))


def cheapest_tokens(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return that a cost a million tokens is below what the highest bound makes at the lowest price that is known."""
    model = model_named(claim.model_name)
    rates = rate_readings(replace(claim, metric=PER_CHIP), model, evidence) if model else []
    paid = _lowest_price(claim, article, evidence)
    if not rates or paid is None:
        return None
    best = max(rates, key=lambda one: one.bound)
    (least,) = evidence.formula("cost.usd_per_million_tokens", (paid[0], 1.0, best.bound, 1.0))
    return _below(claim, least, f"{paid[1]} at {number(best.bound)} tokens/s ({best.words})", is_own=paid[2])


def training_cost(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return what a training costs at the tokens, utilisation, overhead and price that the text gives, by each peak."""
    model, tokens = model_named(claim.model_name), claim.conditions.tokens
    if model is None or tokens is None or not claim.subject.things[0].chips:
        return None
    overhead = _OVERHEAD.search(claim.conditions_text)
    extra = float(overhead[1]) / 100 if overhead else 0.0
    shape = float(model.parameters_active), float(model.layers), float(model.attention_size), 0.0
    (flop,) = evidence.formula("physics.training_flop_per_token", shape)
    peaks = [
        peak
        for chip in evidence.forms(claim.subject.things[0])
        for peak in evidence.peaks(chip, sparse=claim.conditions.is_sparse)
    ]
    paid = _lowest_price(claim, article, evidence)
    if peaks and paid:
        name, most = max(peaks, key=lambda peak: peak[1])
        (fastest,) = evidence.formula("physics.forward_compute_bound", (1.0, most, flop))
        (each,) = evidence.formula("cost.training_usd_per_million", (paid[0], fastest, 0.0, 1.0))
        bound = f"{paid[1]}, at 100 % of the {name}"
        under = _below(claim, each * tokens / 1e6, bound, is_own=paid[2])
        if under:
            return under
    prices = _chip_prices(claim, article)
    tried: list[Tried] = []
    mfu = _MFU.search(claim.conditions_text)
    for source in prices[:1]:
        span = claimed(source, hedged=False)
        options: list[tuple[float, str, tuple[Claim, ...]]] = []
        # The machine whose price it is tells the form of its chips.
        machine = machines().get(source.conditions.instance_type or "")
        form = " ".join(filter(None, (machine.accelerator_name, machine.form_factor))) if machine else ""
        if mfu:
            published = [one for one in peaks if one[0].endswith(form)] or peaks
            for words, peak in [*published, *own_peaks(claim, article)]:
                (rate,) = evidence.formula("physics.training_rate_at_mfu", (float(mfu[1]) / 100, peak, flop))
                options.append((rate, f"{mfu[1]} % of the {words}", ()))
        rates = article.find(
            claim,
            PER_CHIP,
            lambda other: (
                other.model_name == claim.model_name and same_thing(other.subject.things[0], claim.subject.things[0])
            ),
        )
        options += [(claimed(one).middle, f"its own {one.figure} tokens/s", (one,)) for one in rates[:1]]
        for rate, words, more in options:
            low, high = evidence.formula(
                "cost.training_usd_per_million", (span.low, rate, extra, 1.0), (span.high, rate, extra, 1.0)
            )
            text = (
                f"{number(tokens / 1e9)}B tokens at {words}, {source.figure} USD/h of a chip, +{number(100 * extra)} %"
            )
            tried.append((Range(low, high) * exactly(tokens / 1e6), text, (source, *more)))
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
    costs, match = (
        article.find(claim, "migration_cost", lambda other: other.value is not None and float(other.value) > 0),
        _VERSUS.search(claim.words),
    )
    if not costs or match is None:
        return None
    costs_a, costs_b = sorted((printed(match[1]), printed(match[2])), key=lambda span: span.low)
    saved = costs_b - costs_a
    inputs = [costs[0]]
    for text in (match[1], match[2]):
        inputs += article.find(claim, "cpm", has_figure(text))[:1]
    words = f"{costs[0].figure} USD / ({match[2]} - {match[1]} USD a million tokens) x 10^6"
    if saved.low <= 0:
        return found(INCONSISTENT, "arithmetic", f"{words} never pays", rests_on=tuple(one.claim_id for one in inputs))
    saving = abs(float(match[2]) - float(match[1]))
    (nominal,) = evidence.formula("decision.break_even_tokens", (float(costs[0].figure), saving))
    span = exactly(float(costs[0].figure)) / saved * exactly(1e6)
    result = verdict_of(claim, span, words, tuple(inputs))
    text = f"{words} = {number(nominal)}, claimed {claim.figure} {claim.unit}"
    return found(
        result.verdict, "arithmetic", text, recomputed=nominal, readings=result.readings, rests_on=result.rests_on
    )


def break_even_days(claim: Claim, article: Article, evidence: Evidence) -> Finding | None:
    """Return the tokens to break even over the tokens of a day."""
    tokens, match = (
        article.find(claim, "break_even_tokens", lambda other: other.value is not None),
        _A_DAY.search(claim.conditions_text),
    )
    if not tokens or match is None:
        return None
    daily = float(match[1]) * _SCALE[(match[2] or "").lower()]
    years = re.search(r"(\d+(?:\.\d+)?) years?", claim.conditions_text)
    span = claimed(tokens[0]) / exactly(daily)
    words = f"{number(float(tokens[0].figure))} tokens / {number(daily)} a day"
    if years:
        claimed_range = printed(years[1]) * exactly(365.0)
        nominal = float(tokens[0].figure) / daily
        verdict = CONSISTENT if span.meets(claimed_range) else INCONSISTENT
        text = f"{words} = {number(nominal)} days, claimed {years[1]} years"
        return found(verdict, "arithmetic", text, recomputed=nominal, rests_on=(tokens[0].claim_id,))
    return verdict_of(claim, span, words, tokens[:1])


def _below(claim: Claim, least: float, words: str, *, is_own: bool) -> Finding | None:
    """Return that a cost is below the least that physics allows, by more than its hedge; None where it is not."""
    claimed_range = claimed(claim, hedged=False)
    most = claimed_range.high * (1 + claim.hedge.share)
    if most >= least:
        return None
    text = f"claimed {claim.figure} {claim.unit} is below {number(least)}, the least at {words}"
    return found(
        IMPOSSIBLE if is_own else INCONSISTENT, "bound", text, recomputed=least, readings=(text,), bounds=(words,)
    )


def _chip_prices(claim: Claim, article: Article) -> tuple[Claim, ...]:
    """Return the text's own prices of one chip under the option of a claim."""
    option = claim.conditions.purchase_option or "on_demand"
    return article.find(
        claim,
        "price_per_chip",
        lambda other: (
            same_thing(other.subject.things[0], claim.subject.things[0])
            and (other.conditions.purchase_option or "on_demand") == option
        ),
    )


def _lowest_price(claim: Claim, article: Article, evidence: Evidence) -> tuple[float, str, bool] | None:
    """Return the lowest price of a chip-hour of the text, else of the history under any option, in words too.

    The last tells whether it is the text's own: with a price of somebody else's, a low cost is no matter of physics.
    """
    thing = claim.subject.things[0]
    own = article.find(claim, "price_per_chip", lambda other: same_thing(other.subject.things[0], thing))
    if own:
        least = min(own, key=lambda one: claimed(one).low)
        return claimed(least).low, f"the text's own lowest price, {least.figure} USD/h of a chip", True
    names = {name for name, _ in thing.chips}
    known = [value for one in evidence.prices if one.accelerator_name in names and (value := one.per("chip"))]
    return (min(known), f"{number(min(known))} USD/h of a chip, the lowest known", False) if known else None


Check = Callable[[Claim, Article, Evidence], Finding | None]
