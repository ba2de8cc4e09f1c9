"""Checks of throughput and of utilisation: bounds of physics, the text's own figures, and measurements.

A rate is impossible only where every reading of it breaks its bound by more than the claim's hedge. Readings are the
forms that the chip may have; dense and sparse peaks; the chips that a system may be; and, where the words are silent,
training of all or of adapters only, or a forward pass; output tokens, with or without speculation, or all tokens.
"""

import re
from dataclasses import dataclass, replace

from transform.audit.article import Article, same_thing
from transform.audit.evidence import Chip, Evidence, Measurement, model_named, same_shape
from transform.audit.finding import (
    CONSISTENT,
    IMPOSSIBLE,
    INCONSISTENT,
    Finding,
    Range,
    claimed,
    exactly,
    figure,
    found,
    number,
    unknown,
)
from warehouse.reference.claims import Claim
from warehouse.reference.models import Model

PER_CHIP = "throughput_tokens_per_s_per_chip"
PER_CORE = "throughput_tokens_per_s_per_core"
SYSTEM = "throughput_tokens_per_s_system"
MFU = "mfu_range"
MAX_ACCEPTED = 8
"""Tokens that one step may yield with speculation: no catalogued run accepts half as many."""
FIT_PRECISIONS = ("fp4", "fp8", "int8", "bf16", "fp16")
MIN_SCALING = 0.5
"""Below half of what its chips make alone, it is another number of chips and no loss of scaling."""
DEMAND_LOG = 0.5
"""Share of a bound above which nothing measured lies, so that a claim needs the log of its run."""
MEASURED_ABOVE = 1.02
"""Above the best measured rate by more than that, a rate has not been measured."""


@dataclass(frozen=True)
class Reading:
    """One way to read a rate: in words, the bound in tokens per second, and the formula behind it."""

    words: str
    bound: float


def throughput(claim: Claim, article: Article, evidence: Evidence) -> Finding:
    """Check tokens per second of a chip, of a core or of a system."""
    model = model_named(claim.model_name)
    if model is None:
        named = ", ".join(claim.subject.others) or claim.subject_text
        return unknown(f"no model of which the shape is known is named in {named!r}, so nothing bounds the rate")
    if not claim.subject.things[0].chips:
        return unknown(f"{claim.subject_text!r} names no chip that is known here")
    claim = _with_task(claim, article)
    readings = rate_readings(claim, model, evidence)
    if not readings:
        return unknown("no peak or bandwidth of this chip is published")
    claimed_range = claimed(claim)
    least = claimed_range.low if claimed_range.low > 0 else claimed(claim, hedged=False).low * (1 - claim.hedge.share)
    best = max(readings, key=lambda reading: reading.bound)
    share = least / best.bound
    lines = tuple(
        f"{one.words}: at most {number(one.bound)} tokens/s, claimed {least / one.bound:.0%} of it" for one in readings
    )
    details: dict[str, object] = {"readings": lines, "bounds": (f"{best.words}: {number(best.bound)} tokens/s",)}
    nominal = claimed(claim, hedged=False).middle / best.bound
    words = f"claimed {claim.figure} {claim.unit} is {nominal:.0%} of the highest bound, "
    words += f"{number(best.bound)} ({best.words})"
    if claim.hedge.share:
        words += f"; {share:.0%} after its hedge of {claim.hedge.share:.0%}"
    broken = [one for one in readings if least > one.bound]
    if broken and share <= 1:
        least_bound = min(broken, key=lambda one: one.bound)
        words += f"; {least / least_bound.bound:.0%} of {number(least_bound.bound)} if read as {least_bound.words}"
    if share > 1:
        return found(IMPOSSIBLE, "bound", words, recomputed=best.bound, **details)
    own = _system_of_chips(claim, article) if claim.metric == SYSTEM else None
    if own and own.verdict != CONSISTENT:
        return found(
            INCONSISTENT,
            "arithmetic",
            f"{own.arithmetic}; no bound excludes it: {words}",
            recomputed=own.recomputed,
            rests_on=own.rests_on,
            **details,
        )
    return _measured(claim, model, evidence, words, share, details)


