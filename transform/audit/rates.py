"""Checks of throughput and of utilisation: bounds of physics, the text's own figures, and measurements.

A rate is impossible only where every reading of it breaks its bound by more than the claim's hedge. Readings are the
forms that the chip may have; dense and sparse peaks; the chips that a system may be; and, where the words are silent,
training of all or of adapters only, or a forward pass; output tokens, with or without speculation, or all tokens.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transform.audit.article import Article, of_model, shares_chip
from transform.audit.evidence import Chip, Evidence, Measurement, Reading, model_named, same_shape
from transform.audit.finding import Finding, Range, claimed, exactly, figure, found, number, unknown
from transform.audit.verdicts import CONSISTENT, IMPOSSIBLE, INCONSISTENT
from warehouse.reference.claim_text import Conditions
from warehouse.reference.claims import Claim
from warehouse.reference.models import Model
from warehouse.schema.columns import allowed

PER_CHIP = "throughput_tokens_per_s_per_chip"
PER_CORE = "throughput_tokens_per_s_per_core"
SYSTEM = "throughput_tokens_per_s_system"
MAX_ACCEPTED = 8.0
"""Tokens that one step may yield with speculation: no catalogued run accepts half as many."""
FORWARD = "all tokens, input too, in one forward pass"
MIN_SCALING = 0.5
"""Below half of what its chips make alone, it is another number of chips and no loss of scaling."""
DEMAND_LOG = 0.5
"""Share of a bound above which nothing measured lies, so that a claim needs the log of its run."""
MEASURED_ABOVE = 1.02
"""Above the best measured rate by more than that, a rate has not been measured."""
Bounds = Sequence[tuple[str, float]]
"""Each way to read a rate, in words, and its bound in tokens per second, the highest first: what is above cannot be."""


def throughput(claim: Claim, article: Article, evidence: Evidence) -> Finding:
    """Check tokens per second of a chip, of a core or of a system."""
    model = model_named(claim.model_name)
    if model is None:
        named = ", ".join(claim.subject.others) or claim.subject_text
        return unknown(f"no model of which the shape is known is named in {named!r}, so nothing bounds the rate")
    if not claim.thing.chips:
        return unknown(f"{claim.subject_text!r} names no chip that is known here")
    claim = _with_task(claim, article)
    bounds = bounds_of(readings(claim, article, evidence), evidence)
    if not bounds:
        return unknown("no peak or bandwidth of this chip is known here")
    claimed_range = claimed(claim)
    least = claimed_range.low if claimed_range.low > 0 else claimed(claim, hedged=False).low * (1 - claim.hedge.share)
    name, bound = bounds[0]
    share = least / bound
    lines = tuple(f"{one}: at most {number(most)} tokens/s, claimed {least / most:.0%} of it" for one, most in bounds)
    details: dict[str, Any] = {"readings": lines, "bounds": (f"{name}: {number(bound)} tokens/s",)}
    words = f"claimed {claim.figure} {claim.unit} is {in_words(claimed(claim, hedged=False).middle, bounds)}"
    if claim.hedge.share:
        words += f"; {share:.0%} after its hedge of {claim.hedge.share:.0%}"
    if share > 1:
        return found(IMPOSSIBLE, "bound", words, recomputed=bound, **details)
    own = _system_of_chips(claim, article) if claim.metric == SYSTEM else None
    if own and own.verdict != CONSISTENT:
        return replace(own, arithmetic=f"{own.arithmetic}; no bound excludes it: {words}", **details)
    return _measured(claim, model, evidence, words, share, details)


def _with_task(claim: Claim, article: Article) -> Claim:
    """Return a claim with the task of the same model's rate a chip beside it, where its own words name none."""
    if claim.metric != SYSTEM or claim.conditions.is_training or claim.conditions.batch_size:
        return claim
    nearby = article.find(claim, PER_CHIP, of_model(claim, shares_chip))
    if not nearby:
        return claim
    task = nearby[0].conditions
    conditions = replace(claim.conditions, is_training=task.is_training, is_adapters=task.is_adapters)
    return replace(claim, conditions=conditions)


