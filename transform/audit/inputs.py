"""What a figure was computed from in the same text, and the verdict that its inputs give."""

from collections.abc import Callable, Sequence

from transform.audit.article import Article, same_subject, same_thing
from transform.audit.finding import CONSISTENT, INCONSISTENT, Finding, Range, claimed, found, number
from warehouse.reference.claim_text import Thing
from warehouse.reference.claims import Claim

PEAK_METRICS = tuple(
    f"spec_{width}{kind}_{scale}flops"
    for width in ("bf16", "fp16", "fp8", "fp4")
    for kind in ("", "_sparse")
    for scale in "tp"
)
PRICES = ("price_per_chip", "price_usd_per_hour_instance", "price_per_core")
Tried = tuple[Range, str, tuple[Claim, ...]]
"""A reading: its value, words, and the claims that it rests on."""


def verdict_of(claim: Claim, computed: Range, words: str, inputs: tuple[Claim, ...] = ()) -> Finding:
    """Return whether a claim is what its inputs give."""
    claimed_range = claimed(claim)
    holds = computed.meets(claimed_range)
    text = f"{words} = {number(computed.middle)}, claimed {claim.figure} {claim.unit}"
    return found(
        CONSISTENT if holds else INCONSISTENT,
        "arithmetic",
        text,
        recomputed=computed.middle,
        readings=(f"{words}: {number(computed.low)} to {number(computed.high)}",),
        rests_on=tuple(one.claim_id for one in inputs),
    )


def closest(claim: Claim, tried: Sequence[Tried]) -> Finding | None:
    """Return the verdict of the reading that agrees, or of the nearest; None where there is none."""
    if not tried:
        return None
    claimed_range = claimed(claim)
    computed, words, inputs = min(
        tried, key=lambda one: (not one[0].meets(claimed_range), abs(one[0].middle - claimed_range.middle))
    )
    result = verdict_of(claim, computed, words, inputs)
    lines = tuple(f"{text}: {number(span.middle)}" for span, text, _ in tried)
    return found(
        result.verdict,
        result.basis,
        result.arithmetic,
        recomputed=result.recomputed,
        readings=lines,
        rests_on=result.rests_on,
    )


def own_peaks(claim: Claim, article: Article) -> list[tuple[str, float]]:
    """Return the peaks in TFLOP/s that the text itself gives of the chip of a claim, with their words."""
    thing = claim.subject.things[0]
    found_peaks = []
    for metric in PEAK_METRICS:
        for one in article.find(claim, metric, lambda other: same_thing(other.subject.things[0], thing)):
            words = f"text's own peak of {one.figure} {one.unit} ({metric.split('_')[1].upper()})"
            found_peaks.append((words, claimed(one, hedged=False).middle))
    return found_peaks


Fits = Callable[[Claim], bool]


def side(claim: Claim, thing: Thing) -> Fits:
    """Return what is a figure of one side of a comparison, under its model, option and tokens."""
    return lambda other: (
        len(other.subject.things) == 1
        and same_thing(other.subject.things[0], thing)
        and other.model_name == claim.model_name
        and other.conditions.purchase_option in (None, claim.conditions.purchase_option, "on_demand")
        and claim.conditions.tokens in (None, other.conditions.tokens)
    )


def undiscounted(one: Claim) -> Fits:
    """Return what is the on-demand price of the same subject."""
    return lambda other: same_subject(one, other) and other.conditions.purchase_option in (None, "on_demand")


def has_figure(text: str) -> Fits:
    """Return what is told as one figure."""
    return lambda other: other.value is not None and float(other.value) == float(text)
