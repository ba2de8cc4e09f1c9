"""The history gate: a live list price outside [0.5, 2] times its last value waits until it is confirmed or settled."""

from collections.abc import Sequence

import duckdb
import pytest
from looks import Read, Row, at_once, day, history, look, memory, refused, row

from warehouse.log import moves
from warehouse.log.load import decide, load
from warehouse.log.parsed import ParsedFetch
from warehouse.log.quarantine import listed

P5 = "p5.48xlarge"
OTHER = {"service_provider_name": "Other", "accelerator_label": "NVIDIA H100 SXM", "accelerator_count": "1000"}
OTHERS = [row("p4d.24xlarge", "21.96"), row("p3.2xlarge", "3.06"), row("g6.xlarge", "0.8048")]


def shown(at: float, price: str, *, where: str = "a", document: str = "", **others: object) -> ParsedFetch:
    """Return a live look at a scope, and region, with P5 at a price, among others that never change."""
    return look(at, row(P5, price, region_id=where, **others), *OTHERS, scope=where, document=document)


def p5(con: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    """Return the intervals of P5: first, last and confirmed day, price."""
    return [line[1:] for line in history(con) if line[0] == P5]


def p5_of(read: Read, where: str) -> list[tuple[object, ...]]:
    """Return the intervals of P5 in a region."""
    return [line[1:] for line in read.history(where) if line[0] == P5]


def told(con: duckdb.DuckDBPyConnection, *looks: ParsedFetch) -> None:
    for each in looks:
        load(con, [each], recorded_at=each.observed_at)


def waiting(where: str, document: str) -> list[ParsedFetch]:
    """Return looks of which those from the second on show a jump, for nineteen hours."""
    return [
        shown(0, "10", where=where),
        *(shown(at, "30", where=where, document=document) for at in (1, 1.01, 43 / 24)),
    ]


def prices(where: str, *told: str, **others: object) -> list[ParsedFetch]:
    """Return a look a day with prices of P5."""
    return [shown(at, price, where=where, **others) for at, price in enumerate(told)]


TERM = {
    "purchase_option": "reserved", "commitment_term_hours": 8760, "offering_class": "standard",
    "purchase_payment_model": "Partial Upfront",
}  # fmt: skip
STORIES = (
    *waiting("nineteen", ""), *waiting("nineteen v2", "nineteen v2"),
    *waiting("twenty", ""), shown(44 / 24, "30", where="twenty"),
    *waiting("twenty v2", "v2"), shown(44 / 24, "30", where="twenty v2", document="v2"),
    *prices("another source", "10", "30"), look(0.9, row(P5, "30", region_id="another source"), source="another"),
    *prices("not repeated", "10", "30", "10"),
    *prices("a second jump", "10", "30", "25", "25"),
    *prices("gone", "10", "30"), look(2, *OTHERS, scope="gone"),
    shown(0, "10", where="trusted"),
    look(1, row(P5, "300", region_id="trusted"), *OTHERS, complete=False, trusted=True, scope="trusted"),
    *prices("spot", "10", "30", purchase_option="spot"),
    *prices("contracted", "10", "30", unit_price_type="Contracted", contract_id="c"),
    shown(0, "6.8", where="fee", upfront_price="59000", **TERM),
    shown(1, "6.8", where="fee", upfront_price="5900", **TERM),
    look(0, *OTHERS, scope="new"), shown(1, "30", where="new"),
    *prices("confirmed", "10", "30", "30"),
)  # fmt: skip
"""What is seen, each in a scope and region of its own."""


@pytest.fixture(scope="module")
def reads() -> tuple[Read, Read]:
    """Return what a log says of the stories, loaded as they were seen; the second as of 2 January, noon."""
    with memory() as con:
        for moment, together in at_once(sorted(STORIES, key=lambda each: each.observed_at)):
            load(con, together, recorded_at=moment)
        return Read(con), Read(con, "2026-01-02 12:00")


@pytest.fixture
def log(reads: tuple[Read, Read]) -> Read:
    """Return what a log says of the stories."""
    return reads[0]


def test_a_jump_waits() -> None:
    """Half and twice the last price pass; a hair more waits, and the last price holds unconfirmed meanwhile."""
    prices = {"4.9999": "10.0", "5": "5.0", "20": "20.0", "20.0001": "10.0"}
    with memory() as con:
        for at in (0, 1):
            looks = [
                look(at, row(P5, price if at else "10", region_id=price), *OTHERS, scope=price) for price in prices
            ]
            load(con, looks, recorded_at=day(at))

        assert {price: _standing(con, price) for price in prices} == prices
        assert {(gate, field) for gate, field, _ in refused(con)} == {("history", "unit_price")}
        assert sorted(reason for _, _, reason in refused(con)) == [
            f"{times} times the last price, 10; waits for confirmation 20 hours later" for times in ("0.5", "2")
        ]
        assert ("p3.2xlarge", 0, None, 1, "3.06") in history(con)


def _standing(con: duckdb.DuckDBPyConnection, region: str) -> str:
    """Return the price of P5 in a region that is in force."""
    ((price,),) = con.execute(
        "select unit_price::VARCHAR::DOUBLE::VARCHAR from core.price_known_at(TIMESTAMP '9999-01-01') "
        "inner join core.offer using (offer_id) where region_id = ? and valid_to is null",
        [region],
    ).fetchall()
    return str(price)


@pytest.mark.parametrize("document", ["", " v2"])
def test_a_second_fetch_confirms_a_jump_after_twenty_hours(log: Read, document: str) -> None:
    """What a fetch shows still, 20 hours later, is let in from its first sighting; 19 hours count as one more wait.

    So it is whatever the bytes: an answer with a stock count in it is another document within minutes.
    """
    early, late = f"nineteen{document}", f"twenty{document}"

    assert p5_of(log, early) == [(0, None, 0, "10.0")]
    assert len(log.refused(early)) == 3
    assert p5_of(log, late) == [(0, 1, 0, "10.0"), (1, None, 44 / 24, "30.0")]
    assert log.refused(late) == []
    assert {("accept", "confirmed by a later observation")} == set(log.settled(late))


def test_a_move_by_the_number_of_chips_waits_for_a_person() -> None:
    """Alone in its answer, a machine of two chips whose price doubles or halves may be one of a chip, or of a node."""
    moves = {("2", "20.02"): "10.01", ("2", "5.01"): "10.01", ("2", "19.75"): "19.75", ("1", "20.02"): "20.02"}
    with memory() as con:
        for at in range(4):
            looks = [
                look(
                    at, row(P5, price if at else "10.01", region_id=f"{chips} {price}", accelerator_count=chips),
                    *OTHERS, scope=f"{chips} {price}",
                )
                for chips, price in moves
            ]  # fmt: skip
            load(con, looks, recorded_at=day(at))

        assert {move: _standing(con, " ".join(move)) for move in moves} == moves
        assert len(refused(con)) == 6
        assert all("its number of chips; waits for a person" in reason for _, _, reason in refused(con))


@pytest.mark.parametrize("last", [3, pytest.param(29, marks=pytest.mark.prove)])
def test_a_move_beyond_three_waits_for_a_person(last: int) -> None:
    """It is a mistake of unit or count as often as a price, and it repeats itself: in the long form for weeks."""
    with memory() as con:
        told(con, shown(0, "10"), *(shown(number, "30.01") for number in range(1, last + 1)))

        assert p5(con) == [(0, None, 0, "10.0")]
        assert {each[2] for each in refused(con)} == {"3 times the last price, 10; waits for a person"}

        decide(con, listed(con)[0].quarantine_id, "accept", decided_by="a person", recorded_at=day(30))

        assert p5(con) == [(0, 1, 0, "10.0"), (1, None, last, "30.01")]
        assert refused(con) == []


def test_another_source_confirms_a_jump(log: Read) -> None:
    """Where a second source has the price already, it need not wait."""
    assert log.refused("another source") == []
    assert p5_of(log, "another source") == [(0, 1, 0, "10.0"), (0.9, None, 0.9, "30.0"), (1, None, 1, "30.0")]


def test_a_jump_that_is_not_repeated_is_refused(log: Read) -> None:
    """The next document shows the old price: the jump never was, and the old price was never interrupted."""
    assert p5_of(log, "not repeated") == [(0, None, 2, "10.0")]
    assert log.settled("not repeated") == [("refuse", "the next observation differs")]


def test_a_second_jump_waits_anew(log: Read) -> None:
    """Another price than the one that waits settles the first and waits itself."""
    assert p5_of(log, "a second jump") == [(0, 2, 0, "10.0"), (2, None, 3, "25.0")]
    assert log.refused("a second jump") == []


def test_an_offer_that_goes_while_its_price_waits_is_gone(log: Read) -> None:
    """A complete look without the offer says that it is gone; what waited can still be settled."""
    assert p5_of(log, "gone") == [(0, 2, 0, "10.0")]
    assert len(log.refused("gone")) == 1


def test_trusted_prices_pass(log: Read) -> None:
    """A person vouches for a trusted fetch: nothing waits."""
    assert log.refused("trusted") == []
    assert p5_of(log, "trusted") == [(0, 1, 0, "10.0"), (1, None, 1, "300.0")]


@pytest.mark.parametrize("together", [True, False])
def test_past_prices_wait_as_live_ones(together: bool) -> None:
    """A price of an archive is compared with the one before it at that time, and confirmed by what follows it there."""
    past = [
        look(at, row(P5, price, region_id="a"), source="past", complete=False, archived=True)
        for at, price in [(10, "10"), (11, "30"), (12, "30"), (13, "12"), (14, "29"), (15, "100")]
    ]
    with memory() as con:
        told(con, shown(0, "7"), shown(40, "7"))
        if together:
            load(con, past, recorded_at=day(41))
        else:
            told(con, *past)

        assert p5(con) == [(0, None, 40, "7.0"), (10, 11, 10, "10.0"), (11, 14, 12, "30.0"), (14, None, 14, "29.0")]
        assert [reason for _, _, reason in refused(con)] == ["3.45 times the last price, 29; waits for a person"]


@pytest.mark.parametrize("where", ["spot", "contracted"])
def test_spot_prices_pass(log: Read, where: str) -> None:
    """Spot moves: only list prices wait. A contracted price passes too."""
    assert log.refused(where) == []
    assert p5_of(log, where) == [(0, 1, 0, "10.0"), (1, None, 1, "30.0")]


def test_the_upfront_fee_waits_too(log: Read) -> None:
    """A fee that jumps waits, under its own name, though the hourly price is as before."""
    assert [line[:2] for line in log.refused("fee")] == [("history", "upfront_price")]


def test_a_person_lets_a_price_in_at_its_first_sighting() -> None:
    """`accept` dates the price from the look that first showed it, however often it was seen waiting."""
    with memory() as con:
        told(con, shown(0, "10"), shown(1, "30", document="v2"), shown(1.5, "30", document="v2"))
        first = listed(con)[0]
        decide(con, first.quarantine_id, "accept", decided_by="a person", recorded_at=day(1.6))

        assert p5(con) == [(0, 1, 0, "10.0"), (1, None, 1.5, "30.0")]
        assert refused(con) == []

        told(con, shown(1.7, "30", document="v2"))

        assert p5(con) == [(0, 1, 0, "10.0"), (1, None, 1.7, "30.0")]


def test_a_person_refuses_a_price_for_good() -> None:
    """`refuse` settles every sighting of the price in that document: the old price holds, and nothing waits."""
    with memory() as con:
        told(con, shown(0, "10"), shown(1, "30", document="v2"), shown(1.5, "30", document="v2"))
        decide(con, listed(con)[0].quarantine_id, "refuse", decided_by="a person", recorded_at=day(1.6))

        assert refused(con) == []
        assert p5(con) == [(0, None, 0, "10.0")]

        told(con, shown(2.5, "30", document="v2"), shown(3.5, "30", document="v2"))

        assert p5(con) == [(0, None, 0, "10.0")]

        told(con, shown(4.5, "10", document="v3"))

        assert p5(con) == [(0, None, 4.5, "10.0")]


def test_a_new_offer_has_no_last_price_to_jump_from(log: Read) -> None:
    """A first price is compared with nothing."""
    assert p5_of(log, "new") == [(1, None, 1, "30.0")]


def test_a_decision_on_a_settled_row_is_refused() -> None:
    """A row is settled once; an unknown one is named."""
    from warehouse.errors import ChipledgerError

    with memory() as con:
        told(con, shown(0, "10"), shown(1, "30"))
        number = listed(con)[0].quarantine_id
        decide(con, number, "refuse", decided_by="a person", recorded_at=day(2))

        with pytest.raises(ChipledgerError, match="already resolved: refuse, by a person"):
            decide(con, number, "accept", decided_by="a person", recorded_at=day(3))
        with pytest.raises(ChipledgerError, match="no such row"):
            decide(con, 1, "accept", decided_by="a person", recorded_at=day(3))


def test_what_breaks_a_rule_of_the_row_gate_cannot_be_accepted() -> None:
    """Nobody can let a price in that the log cannot hold."""
    from warehouse.errors import ChipledgerError

    spoilt: Row = row("p5.48xlarge", "55.000000000001")
    with memory() as con:
        told(con, look(0, spoilt, *OTHERS))

        with pytest.raises(ChipledgerError, match="cannot be accepted: not an amount of at most ten decimals"):
            decide(con, listed(con)[0].quarantine_id, "accept", decided_by="a person", recorded_at=day(1))
        assert len(refused(con)) == 1


def test_what_was_known_while_a_price_waited(reads: tuple[Read, Read]) -> None:
    """A confirmation changes what is known now; as of the days between, the price still waits."""
    assert p5_of(reads[1], "confirmed") == [(0, None, 0, "10.0")]
    assert p5_of(reads[0], "confirmed") == [(0, 1, 0, "10.0"), (1, None, 2, "30.0")]


def test_thousands_of_moves_are_judged_in_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by a factor of its own: all wait, and the search for common factors ends after a hundred."""
    passes = 0

    def counted(spans: Sequence[object]) -> tuple[float, float]:
        nonlocal passes
        passes += 1
        return common(spans)

    common = moves.common
    monkeypatch.setattr(moves, "common", counted)
    many = range(2000)
    with memory() as con:
        told(con, look(0, *(row(f"m{n}", "1000.0000", **OTHER) for n in many)))
        told(con, look(1, *(row(f"m{n}", f"{3100 + n * 0.9137:.4f}", **OTHER) for n in many)))

        assert len(refused(con)) == 2000
    assert 0 < passes <= moves.MAX_FACTORS