def _with_task(claim: Claim, article: Article) -> Claim:
    """Return a claim with the task of the same model's rate a chip beside it, where its own words name none."""
    if claim.conditions.is_training or claim.conditions.batch_size:
        return claim
    nearby = article.find(
        claim,
        PER_CHIP,
        lambda other: (
            claim.metric == SYSTEM
            and other.model_name == claim.model_name
            and bool({n for n, _ in other.subject.things[0].chips} & {n for n, _ in claim.subject.things[0].chips})
        ),
    )
    if not nearby:
        return claim
    task = nearby[0].conditions
    conditions = replace(claim.conditions, is_training=task.is_training, is_adapters=task.is_adapters)
    return replace(claim, conditions=conditions)


def utilisation(claim: Claim, article: Article, evidence: Evidence) -> Finding:
    """Check a model FLOPs utilisation: below 100 %, as the text's own rate has it, and as it was measured."""
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
    if model is None or not claim.subject.things[0].chips:
        return unknown("no model of known shape and chip is named")
    thing = claim.subject.things[0]
    own = article.find(
        claim,
        PER_CHIP,
        lambda other: other.model_name == claim.model_name and same_thing(other.subject.things[0], thing),
    )
    (flop,) = evidence.formula("physics.training_flop_per_token", _training(model, 0))
    peaks = [
        peak for chip in evidence.forms(thing) for peak in evidence.peaks(chip, precision=claim.conditions.precision)
    ]
    if not peaks:
        return unknown("no peak of this chip is published in that precision")
    if own:
        rate = claimed(own[0], hedged=True)
        shares = _shares(rate, peaks, flop, evidence)
        lines = tuple(f"{number(share.low)}-{number(share.high)} % of the {words}" for words, share in shares)
        agrees = [one for one in shares if one[1].meets(claimed_range)]
        words, share = (agrees or sorted(shares, key=lambda one: one[1].low))[0]
        return found(
            CONSISTENT if agrees else INCONSISTENT,
            "arithmetic",
            f"its own {own[0].figure} {own[0].unit} x {number(flop / 1e9)} GFLOP a token is "
            f"{number(share.middle)} % of the {words}, claimed {claim.figure} %",
            recomputed=share.middle,
            readings=lines,
            rests_on=(own[0].claim_id,),
            bounds=tuple(text for text, _ in peaks),
        )
    runs = [run for run in _runs(claim, model, evidence) if run.task == "training"]
    if not runs:
        return unknown("the text gives no rate to compute it from, and nothing was measured of this chip and model")
    measured = []
    for run in runs:
        measured += [
            (f"{words} in {run.benchmark}", share, run)
            for words, share in _shares(exactly(run.rate), peaks, flop, evidence)
        ]
    agrees_with = [one for one in measured if one[1].meets(claimed_range)]
    nearest = min(agrees_with or measured, key=lambda one: abs(one[1].middle - claimed_range.low))
    lines = tuple(f"{number(share.middle)} % of the {words}" for words, share, _ in measured[:20])
    shown = {"recomputed": nearest[1].middle, "readings": lines, "documents": (nearest[2].source_url,)}
    text = f"measured {number(nearest[1].middle)} % of the {nearest[0]}, claimed {claim.figure} %"
    return (
        found(CONSISTENT, "evidence", text, **shown)
        if agrees_with
        else unknown(f"{text}: nothing excludes it", **shown)
    )


def rate_readings(claim: Claim, model: Model, evidence: Evidence) -> list[Reading]:
    """Return every way to read a rate, each with its bound in the unit of the claim: a chip, a core or the system."""
    found_readings: list[Reading] = []
    for chip in evidence.forms(claim.subject.things[0]):
        counts = _counts(claim, chip, evidence)
        for chips, counted in counts:
            found_readings += _compute(claim, model, chip, chips, counted, evidence)
            found_readings += _bandwidth(claim, model, chip, chips, counted, evidence)
    return found_readings


