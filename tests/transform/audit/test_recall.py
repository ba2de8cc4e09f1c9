"""Claims that nobody has seen: which share of planted faults is found, by kind, and that what holds is let alone."""

from collections import Counter

import planted_claims as planted
import pytest

KINDS = ("physically_impossible", "stale", "inconsistent")


@pytest.fixture(scope="module")
def told(audited, tmp_path_factory):
    """Return each planted claim with its finding."""
    import duckdb

    from transform.audit.tables import audit
    from warehouse.reference import claims

    with duckdb.connect(str(audited), read_only=True) as con:
        texts = [[one] for made in (planted.bounds(), planted.history(con), planted.figures(con)) for one in made]
        texts += planted.arithmetic()
        lines = [(f"c{a}-{b},t{a},{one.line}", one) for a, text in enumerate(texts) for b, one in enumerate(text)]
        file = tmp_path_factory.mktemp("planted") / "claims.csv"
        header = "claim_id,article,subject,metric,value,low,high,unit,conditions,as_of"
        file.write_text("\n".join([header, *(line for line, _ in lines)]) + "\n", encoding="utf-8")
        found = audit(con, claims.read_table(file))[0]
    return [(one, judged) for (_, one), judged in zip(lines, found, strict=True)]


def test_every_planted_fault_is_found(told):
    """Of at least 200 planted faults, each kind is found wholly, on its date and today."""
    planted_of, found_of = Counter(), Counter()
    for one, judged in told:
        if one.then in KINDS or one.today in KINDS:
            planted_of[one.kind] += 1
            found_of[one.kind] += (judged.finding.verdict, judged.finding.verdict_today) == (one.then, one.today)
    shares = {kind: found_of[kind] / count for kind, count in planted_of.items()}
    print("\n".join(f"{kind}: {found_of[kind]} of {count} found" for kind, count in planted_of.items()))
    assert shares == dict.fromkeys(planted_of, 1.0)
    verdicts = Counter(one.today for one, _ in told)
    assert sum(planted_of.values()) >= 300
    assert all(verdicts[kind] >= 40 for kind in KINDS), verdicts


def test_what_holds_is_let_alone(told):
    """Published figures and right sums are consistent, and a rate within its bounds is never called impossible."""
    for one, judged in told:
        verdict = judged.finding.verdict
        if one.then == "consistent":
            assert verdict == "consistent", (one.line, judged.finding.arithmetic)
        if one.then == "possible":
            assert verdict != "physically_impossible", (one.line, judged.finding.arithmetic)


def test_nothing_that_is_decided_is_left_open(told):
    """Where a bound or the history decides, no verdict is "unverifiable", and none names nothing as what decided."""
    for one, judged in told:
        if one.then in (*KINDS, "consistent"):
            assert judged.finding.verdict != "unverifiable", one.line
            assert judged.finding.basis != "nothing", one.line


def test_impossible_ones_list_readings_and_bounds(told):
    """Whoever reads that something is impossible reads each way to understand it, and what it breaks."""
    found = [judged.finding for _, judged in told if judged.finding.verdict == "physically_impossible"]
    assert len(found) > 150
    for finding in found:
        assert finding.basis == "bound"
        assert finding.readings
        assert finding.bounds