def utilisation(claim: Claim, article: Article, evidence: Evidence) -> Finding:
    """Check a model FLOPs utilisation: below 100 %, as the text's own rate has it, or as measured of dense peaks."""
    model, claimed_range = model_named(claim.model_name), claimed(claim)
    if claimed_range.low > 100:
        return found(
            IMPOSSIBLE,
            "bound",
            f"claimed {claim.figure} % is above 100 % of the peak",
            recomputed=100.0,
            readings=("any precision of the peak: 100 %",),
            bounds=("100 % of the peak",),
        )
    if model is None or not claim.thing.chips:
        return unknown("no model of known shape and chip is named")
    own = article.find(claim, PER_CHIP, of_model(claim))
    shape = float(model.parameters_active), float(model.layers), float(model.attention_size), 0.0
    (flop,) = evidence.formula("physics.training_flop_per_token", shape)
    is_sparse = None if own else bool(claim.conditions.is_sparse)
    peaks = evidence.peaks(evidence.named(claim.thing.chips), sparse=is_sparse, precision=claim.conditions.precision)
    if not peaks:
        return unknown("no peak of this chip is known here in that precision")
    if own:
        shares = _shares(claimed(own[0], reached=True), peaks, flop, evidence)
        agrees = [one for one in shares if one[1].meets(claimed_range)]
        words, share = (agrees or sorted(shares, key=lambda one: one[1].low))[0]
        return found(
            CONSISTENT if agrees else INCONSISTENT,
            "arithmetic",
            f"its own {own[0].figure} {own[0].unit} x {number(flop / 1e9)} GFLOP a token is "
            f"{number(share.middle)} % of the {words}, claimed {claim.figure} %",
            recomputed=share.middle,
            readings=tuple(f"{number(share.low)}-{number(share.high)} % of the {words}" for words, share in shares),
            rests_on=(own[0].claim_id,),
            bounds=tuple(text for text, _ in peaks),
        )
    runs = [run for run in _runs(claim, model, evidence) if run.task == "training"]
    if not runs:
        return unknown("the text gives no rate to compute it from, and nothing was measured of this chip and model")
    measured = [
        (f"{words} in {run.benchmark}", share, run)
        for run in runs
        for words, share in _shares(exactly(run.rate), peaks, flop, evidence)
    ]
    agrees_with = [one for one in measured if one[1].meets(claimed_range)]
    nearest = min(agrees_with or measured, key=lambda one: abs(one[1].middle - claimed_range.low))
    lines = tuple(f"{number(share.middle)} % of the {words}" for words, share, _ in measured[:20])
    shown = {"recomputed": nearest[1].middle, "readings": lines, "documents": (nearest[2].source_url,)}
    text = f"measured {number(nearest[1].middle)} % of the {nearest[0]}, claimed {claim.figure} %"
    if agrees_with:
        return found(CONSISTENT, "evidence", text, **shown)
    return unknown(f"{text}: nothing excludes it", **shown)


def readings(claim: Claim, article: Article, evidence: Evidence) -> list[Reading]:
    """Return every way to read the rate of a claim, in its unit: a chip, a core or the system."""
    if model_named(claim.model_name) is None:
        return []
    claim = _with_task(claim, article)
    accepted = 1.0 if re.search(r"without speculat|no speculat", claim.words) else None
    output = re.search(r"\boutput\b|\bdecode\b|\bgenerat\w+", claim.words, re.IGNORECASE)
    return [
        way
        for chip in evidence.named(claim.thing.chips)
        for count in _counts(claim, chip, article, evidence)
        for way in ways(chip, claim.model_name or "", claim.conditions, evidence, count, accepted, bool(output))
    ]


