"""The history gate: a live list price outside [0.5, 2] times its last value waits until it is confirmed or settled."""

from collections.abc import Iterator, Sequence

import duckdb
import pytest
from looks import Read, at_once, day, history, look, memory, refused, row

from warehouse.errors import ChipledgerError
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
JUMPS = {"4.9999": "10.0", "5": "5.0", "20": "20.0", "20.0001": "10.0"}
MOVES = {("2", "20.02"): "10.01", ("2", "5.01"): "10.01", ("2", "19.75"): "19.75", ("1", "20.02"): "20.02"}
"""Prices, of so many chips, and which one stands then."""
STORIES = (
    *waiting("nineteen", ""), *waiting("nineteen v2", "nineteen v2"),
    *waiting("twenty", ""), shown(44 / 24, "30", where="twenty"),
    *waiting("twenty v2", "v2"), shown(44 / 24, "30", where="twenty v2", document="v2"),
    *prices("another source", "10", "30"), look(0.9, row(P5, "30", region_id="another source"), source="another"),
    *prices("not repeated", "10", "30", "10"),
    *prices("a second jump", "10", "30", "25", "25"),
    *prices("each day", "10", "25", "25.1", "25.2"),
    *prices("gone", "10", "30"), look(2, *OTHERS, scope="gone"),
    shown(0, "10", where="trusted"),
    look(1, row(P5, "300", region_id="trusted"), *OTHERS, complete=False, trusted=True, scope="trusted"),
    *prices("spot", "10", "30", purchase_option="spot"),
    *prices("contracted", "10", "30", unit_price_type="Contracted", contract_id="c"),
    shown(0, "6.8", where="fee", upfront_price="59000", **TERM),
    shown(1, "6.8", where="fee", upfront_price="5900", **TERM),
    look(0, *OTHERS, scope="new"), shown(1, "30", where="new"),
    *prices("confirmed", "10", "30", "30"),
    *(
        look(at, row(P5, price if at else "10", region_id=price), row("p3.2xlarge", "3.06", region_id=price), *OTHERS,
             scope=price)
        for price in JUMPS for at in (0, 1)
    ),
    *(
        each
        for chips, price in MOVES
        for each in prices(f"{chips} {price}", "10.01", price, price, price, accelerator_count=chips)
    ),
)  # fmt: skip
"""What is seen, each in a scope and region of its own."""


@pytest.fixture(scope="module")
def loaded() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a log of the stories, loaded as they were seen; read it."""
    with memory() as made:
        for moment, together in at_once(sorted(STORIES, key=lambda each: each.observed_at)):
            load(made, together, recorded_at=moment)
        yield made


@pytest.fixture(scope="module")
def log(loaded: duckdb.DuckDBPyConnection) -> Read:
    """Return what the log of the stories says."""
    return Read(loaded)


def standing(log: Read, where: str) -> str:
    """Return the price of P5 in a region that is in force."""
    return str(p5_of(log, where)[-1][-1])


def test_each_sighting_of_a_price_that_waits_is_of_its_own_fetch(loaded: duckdb.DuckDBPyConnection) -> None:
    """With its run and document, and the reason of the first."""
    kept = loaded.execute(
        "select q.observed_at, q.run_id = r.run_id, q.document_sha256 = r.document_sha256, q.reason "
        "from core.quarantine as q inner join core.scope_run as r using (source, scope, observed_at) "
        "where scope = 'nineteen' order by 1"
    ).fetchall()
    assert [row[1:3] for row in kept] == [(True, True)] * 3
    assert len({reason for *_, reason in kept}) == 1


def test_a_jump_waits(log: Read) -> None:
    """Half and twice the last price pass; a hair more waits, and the last price holds unconfirmed meanwhile."""
    assert {price: standing(log, price) for price in JUMPS} == JUMPS
    waiting = [each for price in JUMPS for each in log.refused(price)]
    assert waiting == [
        ("history", "unit_price", f"{times} times the last price, 10; waits for confirmation 20 hours later")
        for times in ("0.5", "2")
    ]
    assert log.history("20.0001") == [("p3.2xlarge", 0, None, 1, "3.06"), (P5, 0, None, 0, "10.0")]


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


def test_a_move_by_the_number_of_chips_waits_for_a_person(log: Read) -> None:
    """Alone in its answer, a machine of two chips whose price doubles or halves may be one of a chip, or of a node."""
    assert {move: standing(log, " ".join(move)) for move in MOVES} == MOVES
    waiting = [reason for move in MOVES for _, _, reason in log.refused(" ".join(move))]
    assert len(waiting) == 6
    assert all("its number of chips; waits for a person" in reason for reason in waiting)


WAITING = (
    *prices("beyond three", "10", "30.01", "30.01", "30.01"), *prices("settled", "10", "30"),
    *(shown(0, "10", where=where) for where in ("let in", "for good")),
    *(shown(at, "30", where=where, document=f"{where} v2") for where in ("let in", "for good") for at in (1, 1.5)),
    look(0, row(P5, "55.000000000001", region_id="spoilt"), *OTHERS, scope="spoilt"),
)  # fmt: skip
"""What a person decides on, each in a scope and region of its own."""


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a log of what waits for a person; each test goes on in a scope of its own."""
    with memory() as made:
        for moment, together in at_once(sorted(WAITING, key=lambda each: each.observed_at)):
            load(made, together, recorded_at=moment)
        yield made


