"""The order of checks: bound, the text's own arithmetic, price history, other evidence; and what rests on what.

A claim that was computed from others is graded by its own arithmetic. Where a claim that it rests on failed or is open,
its verdict says so, and it is never consistent.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from transform.audit import economics, prices, rates, ratios, specs
from transform.audit.article import Article
from transform.audit.evidence import Evidence
from transform.audit.finding import Finding, is_number, unknown
from transform.audit.verdicts import CONSISTENT, FAILED, INPUT_FAILED, INPUT_OPEN, STALE, TRUE_THEN, UNVERIFIABLE
from warehouse.reference.claims import Claim

Check = Callable[[Claim, Article, Evidence], Finding | None]


def _by_itself(check: Callable[[Claim, Evidence], Finding]) -> Check:
    """Return a check that needs no other claim of the text."""
    return lambda claim, article, evidence: check(claim, evidence)


KINDS: tuple[tuple[str, str, tuple[Check, ...]], ...] = (
    ("price", "|".join(economics.PRICES), (economics.price, _by_itself(prices.history))),
    ("monthly cost", r"price_usd_per_month", (economics.monthly,)),
    ("throughput", r"throughput_tokens_per_s_(per_chip|per_core|system)", (rates.throughput,)),
    ("utilisation", r"mfu_range", (rates.utilisation,)),
    ("cost to train", r"cost_to_train", (economics.training_cost,)),
    ("saving", r"savings_pct", (economics.saving, ratios.price_saving)),
    ("saving", r"savings_usd", (economics.saving_amount,)),
    ("saving", r"discount_pct", (economics.discount,)),
    ("cost of tokens", r"cpm", (economics.cheapest_tokens, economics.token_cost)),
    ("break-even", r"migration_cost", (economics.migration,)),
    ("break-even", r"break_even_tokens", (economics.break_even_tokens,)),
    ("break-even", r"break_even_days", (economics.break_even_days,)),
    ("ratio", r"ratio_\w+", (ratios.ratio,)),
    ("availability", prices.AVAILABILITY.pattern, (_by_itself(prices.available),)),
    *(
        ("memory fit" if metric == "capacity_fit" else "specification", metric, (_by_itself(check),))
        for metric, check in specs.CHECKS.items()
    ),
)
"""Kinds of claims: name, which metrics are of it, and its checks, of which the first that decides counts."""
RATED = ("throughput", "cost of tokens")
"""Kinds that rest on the bound of a rate; a cost on that of one chip."""
OTHER = "other"
_TEXTS = ("availability",)
_OF_ONE = ("price", "monthly cost", "throughput", "utilisation", "specification", "memory fit")
"""Kinds of figures that are of one thing."""
REASONS: Mapping[str, str] = {
    "monthly cost": "the text gives no hourly price of it to compute it from",
    "cost to train": "model, tokens or price to compute it from are not stated",
    "saving": "the text gives no two figures to compute it from, and no measured cost of both sides is named",
    "cost of tokens": "the text gives no price and rate to compute it from",
    "break-even": "the text gives no inputs to compute it from",
}


@dataclass(frozen=True)
class Judged:
    """A claim with its finding, its kind, and the verdicts with its inputs in view."""

    claim: Claim
    kind: str
    finding: Finding
    verdict: str
    """As of its date; where the arithmetic of a claim holds and an input does not, that."""
    verdict_today: str

    @property
    def standing_today(self) -> str:
        """Return the verdict of today in words."""
        return TRUE_THEN if (self.verdict, self.verdict_today) == (CONSISTENT, STALE) else self.verdict_today


@cache
def kind_of(metric: str) -> tuple[str, tuple[Check, ...]]:
    """Return the kind of a metric and its checks; none for a metric that no checker knows."""
    return next(((kind, checks) for kind, pattern, checks in KINDS if re.fullmatch(pattern, metric)), (OTHER, ()))


def judge(claims: Iterable[Claim], evidence: Evidence) -> list[Judged]:
    """Return the verdict on each claim, in their order."""
    texts: dict[str, list[Claim]] = defaultdict(list)
    listed = list(claims)
    for claim in listed:
        texts[claim.article].append(claim)
    articles = {name: Article(members) for name, members in texts.items()}
    # The bounds of all rates are computed together, and prices read together, as one takes as long as all.
    rated = [one for one in listed if kind_of(one.metric)[0] in RATED and is_number(one)]
    evidence.rate_bounds([way for one in rated for way in rates.readings(one, articles[one.article], evidence)])
    prices.read(filter(is_number, listed), evidence)
    findings = {claim.claim_id: _finding(claim, articles[claim.article], evidence) for claim in listed}
    return [
        Judged(
            claim,
            kind_of(claim.metric)[0],
            findings[claim.claim_id],
            _verdict(claim.claim_id, findings, today=False),
            _verdict(claim.claim_id, findings, today=True),
        )
        for claim in listed
    ]


def _finding(claim: Claim, article: Article, evidence: Evidence) -> Finding:
    kind, checks = kind_of(claim.metric)
    if not checks:
        return unknown(f"no check is known for {claim.metric}, and no evidence is kept of it")
    if kind not in _TEXTS and not is_number(claim):
        return unknown(f"{claim.figure!r} is no number to compute with")
    if kind in _OF_ONE and len(claim.subject.things) > 1:
        return unknown(f"{claim.subject_text!r} names two things, and one figure is of one")
    for check in checks:
        try:
            finding = check(claim, article, evidence)
        except ArithmeticError as error:
            return unknown(f"it cannot be computed: {error}")
        if finding is not None:
            return finding
    return unknown(REASONS.get(kind, "nothing to check it against is known here"))


def _verdict(claim_id: str, findings: Mapping[str, Finding], *, today: bool) -> str:
    """Return the verdict with the inputs of what was computed in view."""
    finding = findings[claim_id]
    verdict = finding.verdict_today if today else finding.verdict
    worst = _worst(claim_id, findings, frozenset(), today=today)
    if worst == verdict:
        return verdict
    return INPUT_FAILED if worst in FAILED else INPUT_OPEN


def _worst(claim_id: str, findings: Mapping[str, Finding], seen: frozenset[str], *, today: bool) -> str:
    """Return the first failure of a claim and of all that it rests on, else unverifiable if any is, else consistent."""
    finding = findings[claim_id]
    verdict = finding.verdict_today if today else finding.verdict
    if verdict != CONSISTENT:
        return verdict
    further = [
        _worst(other, findings, seen | {claim_id}, today=today) for other in finding.rests_on if other not in seen
    ]
    return next((one for one in further if one in FAILED), UNVERIFIABLE if UNVERIFIABLE in further else CONSISTENT)