def ways(
    chip: Chip,
    model_name: str,
    conditions: Conditions,
    evidence: Evidence,
    count: tuple[float, str],
    accepted: float | None,
    is_output: bool,
    context: int = 0,
) -> list[Reading]:
    """Return the ways to read a rate of so many chips: what a claim and a sum on supplied numbers are held against.

    Training, or all tokens in one forward pass, by the fastest dense and sparse peak; and generation at the stated
    batch, or with a context at the largest that fits, with no speculation and with MAX_ACCEPTED tokens a step unless
    `accepted` is known. `is_output` excludes tokens of the input, which need no step of their own.
    """
    chips, counted = count
    # Of dense and of sparse peaks the fastest, which stands first.
    peaks = {peak[0].partition(" ")[0]: peak for peak in evidence.peaks([chip], sparse=conditions.is_sparse)[::-1]}
    training = {"training": "training", "lora": "training of adapters"}
    by_peak = [
        Reading(f"{text}, {name}, {counted}", chip, model_name, chips, way, peak)
        for way, text in (training if conditions.is_training else {"serving": FORWARD}).items()
        for name, peak in peaks.values()
        if way == "serving" or conditions.is_adapters in (None, way == "lora")
    ]
    bandwidth = evidence.fact(chip, "memory_bandwidth_tb_s")
    if conditions.is_training or not (bandwidth and (conditions.batch_size or context)):
        return by_peak
    width = conditions.precision if conditions.precision in allowed("precision") else "fp4"
    batch = f"batch {conditions.batch_size}" if conditions.batch_size else "the largest batch that fits"
    rest = f"{batch}, {width} weights, {number(bandwidth)} TB/s a chip, {counted}"
    peak = max((peak for _, peak in peaks.values()), default=None)
    generated = []
    for tokens in (1.0, MAX_ACCEPTED) if accepted is None else (accepted,):
        words = f"output tokens, {'no speculation' if tokens == 1 else f'{number(tokens)} accepted a step'}, {rest}"
        how = width, conditions.batch_size, context, tokens
        generated.append(Reading(words, chip, model_name, chips, "generation", peak, *how))
    return generated if is_output else by_peak + generated


def bounds_of(found_readings: Sequence[Reading], evidence: Evidence) -> Bounds:
    """Return the bounds of readings, those that are known."""
    bounds = zip(found_readings, evidence.rate_bounds(found_readings), strict=True)
    return sorted(((one.words, bound) for one, bound in bounds if bound), key=lambda one: -one[1])


def in_words(rate: float, bounds: Bounds) -> str:
    """Return which share of the highest bound a rate is, and that it breaks another reading's."""
    (name, bound), (tightest, least) = bounds[0], bounds[-1]
    text = f"{rate / bound:.0%} of the highest bound, {number(bound)} ({name})"
    return text + (f"; {rate / least:.0%} of {number(least)} if read as {tightest}" if least < rate <= bound else "")


def _counts(claim: Claim, chip: Chip, article: Article, evidence: Evidence) -> list[tuple[float, str]]:
    """Return how many chips a rate may be of: of a system what its name says, its text, or the table of its chip."""
    if claim.metric not in (PER_CORE, SYSTEM):
        return [(1.0, "one chip")]
    if claim.metric == PER_CORE:
        cores = evidence.fact(chip, "cores_per_accelerator")
        return [(1 / cores, f"1 of {number(cores)} cores")] if cores else [(1.0, "a whole chip for one core")]
    thing = claim.thing
    if thing.count:
        return [(float(thing.count), f"{thing.count} chips")]
    if stated := _count_claim(claim, article):
        return [(figure(stated).high, f"{number(figure(stated).high)} chips by the text")]
    domain = max((value for value, _, _ in evidence.sources(chip, "scale_up_domain")), default=None)
    return [(domain, f"{number(domain)} chips, the most that are joined")] if domain else []


def _count_claim(claim: Claim, article: Article) -> Claim | None:
    """Return the claim of the text on the chips of the system that a claim is about."""
    thing = claim.thing
    is_ultra = "ultra" in claim.subject_text.casefold()

    def is_count(other: Claim) -> bool:
        named = other.thing
        is_alike = is_ultra and named.is_system and "ultra" in named.text.casefold() and named.chips == thing.chips
        return (named.key == thing.key or is_alike) and 0 < figure(other).high < float("inf")

    return next(iter(article.find(claim, "spec_accelerators", is_count)), None)


