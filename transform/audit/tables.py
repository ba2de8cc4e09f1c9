"""The tables of the audit: computed while a file is published, after its marts, from what stands in it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import duckdb

from transform.audit.contradictions import COLUMNS, contradictions
from transform.audit.evidence import Evidence
from transform.audit.finding import FAILED
from transform.audit.judge import INPUT_FAILED, INPUT_OPEN, Judged, judge
from warehouse.reference import claims
from warehouse.reference.claims import SEPARATOR, Claim

Row = tuple[object, ...]

AUDIT_COLUMNS = (
    "claim_id",
    "article",
    "article_title",
    "place",
    "subject",
    "metric",
    "claim_kind",
    "claimed",
    "unit",
    "hedge",
    "claim_conditions",
    "claimed_as_of",
    "verdict",
    "verdict_today",
    "standing",
    "standing_today",
    "decided_by",
    "recomputed_value",
    "arithmetic",
    "readings",
    "bounds",
    "rests_on",
    "evidence_documents",
    "evidence_until",
)


@dataclass(frozen=True)
class Computed:
    """A mart that no SELECT makes: its name, what a row is, its columns, and its rows from a file's connection."""

    name: str
    row: str
    columns: Sequence[str]
    rows: Callable[[duckdb.DuckDBPyConnection], list[Row]]


def audit(con: duckdb.DuckDBPyConnection, claims: Iterable[Claim]) -> tuple[list[Judged], Evidence]:
    """Return the verdict on each claim by what the file of a connection knows, and that knowledge."""
    listed = list(claims)
    evidence = Evidence(con, listed)
    return judge(listed, evidence), evidence


def audit_row(one: Judged) -> Row:
    """Return the row of int.claim_audit."""
    claim, finding = one.claim, one.finding
    return (
        claim.claim_id,
        claim.article or None,
        claim.title,
        claim.place,
        claim.subject_text,
        claim.metric,
        one.kind,
        claim.figure,
        claim.unit,
        claim.hedge_text,
        claim.conditions_text or None,
        claim.as_of or None,
        finding.verdict,
        finding.verdict_today,
        one.standing,
        one.standing_today,
        finding.basis,
        finding.recomputed,
        in_words(one),
        _joined(finding.readings),
        _joined(finding.bounds),
        _joined(finding.rests_on),
        _joined(finding.documents),
        finding.evidence_until,
    )


def in_words(one: Judged) -> str:
    """Return the arithmetic of a claim, and whether what it was computed from holds."""
    text = one.finding.arithmetic
    if one.standing in (INPUT_FAILED, INPUT_OPEN):
        text += f"; {one.standing} ({', '.join(one.finding.rests_on)})"
    return text


def is_green(one: Judged) -> bool:
    """Return whether nothing speaks against a claim: no verdict, and no claim that it rests on."""
    return one.standing == one.standing_today == "consistent" and one.finding.verdict not in FAILED


def _joined(texts: Sequence[str]) -> str | None:
    return SEPARATOR.join(texts) or None


def _audit_rows(con: duckdb.DuckDBPyConnection) -> list[Row]:
    return [audit_row(one) for one in audit(con, claims.shipped())[0]]


def _contradiction_rows(con: duckdb.DuckDBPyConnection) -> list[Row]:
    found = con.execute("select claim_id, verdict, decided_by, recomputed_value from int.claim_audit").fetchall()
    verdicts = {name: (verdict, basis, value) for name, verdict, basis, value in found}
    return contradictions(claims.shipped(), verdicts, Evidence(con, claims.shipped()))


TABLES = (
    Computed(
        "claim_audit", "One published number and whether it holds, on its date and today", AUDIT_COLUMNS, _audit_rows
    ),
    Computed(
        "claim_contradiction", "Two texts that say different things of one quantity", COLUMNS, _contradiction_rows
    ),
)
"""In order of creation, after all marts of SQL."""