def _counts(claim: Claim, chip: Chip, evidence: Evidence) -> list[tuple[float, str]]:
    """Return how many chips a rate may be of."""
    if claim.metric == PER_CHIP:
        return [(1.0, "one chip")]
    if claim.metric == PER_CORE:
        cores = evidence.fact(chip, "cores_per_accelerator")
        return [(1 / cores, f"1 of {number(cores)} cores")] if cores else [(1.0, "a whole chip for one core")]
    thing = claim.subject.things[0]
    if thing.count:
        return [(float(thing.count), f"{thing.count} chips")]
    domain = max((value for value, _, _ in evidence.sources(chip, "scale_up_domain")), default=None)
    return [(domain, f"{number(domain)} chips, the most that are joined")] if domain else []


def _training(model: Model, length: float) -> tuple[float, ...]:
    return float(model.parameters_active), float(model.layers), float(model.attention_size), float(length)


def _compute(claim: Claim, model: Model, chip: Chip, chips: float, counted: str, evidence: Evidence) -> list[Reading]:
    """Return the bounds of the peak: training or forward pass, in the fastest dense and sparse peak."""
    conditions = claim.conditions
    work: list[tuple[str, float]] = []
    if conditions.is_training and not conditions.is_adapters:
        (flop,) = evidence.formula("physics.training_flop_per_token", _training(model, 0))
        work.append(("training", flop))
    if conditions.is_training and conditions.is_adapters is not False:
        (flop,) = evidence.formula("physics.training_flop_per_token", (*_training(model, 0), 0.0, 1.0))
        work.append(("training of adapters", flop))
    if not conditions.is_training:
        (flop,) = evidence.formula("physics.forward_flop_per_token", _training(model, 0))
        work.append(("all tokens, input too, in one forward pass", flop))
    peaks = evidence.peaks(chip, sparse=conditions.is_sparse)
    fastest = [next((one for one in peaks if one[0].startswith(kind)), None) for kind in ("dense", "sparse")]
    # Generation alone can be no faster than its bandwidth allows: then the peak is no reading of its own.
    if _is_output_only(claim):
        return []
    calls = [(chips, peak[1], flop) for _, flop in work for peak in fastest if peak]
    names = [f"{words}, {peak[0]}, {counted}" for words, _ in work for peak in fastest if peak]
    bounds = evidence.formula("physics.forward_compute_bound", *calls) if calls else ()
    return [Reading(name, bound) for name, bound in zip(names, bounds, strict=True)]


def _bandwidth(claim: Claim, model: Model, chip: Chip, chips: float, counted: str, evidence: Evidence) -> list[Reading]:
    """Return the bounds of bandwidth on generation at the batch that a claim states; none where it states none."""
    conditions = claim.conditions
    bandwidth = evidence.fact(chip, "memory_bandwidth_tb_s")
    if conditions.is_training or not conditions.batch_size or bandwidth is None or model.shared_parameters is None:
        return []
    width = conditions.precision if conditions.precision in (*FIT_PRECISIONS, "nvfp4", "mxfp4", "fp32") else "fp4"
    each = evidence.text_formula("physics.bytes_per_value", width)
    (weights,) = evidence.formula(
        "physics.moe_weight_bytes_read",
        (
            float(model.shared_parameters),
            float((model.expert_parameters or 0) * (model.moe_layers or 0)),
            float(model.experts or 1),
            float(model.experts_per_token or 1),
            float(conditions.batch_size),
            each,
        ),
    )
    accepted = [1] if re.search(r"without speculat|no speculat", claim.words) else [1, MAX_ACCEPTED]
    bounds = evidence.formula(
        "physics.decode_bandwidth_bound",
        *((chips, bandwidth, weights, float(conditions.batch_size), 0.0, float(tokens)) for tokens in accepted),
    )
    return [
        Reading(
            f"output tokens, {'no speculation' if tokens == 1 else f'{tokens} accepted a step'}, "
            f"batch {conditions.batch_size}, {width} weights, {number(bandwidth)} TB/s a chip, {counted}",
            bound,
        )
        for tokens, bound in zip(accepted, bounds, strict=True)
    ]