def _system_of_chips(claim: Claim, article: Article) -> Finding | None:
    """Return how a system's rate compares with its chips' by the same text; None where it gives none."""
    thing = claim.thing
    found_singles = article.find(claim, PER_CHIP, of_model(claim, shares_chip))
    singles = [one for one in found_singles if one.conditions.batch_size == claim.conditions.batch_size]
    stated = None if thing.count else _count_claim(claim, article)
    count = float(thing.count) if thing.count else figure(stated).low if stated else None
    if not singles or not count:
        return None
    whole = claimed(singles[0]) * Range(count, count)
    claimed_range = claimed(claim)
    share = claimed_range.middle / whole.middle
    ids = (singles[0].claim_id, *((stated.claim_id,) if stated else ()))
    words = f"{count:g} chips x {singles[0].figure} = {number(whole.middle)}, claimed {claim.figure}: {share:.0%} of it"
    holds = share * (1 - 1e-9) <= whole.high / whole.middle and share >= MIN_SCALING
    return found(CONSISTENT if holds else INCONSISTENT, "arithmetic", words, recomputed=whole.middle, rests_on=ids)


def _shares(rate: Range, peaks: list[tuple[str, float]], flop: float, evidence: Evidence) -> list[tuple[str, Range]]:
    """Return the per cent of each peak that a rate of one chip stands for."""
    calls = [(end, 1.0, peak, flop) for _, peak in peaks for end in (rate.low, rate.high)]
    ends = [100 * share for share in evidence.formula("physics.model_flops_utilisation", *calls)]
    return [(words, Range(ends[2 * place], ends[2 * place + 1])) for place, (words, _) in enumerate(peaks)]


def _runs(claim: Claim, model: Model, evidence: Evidence) -> list[Measurement]:
    forms = evidence.named(claim.thing.chips)
    alike = {name for name in {run.model_name for run in evidence.measured} if same_shape(name, model)}
    return [
        run
        for run in evidence.measured
        if run.model_name in alike
        and any(
            run.accelerator_name == name and (run.form_factor or form) == (form or run.form_factor)
            for name, form in forms
        )
    ]


def _measured(
    claim: Claim, model: Model, evidence: Evidence, words: str, share: float, details: dict[str, object]
) -> Finding:
    """Return the verdict of measurements under the claim's own conditions on a rate that no bound excludes."""
    conditions = claim.conditions
    runs = [
        run
        for run in _runs(claim, model, evidence)
        if (run.task == "training") == bool(conditions.is_training)
        and (conditions.precision is None or run.precision in (None, conditions.precision))
    ]
    if conditions.batch_size:
        runs = [run for run in runs if conditions.batch_size in (run.batch_size, run.concurrency)]
    claimed_range = claimed(claim, reached=True)
    if claim.metric == PER_CORE:
        return unknown(f"{words}; no measured run is per core", **details)
    is_whole = claim.metric == SYSTEM
    rates = [
        (run.rate * (run.chips if is_whole else 1), run)
        for run in runs
        if run.chips == claim.thing.count or not is_whole
    ]
    if not rates:
        what = "no system of so many chips" if runs else "nothing of this chip, model and conditions"
        return unknown(f"{words}; {what} was measured, as far as is known here", **details)
    low, high = min(rate for rate, _ in rates), max(rate for rate, _ in rates)
    near = min(rates, key=lambda one: abs(one[0] - claimed_range.middle))[1]
    shown: dict[str, object] = {**details, "documents": (near.source_url,), "recomputed": high}
    spread = f"measured {number(low)} to {number(high)} in {len(rates)} runs ({near.benchmark})"
    if claimed_range.meets(Range(low, high)):
        return found(CONSISTENT, "evidence", f"{words}; {spread}", **shown)
    if claimed_range.low > high * MEASURED_ABOVE and share > DEMAND_LOG:
        return unknown(f"{words}; {spread}: above all that was measured, so ask for the log of the run", **shown)
    return unknown(f"{words}; {spread}, and no run under these conditions shows it", **shown)