def settle(con: duckdb.DuckDBPyConnection, where: str, decision: str, at: float) -> int:
    """Let a person decide on the first price that waits in a scope; return its number."""
    number = next(each.quarantine_id for each in listed(con) if each.scope == where)
    decide(con, number, decision, decided_by="a person", recorded_at=day(at))
    return number


@pytest.mark.parametrize("last", [3, pytest.param(29, marks=pytest.mark.prove)])
def test_a_move_beyond_three_waits_for_a_person(con: duckdb.DuckDBPyConnection, last: int) -> None:
    """It is a mistake of unit or count as often as a price, and it repeats itself: in the long form for weeks."""
    where = "beyond three"
    told(con, *(shown(number, "30.01", where=where) for number in range(4, last + 1)))

    read = Read(con)
    assert p5_of(read, where) == [(0, None, 0, "10.0")]
    assert {each[2] for each in read.refused(where)} == {"3 times the last price, 10; waits for a person"}

    settle(con, where, "accept", 30)

    read = Read(con)
    assert p5_of(read, where) == [(0, 1, 0, "10.0"), (1, None, last, "30.01")]
    assert read.refused(where) == []


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


def test_a_jump_to_a_price_that_moves_each_day_is_confirmed(log: Read) -> None:
    """Within three per cent it is the price that waited, and counts from the fetch that confirms it."""
    assert p5_of(log, "each day") == [(0, 2, 0, "10.0"), (2, 3, 2, "25.1"), (3, None, 3, "25.2")]


def test_an_offer_that_goes_while_its_price_waits_is_gone(log: Read) -> None:
    """A complete look without the offer says that it is gone; what waited can still be settled."""
    assert p5_of(log, "gone") == [(0, 2, 0, "10.0")]
    assert len(log.refused("gone")) == 1


def test_trusted_prices_pass(log: Read) -> None:
    """A person vouches for a trusted fetch: nothing waits."""
    assert log.refused("trusted") == []
    assert p5_of(log, "trusted") == [(0, 1, 0, "10.0"), (1, None, 1, "300.0")]


def test_past_prices_wait_as_live_ones() -> None:
    """A price of an archive is compared with the one before it at that time, and confirmed by what follows it there."""
    told_of = [(10, "10"), (11, "30"), (12, "30"), (13, "12"), (14, "29"), (15, "100")]
    together, singly = (
        [
            look(at, row(P5, price, region_id=where), source="past", scope=where, complete=False, archived=True)
            for at, price in told_of
        ]
        for where in ("together", "singly")
    )
    with memory() as con:
        for at in (0, 40):
            load(con, [shown(at, "7", where=where) for where in ("together", "singly")], recorded_at=day(at))
        load(con, [*together, singly[0]], recorded_at=day(41))
        told(con, *singly[1:])

        read = Read(con)
        for where in ("together", "singly"):
            assert p5_of(read, where) == [
                (0, None, 40, "7.0"), (10, 11, 10, "10.0"), (11, 14, 12, "30.0"), (14, None, 14, "29.0")
            ]  # fmt: skip
            assert [reason for _, _, reason in read.refused(where)] == [
                "3.45 times the last price, 29; waits for a person"
            ]


def test_a_history_counts_the_prices_of_its_own() -> None:
    """Few of its prices move at once, or all, for good, by one factor: what overlaps it may say when, and it again
    changes nothing."""
    copies = {"rare": (0, 2, 3), "daily": (0, 1, 2, 3), "again": (0, 1, 2, 3)}
    n_new = {
        "few": dict(zip(copies, (13 + 5, 5, 0), strict=True)),
        "all": dict(zip(copies, (4 + 4, 4, 0), strict=True)),
    }
    with memory() as con:
        for copy, days in copies.items():
            results = load(con, [each for scope in n_new for each in moving(scope, copy, days)], recorded_at=day(4))
            read = Read(con)
            for scope, expected in n_new.items():
                assert sum(result.n_events for result in results if result.scope == scope) == expected[copy]
                assert read.refused(scope) == []