def _is_output_only(claim: Claim) -> bool:
    """Return whether the words exclude that input tokens are counted, at a batch that bounds generation."""
    output = re.search(r"\boutput\b|\bdecode\b|\bgenerat\w+", claim.words, re.IGNORECASE)
    return bool(output and claim.conditions.batch_size and not claim.conditions.is_training)


def _system_of_chips(claim: Claim, article: Article) -> Finding | None:
    """Return how a system's rate compares with its chips' by the same text; None where it gives none."""
    thing = claim.subject.things[0]
    singles = article.find(
        claim,
        PER_CHIP,
        lambda other: (
            other.model_name == claim.model_name
            and bool({n for n, _ in other.subject.things[0].chips} & {n for n, _ in thing.chips})
        ),
    )
    counts = article.find(
        claim,
        "spec_accelerators",
        lambda other: other.subject.things[0].key == thing.key or _is_system_of(other, claim),
    )
    count = float(thing.count) if thing.count else figure(counts[0]).low if counts else None
    if not singles or count is None:
        return None
    whole = claimed(singles[0]) * Range(count, count)
    claimed_range = claimed(claim)
    share = claimed_range.middle / whole.middle
    ids = (singles[0].claim_id, *(() if thing.count else (counts[0].claim_id,)))
    words = f"{number(count)} chips x {singles[0].figure} = {number(whole.middle)}, "
    words += f"claimed {claim.figure}: {share:.0%} of it"
    holds = share * (1 - 1e-9) <= whole.high / whole.middle and share >= MIN_SCALING
    return found(CONSISTENT if holds else INCONSISTENT, "arithmetic", words, recomputed=whole.middle, rests_on=ids)


def _is_system_of(other: Claim, claim: Claim) -> bool:
    named = other.subject.things[0]
    return (
        named.is_system
        and "ultra" in named.text.casefold()
        and "ultra" in claim.subject_text.casefold()
        and (named.chips == claim.subject.things[0].chips)
    )


def _shares(rate: Range, peaks: list[tuple[str, float]], flop: float, evidence: Evidence) -> list[tuple[str, Range]]:
    """Return the per cent of each peak that a rate of one chip stands for."""
    calls = [(end, 1.0, peak, flop) for _, peak in peaks for end in (rate.low, rate.high)]
    ends = [100 * share for share in evidence.formula("physics.model_flops_utilisation", *calls)]
    return [(words, Range(ends[2 * place], ends[2 * place + 1])) for place, (words, _) in enumerate(peaks)]


def _runs(claim: Claim, model: Model, evidence: Evidence) -> list[Measurement]:
    forms = evidence.forms(claim.subject.things[0])
    return [
        run
        for run in evidence.measured
        if run.unit_of_work == "token"
        and any(
            run.accelerator_name == name and (run.form_factor or form) == (form or run.form_factor)
            for name, form in forms
        )
        and same_shape(run.model_name, model)
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
    claimed_range = claimed(claim)
    if claim.metric == PER_CORE:
        return unknown(f"{words}; no measured run is per core", **details)
    if not runs:
        return unknown(f"{words}; nothing measured of this chip, model and conditions is known here", **details)
    chips = [run for run in runs if claim.metric == PER_CHIP or run.chips == claim.subject.things[0].count]
    rates = sorted(
        ((run.rate * (1 if claim.metric == PER_CHIP else run.chips), run) for run in chips), key=lambda one: one[0]
    )
    if not rates:
        return unknown(f"{words}; no system of so many chips was measured", **details)
    low, high = rates[0][0], rates[-1][0]
    near = min(rates, key=lambda one: abs(one[0] - claimed_range.middle))[1]
    shown: dict[str, object] = {**details, "documents": (near.source_url,), "recomputed": high}
    spread = f"measured {number(low)} to {number(high)} in {len(rates)} runs ({near.benchmark})"
    if claimed_range.meets(Range(low, high)):
        return found(CONSISTENT, "evidence", f"{words}; {spread}", **shown)
    if claimed_range.low > high * MEASURED_ABOVE and share > DEMAND_LOG:
        return unknown(f"{words}; {spread}: above all that was measured, so ask for the log of the run", **shown)
    return unknown(f"{words}; {spread}, and no run under these conditions shows it", **shown)
