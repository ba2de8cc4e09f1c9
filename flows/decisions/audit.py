"""Claims held against a published file: the shipped ones, or those of a CSV."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb

from flows.shared import user_file
from transform.audit.judge import Judged
from transform.audit.tables import audit, in_words
from warehouse.errors import SettingsError
from warehouse.reference import claims
from warehouse.reference.claims import Claim


def read(file: Path | None, article: str | None) -> list[Claim]:
    """Return the claims of a CSV, or the shipped ones; of one text where it is named. Raises ChipledgerError."""
    found = claims.read_table(user_file.table(file)) if file else list(claims.shipped())
    if article is None:
        return found
    words = article.casefold()
    chosen = [claim for claim in found if words in claim.article.casefold() or words in (claim.title or "").casefold()]
    if not chosen:
        names = ", ".join(sorted({claim.article for claim in found}))
        raise SettingsError("no claim is of such a text", field="article", value=article, hint=f"There are: {names}")
    return chosen


def judged(published: Path, supplied: Sequence[Claim]) -> list[Judged]:
    """Return the verdict on each claim by a published file."""
    with duckdb.connect(str(published), read_only=True) as con:
        return audit(con, supplied)[0]


def as_object(one: Judged) -> dict[str, object]:
    """Return what --json prints of a claim."""
    return {
        "claim_id": one.claim.claim_id,
        "verdict": one.verdict,
        "verdict_today": one.verdict_today,
        "recomputed_value": one.finding.recomputed,
        "arithmetic": in_words(one),
    }


def as_line(one: Judged) -> dict[str, object]:
    """Return what a table for people shows of a claim."""
    return {
        "claim": one.claim.claim_id,
        "subject": one.claim.subject_text,
        "metric": one.claim.metric,
        "claimed": f"{one.claim.figure} {one.claim.unit}",
        "then": one.verdict,
        "today": one.standing_today,
        "why": in_words(one),
    }


def counted(found: Sequence[Judged]) -> str:
    """Return how many claims stand how, on their dates and today."""
    then = Counter(one.verdict for one in found)
    today = Counter(one.standing_today for one in found)
    return "\n".join(
        f"{name}: {then[name]} on its date, {today[name]} today"
        for name in sorted({*then, *today}, key=lambda name: -then[name])
    )
