"""Two texts that say different things of one quantity, whichever of them is right."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping

from transform.audit.evidence import Evidence
from transform.audit.finding import CONSISTENT, Range, claimed, is_number, number
from warehouse.reference.claims import UNITS, Claim

COLUMNS = (
    "quantity",
    "subject",
    "unit",
    "claim_id",
    "claimed",
    "article",
    "verdict",
    "other_claim_id",
    "other_claimed",
    "other_article",
    "other_verdict",
    "recomputed_value",
)
EVIDENCE = ("history", "evidence")
_CORES = ("price_per_core", "price_per_chip")
JUDGEMENTS = ("subjective_score", "threshold_", "migration_", "team_", "horizon_", "commitment_", "assumption_")
"""Metrics that are opinions or circumstances of the writer: two of them are no contradiction."""


Verdict = tuple[str, str, float | None]
"""Of one claim as of its date: verdict, what decided, and the recomputed value."""


def contradictions(
    claims: Iterable[Claim], verdicts: Mapping[str, Verdict], evidence: Evidence
) -> list[tuple[object, ...]]:
    """Return each pair of claims of two texts about the same quantity whose figures cannot both hold."""
    same: dict[tuple[object, ...], list[Claim]] = defaultdict(list)
    for claim in claims:
        # A saving without its other side is of whatever each text compares with.
        is_open = claim.metric == "savings_pct" and len(claim.subject.things) == 1
        if is_number(claim) and not is_open and not claim.metric.startswith(JUDGEMENTS):
            same[_key(claim)].append(claim)
    rows: list[tuple[object, ...]] = []
    for members in same.values():
        for a, b in itertools.combinations(members, 2):
            if a.article == b.article or _figure(a, evidence).meets(_figure(b, evidence)):
                continue
            (verdict, basis, value), (other, other_basis, other_value) = verdicts[a.claim_id], verdicts[b.claim_id]
            # Two that evidence bears out, each on its date, do not contradict each other.
            if verdict == other == CONSISTENT and basis in EVIDENCE and other_basis in EVIDENCE:
                continue
            known = value if basis in EVIDENCE else other_value if other_basis in EVIDENCE else None
            rows.append(
                (
                    _quantity(a),
                    a.subject_text,
                    a.unit,
                    a.claim_id,
                    _figure_text(a, evidence),
                    a.article,
                    verdict,
                    b.claim_id,
                    _figure_text(b, evidence),
                    b.article,
                    other,
                    known,
                )
            )
    return rows


def _key(claim: Claim) -> tuple[object, ...]:
    """Return what makes two claims be about one quantity; a price of a core is one of its chip."""
    conditions = claim.conditions
    is_price = claim.metric.startswith("price_")
    metric = "price_per_chip" if claim.metric in _CORES else claim.metric.replace("pflops", "tflops")
    return (
        claim.subject.key,
        metric,
        {"date": "year"}.get(claim.unit) or UNITS.get(claim.unit, (claim.unit,))[0],
        conditions.batch_size,
        None if is_price else conditions.precision,
        conditions.purchase_option or ("on_demand" if is_price else None),
        conditions.term_hours if is_price else None,
        conditions.is_sparse or None,
        conditions.tokens,
    )


def _figure(claim: Claim, evidence: Evidence) -> Range:
    claimed_range = claimed(claim)
    if claim.metric != "price_per_core":
        return claimed_range
    cores = _cores(claim, evidence)
    return claimed_range * Range(min(cores), max(cores)) if cores else claimed_range


def _cores(claim: Claim, evidence: Evidence) -> list[float]:
    """Return the cores of each chip that a claim may mean."""
    return [
        count
        for chip in evidence.forms(claim.subject.things[0])
        if (count := evidence.fact(chip, "cores_per_accelerator"))
    ]


def _figure_text(claim: Claim, evidence: Evidence) -> str:
    """Return a figure as it was told; that of a core with what it is of a chip, as chips are compared."""
    cores = set(_cores(claim, evidence)) if claim.metric == "price_per_core" and claim.value is not None else set()
    if len(cores) != 1:
        return claim.figure
    return f"{number(float(claim.figure) * cores.pop())} ({claim.figure} a core)"


def _quantity(claim: Claim) -> str:
    conditions = claim.conditions
    parts = [
        claim.metric,
        conditions.purchase_option,
        f"{conditions.term_hours} h" if conditions.term_hours else None,
        conditions.precision,
    ]
    parts.append(f"batch {conditions.batch_size}" if conditions.batch_size else None)
    return ", ".join(part for part in parts if part)
