"""The log under any sequence of looks, decisions, repetitions and restarts: what always holds, whatever came before."""

import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from looks import day, look, row

from warehouse.errors import ChipledgerError
from warehouse.log import db
from warehouse.log.load import decide, load
from warehouse.log.parsed import ParsedFetch
from warehouse.log.quarantine import listed

MACHINES = ("p9.one", "p9.two", "p9.three")
ANCHOR = row("p9.anchor", "7")
PRICE = st.sampled_from(["1", "1.1", "1.2", "3", "0", "-1", "x", "0.00000000001", "1.10"])
"""Steps that pass, jumps that wait, and what the row gate refuses."""
TOLD = st.dictionaries(st.sampled_from(MACHINES), PRICE, max_size=3)
INTERVALS = (
    "select offer_id, p.source, valid_from, valid_to, unit_price from core.price_known_at('9999-01-01'::TIMESTAMP) as p "  # noqa: E501
    "order by all"
)
Step = tuple[str, object, float]


class Log(RuleBasedStateMachine):
    """A writer's file, all that was done to it, and what each step must leave true."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "build.duckdb"
        self.open = db.open_build(self.path)
        self.con = self.open.__enter__()
        self.clock, self.done = 100.0, list[Step]()
        self.looks: list[ParsedFetch] = []

    def teardown(self) -> None:
        self.open.__exit__(None, None, None)
        self.folder.cleanup()

    def put(self, *given: ParsedFetch) -> None:
        self.clock += 1
        results = load(self.con, given, recorded_at=day(self.clock))
        self.done.append(("load", given, self.clock))
        by_key = {(one.scope, one.observed_at, one.archived): one for one in given}
        for result in results:
            one = next(one for key, one in by_key.items() if key[:2] == (result.scope, result.observed_at))
            if result.status == "ok":  # nothing vanishes
                assert result.n_rows + result.n_refused == one.rows.height, result
        self.looks += given

    @rule(at=st.integers(0, 30), told=TOLD, archived=st.booleans())
    def see(self, at: int, told: dict[str, str], archived: bool) -> None:
        rows = [ANCHOR, *(row(name, price) for name, price in sorted(told.items()))]
        moment = at + (0.5 if archived else 0)
        self.put(look(moment, *rows, complete=not archived, archived=archived, document=f"{moment} {told}"))

    @rule(at=st.integers(0, 30))
    def fail(self, at: int) -> None:
        before = self.con.execute(INTERVALS).fetchall()
        self.put(look(at + 0.25, error="HTTP 500", complete=False))
        assert self.con.execute(INTERVALS).fetchall() == before  # who saw nothing says nothing

    @rule(data=st.data())
    def again(self, data: st.DataObject) -> None:
        if self.looks:
            before = self.con.execute("select count(*) from core.price_event").fetchall()
            one = data.draw(st.sampled_from(self.looks))
            load(self.con, [one, one], recorded_at=day(self.clock + 0.5))
            assert self.con.execute("select count(*) from core.price_event").fetchall() == before

    @rule(data=st.data(), decision=st.sampled_from(["accept", "refuse"]))
    def settle(self, data: st.DataObject, decision: str) -> None:
        waiting = listed(self.con)
        if not waiting:
            return
        chosen = data.draw(st.sampled_from([each.quarantine_id for each in waiting]))
        self.clock += 1
        try:
            decide(self.con, chosen, decision, decided_by="me", recorded_at=day(self.clock))
        except ChipledgerError:  # a row that breaks a rule of the row gate: nobody can accept it
            assert decision == "accept"
            assert chosen in {each.quarantine_id for each in listed(self.con)}
        else:
            self.done.append(("decide", (chosen, decision), self.clock))
            assert chosen not in {each.quarantine_id for each in listed(self.con)}

    @rule()
    def restart(self) -> None:
        before = self.con.execute(INTERVALS).fetchall()
        self.open.__exit__(None, None, None)
        self.open = db.open_build(self.path)
        self.con = self.open.__enter__()
        assert self.con.execute(INTERVALS).fetchall() == before

    @rule()
    def rebuild(self) -> None:
        """The same steps from nothing give the same intervals and the same open rows."""
        with tempfile.TemporaryDirectory() as folder, db.open_build(Path(folder) / "build.duckdb") as con:
            for kind, what, at in self.done:
                if kind == "load":
                    load(con, what, recorded_at=day(at))  # type: ignore[arg-type]
                else:
                    chosen, decision = what  # type: ignore[misc]
                    decide(con, chosen, decision, decided_by="me", recorded_at=day(at))
            assert con.execute(INTERVALS).fetchall() == self.con.execute(INTERVALS).fetchall()
            assert {each.quarantine_id for each in listed(con)} == {each.quarantine_id for each in listed(self.con)}

    @invariant()
    def intervals_are_whole(self) -> None:
        by_offer = defaultdict(list)
        for offer, source, start, end, price in self.con.execute(INTERVALS).fetchall():
            assert end is None or start < end
            assert price is not None
            assert price > 0
            by_offer[offer, source].append((start, end))
        for found in by_offer.values():
            assert all(end is not None and end <= start for (_, end), (start, _) in pairwise(found))

    @invariant()
    def only_prices_that_were_told(self) -> None:
        told = {price for one in self.looks for price in one.rows["unit_price"]}
        from decimal import Decimal, InvalidOperation

        numbers = set()
        for price in told:
            try:
                numbers.add(Decimal(price))
            except InvalidOperation:
                continue
        assert {line[-1] for line in self.con.execute(INTERVALS).fetchall()} <= numbers


def proved(examples: int, steps: int) -> None:
    """Run the machine."""
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Log, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None,
                               suppress_health_check=list(HealthCheck)),
    )  # fmt: skip


def test_what_always_holds_of_the_log() -> None:
    """No price that nobody told, no interval in another, none lost, whatever is done in whatever order."""
    proved(2, 8)


@pytest.mark.prove
@pytest.mark.timeout(3600)
def test_what_always_holds_of_the_log_at_length() -> None:
    """The same over hundreds of histories."""
    proved(40, 15)


def test_every_row_is_accepted_or_refused() -> None:
    """Of five rows two are no prices: all five are accounted for, before and after the decision."""
    log = Log()
    try:
        told = [row(name, price) for name, price in zip(MACHINES, ("1", "0", "x"), strict=True)]
        log.put(look(0, ANCHOR, *told, row("p9.four", "2")))
        assert sorted(each.value for each in listed(log.con)) == ["0", "x"]
        log.rebuild()
        log.intervals_are_whole()
        log.only_prices_that_were_told()
    finally:
        log.teardown()
