"""The tables of the audit: computed while a file is published, after its marts, from what stands in it."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import duckdb

from transform.audit.evidence import Evidence
from transform.audit.finding import Range, claimed, is_number, number
from transform.audit.judge import Judged, judge
from transform.audit.verdicts import CONSISTENT, INPUT_FAILED, INPUT_OPEN
from warehouse.log.db import insert_rows
from warehouse.reference import claims
from warehouse.reference.claims import SEPARATOR, UNITS, Claim
from warehouse.schema.dictionary import ComputedTable

Row = tuple[object, ...]

CONTRADICTION_COLUMNS = (
    *("quantity", "subject", "unit", "claim_id", "claimed", "article", "verdict"),
    *("other_claim_id", "other_claimed", "other_article", "other_verdict", "recomputed_value"),
)
EVIDENCE = ("history", "evidence")
_CORES = ("price_per_core", "price_per_chip")
JUDGEMENTS = ("subjective_score", "threshold_", "migration_", "team_", "horizon_", "commitment_", "assumption_")
"""Metrics that are opinions or circumstances of the writer: two of them are no contradiction."""

Verdict = tuple[str, str, float | None]
"""Of one claim as of its date: verdict, what decided, and the recomputed value."""


def audit(con: duckdb.DuckDBPyConnection, claims: Iterable[Claim]) -> tuple[list[Judged], Evidence]:
    """Return the verdict on each claim by what the file of a connection knows, and that knowledge."""
    listed = list(claims)
    evidence = Evidence(con, listed)
    return judge(listed, evidence), evidence


def in_words(one: Judged) -> str:
    """Return the arithmetic of a claim, and whether what it was computed from holds."""
    text = one.finding.arithmetic
    if one.verdict in (INPUT_FAILED, INPUT_OPEN):
        text += f"; {one.verdict} ({', '.join(one.finding.rests_on)})"
    return text


AUDIT: Mapping[str, Callable[[Judged], object]] = {
    "claim_id": lambda one: one.claim.claim_id,
    "article": lambda one: one.claim.article or None,
    "article_title": lambda one: one.claim.title,
    "place": lambda one: one.claim.place,
    "subject": lambda one: one.claim.subject_text,
    "metric": lambda one: one.claim.metric,
    "claim_kind": lambda one: one.kind,
    "claimed": lambda one: one.claim.figure,
    "unit": lambda one: one.claim.unit,
    "hedge": lambda one: one.claim.hedge_text,
    "claim_conditions": lambda one: one.claim.conditions_text or None,
    "claimed_as_of": lambda one: one.claim.as_of or None,
    "verdict": lambda one: one.verdict,
    "verdict_today": lambda one: one.verdict_today,
    "standing": lambda one: one.verdict,
    "standing_today": lambda one: one.standing_today,
    "decided_by": lambda one: one.finding.basis,
    "recomputed_value": lambda one: one.finding.recomputed,
    "arithmetic": in_words,
    "readings": lambda one: SEPARATOR.join(one.finding.readings) or None,
    "bounds": lambda one: SEPARATOR.join(one.finding.bounds) or None,
    "rests_on": lambda one: SEPARATOR.join(one.finding.rests_on) or None,
    "evidence_documents": lambda one: SEPARATOR.join(one.finding.documents) or None,
    "evidence_until": lambda one: one.finding.evidence_until,
}
"""The columns of int.claim_audit, and what each has of a claim."""


def _audit_rows(con: duckdb.DuckDBPyConnection) -> list[Row]:
    judged, evidence = audit(con, claims.shipped())
    evidence.forget()
    return [tuple(value(one) for value in AUDIT.values()) for one in judged]


def _answer_formulas(con: duckdb.DuckDBPyConnection) -> None:
    """Keep what formulas give of claims and reference tables alone: each takes a millisecond to plan."""
    con.execute("create table meta.formula_answer (question VARCHAR, answer DOUBLE[])")
    _, evidence = audit(con, claims.shipped())
    insert_rows(con, "meta.formula_answer", list(evidence.answers.items()))


def _contradiction_rows(con: duckdb.DuckDBPyConnection) -> list[Row]:
    found = con.execute("select claim_id, verdict, decided_by, recomputed_value from int.claim_audit").fetchall()
    verdicts = {name: (verdict, basis, value) for name, verdict, basis, value in found}
    return contradictions(claims.shipped(), verdicts, Evidence(con, claims.shipped()))


def contradictions(claims: Iterable[Claim], verdicts: Mapping[str, Verdict], evidence: Evidence) -> list[Row]:
    """Return each pair of claims of two texts about the same quantity whose figures cannot both hold."""
    same: dict[tuple[object, ...], list[Claim]] = defaultdict(list)
    for claim in claims:
        # A saving without its other side is of whatever each text compares with.
        is_open = claim.metric == "savings_pct" and len(claim.subject.things) == 1
        if is_number(claim) and not is_open and not claim.metric.startswith(JUDGEMENTS):
            same[_key(claim)].append(claim)
    rows: list[Row] = []
    for members in same.values():
        for a, b in itertools.combinations(members, 2):
            if a.article == b.article or _figure(a, evidence).meets(_figure(b, evidence)):
                continue
            (verdict, basis, value), (other, other_basis, other_value) = verdicts[a.claim_id], verdicts[b.claim_id]
            # Two that evidence bears out, each on its date, do not contradict each other.
            if verdict == other == CONSISTENT and basis in EVIDENCE and other_basis in EVIDENCE:
                continue
            known = value if basis in EVIDENCE else other_value if other_basis in EVIDENCE else None
            one = a.claim_id, _figure_text(a, evidence), a.article, verdict
            two = b.claim_id, _figure_text(b, evidence), b.article, other
            rows.append((_quantity(a), a.subject_text, a.unit, *one, *two, known))
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
    cores = _cores(claim, evidence)
    return claimed(claim) * Range(min(cores), max(cores)) if cores else claimed(claim)


def _cores(claim: Claim, evidence: Evidence) -> set[float]:
    """Return the cores of each chip that the price of a core may mean; none of another claim."""
    chips = evidence.named(claim.thing.chips) if claim.metric == "price_per_core" else ()
    return {count for chip in chips if (count := evidence.fact(chip, "cores_per_accelerator"))}


def _figure_text(claim: Claim, evidence: Evidence) -> str:
    """Return a figure as it was stated; that of a core with what it is of a chip, as chips are compared."""
    cores = _cores(claim, evidence)
    if len(cores) != 1 or claim.value is None:
        return claim.figure
    return f"{number(float(claim.figure) * cores.pop())} ({claim.figure} a core)"


def _quantity(claim: Claim) -> str:
    conditions = claim.conditions
    term = f"{conditions.term_hours} h" if conditions.term_hours else None
    batch = f"batch {conditions.batch_size}" if conditions.batch_size else None
    return ", ".join(filter(None, (claim.metric, conditions.purchase_option, term, conditions.precision, batch)))


TABLES = (
    ComputedTable(
        "claim_audit",
        "One published number and whether it holds, on its date and today",
        ("int.price_history", "int.throughput"),
        tuple(AUDIT),
        _audit_rows,
        _answer_formulas,
    ),
    ComputedTable(
        "claim_contradiction",
        "Two texts that say different things of one quantity",
        ("int.claim_audit",),
        CONTRADICTION_COLUMNS,
        _contradiction_rows,
    ),
)
"""In order of creation, after all marts of SQL."""