def moving(scope: str, copy: str, days: tuple[int, ...]) -> list[ParsedFetch]:
    """Return a history in which few of 13 prices move after the first day, or all of four by one factor."""
    amounts = [f"{9 - at}.{at}" for at in range(5)] if scope == "few" else ["7.77"] * 4
    before = [row(P5, "10.01", region_id=f"{scope} {at}", service_provider_name=scope)
              for at in range(13 if scope == "few" else 4)]  # fmt: skip
    after = [line | {"unit_price": price} for line, price in zip(before, amounts, strict=False)] + before[
        len(amounts) :
    ]
    return [
        look(
            at, *(after if at else before), complete=False, archived=True, document=f"{scope} {copy} {at}", scope=scope
        )
        for at in days
    ]


@pytest.mark.parametrize("where", ["spot", "contracted"])
def test_spot_prices_pass(log: Read, where: str) -> None:
    """Spot moves: only list prices wait. A contracted price passes too."""
    assert log.refused(where) == []
    assert p5_of(log, where) == [(0, 1, 0, "10.0"), (1, None, 1, "30.0")]


def test_the_upfront_fee_waits_too(log: Read) -> None:
    """A fee that jumps waits, under its own name, though the hourly price is as before."""
    assert [line[:2] for line in log.refused("fee")] == [("history", "upfront_price")]


def test_a_person_lets_a_price_in_at_its_first_sighting(con: duckdb.DuckDBPyConnection) -> None:
    """`accept` dates the price from the look that first showed it, however often it was seen waiting."""
    settle(con, "let in", "accept", 1.6)

    read = Read(con)
    assert p5_of(read, "let in") == [(0, 1, 0, "10.0"), (1, None, 1.5, "30.0")]
    assert read.refused("let in") == []

    told(con, shown(1.7, "30", where="let in", document="let in v2"))

    assert p5_of(Read(con), "let in") == [(0, 1, 0, "10.0"), (1, None, 1.7, "30.0")]


def test_a_person_refuses_a_price_for_good(con: duckdb.DuckDBPyConnection) -> None:
    """`refuse` settles every sighting of the price: the old price holds, nothing waits until a look shows another."""
    settle(con, "for good", "refuse", 1.6)

    read = Read(con)
    assert read.refused("for good") == []
    assert p5_of(read, "for good") == [(0, None, 0, "10.0")]

    told(con, *(shown(at, "30", where="for good", document="for good v2") for at in (2.5, 3.5)))

    assert p5_of(Read(con), "for good") == [(0, None, 0, "10.0")]

    told(con, shown(4.5, "10", where="for good", document="for good v3"))

    read = Read(con)
    assert p5_of(read, "for good") == [(0, None, 4.5, "10.0")]
    assert read.refused("for good") == []

    told(con, shown(5.5, "30", where="for good", document="for good v4"))

    assert len(Read(con).refused("for good")) == 1


def test_a_new_offer_has_no_last_price_to_jump_from(log: Read) -> None:
    """A first price is compared with nothing."""
    assert p5_of(log, "new") == [(1, None, 1, "30.0")]


def test_a_decision_on_a_settled_row_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    """A row is settled once; an unknown one is named."""
    number = settle(con, "settled", "refuse", 2)

    with pytest.raises(ChipledgerError, match="already resolved: refuse, by a person"):
        decide(con, number, "accept", decided_by="a person", recorded_at=day(3))
    with pytest.raises(ChipledgerError, match="no such row"):
        decide(con, 1, "accept", decided_by="a person", recorded_at=day(3))


def test_what_breaks_a_rule_of_the_row_gate_cannot_be_accepted(con: duckdb.DuckDBPyConnection) -> None:
    """Nobody can let a price in that the log cannot hold."""
    with pytest.raises(ChipledgerError, match=r"cannot be accepted: no amount such as 2\.99"):
        settle(con, "spoilt", "accept", 1)
    assert len(Read(con).refused("spoilt")) == 1


def test_what_was_known_while_a_price_waited(loaded: duckdb.DuckDBPyConnection, log: Read) -> None:
    """A confirmation changes what is known now; as of the days between, the price still waits."""
    assert p5_of(Read(loaded, "2026-01-02 12:00"), "confirmed") == [(0, None, 0, "10.0")]
    assert p5_of(log, "confirmed") == [(0, 1, 0, "10.0"), (1, None, 2, "30.0")]


def test_hundreds_of_moves_are_judged_in_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by a factor of its own: all wait, and the search for common factors ends after a hundred."""
    passes = 0

    def counted(spans: Sequence[object]) -> tuple[float, float]:
        nonlocal passes
        passes += 1
        return common(spans)

    common = moves.common
    monkeypatch.setattr(moves, "common", counted)
    many = range(5 * moves.MAX_FACTORS)
    with memory() as con:
        told(con, look(0, *(row(f"m{n}", "1000.0000", **OTHER) for n in many)))
        told(con, look(1, *(row(f"m{n}", f"{3100 + n * 0.9137:.4f}", **OTHER) for n in many)))

        assert len(refused(con)) == len(many)
    assert 0 < passes <= moves.MAX_FACTORS
