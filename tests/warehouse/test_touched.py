"""Of each rule that tells which offers were touched, a history in which an offer would else be taken over wrongly."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from few_marts import undescribed
from log_days import told
from looks import Row, look, row
from two_files import chip, dated, differences, n_amended, put

from warehouse.log import db
from warehouse.log.parsed import ParsedFetch


@pytest.fixture(autouse=True)
def always() -> Iterator[None]:
    """Leave out comments: they are tested elsewhere."""
    with undescribed():
        yield


@dataclass(frozen=True, kw_only=True)
class Case:
    """Looks that are published, those that come after, and what a question finds of an offer in either file."""

    before: tuple[ParsedFetch, ...]
    after: tuple[ParsedFetch, ...]
    asked: str
    found: tuple[Any, Any]
    first: float = 3.5
    second: float = 4.5


def imported(
    at: float, *rows: Row, days: tuple[float, ...], source: str = "import:a", scope: str = "one file"
) -> ParsedFetch:
    """Return a look at an imported history, whose rows are of the days given."""
    made = look(at, *rows, source=source, scope=scope, complete=False, archived=True, document=f"{source} {at}")
    return dated(made, *days)


def pages(at: float, *rows: Row, scope: str = "nebius", source: str = "nebius", **others: Any) -> ParsedFetch:
    return look(at, *rows, scope=scope, source=source, **others)


H100, A100 = "H100", "A100 SXM"
OLD, BACK = 1.25, 12.25
GAP = (
    "select count(*) filter (where i.is_link_start) from int.price_index_item as i "
    "inner join core.offer as o using (offer_id) where o.accelerator_label = 'NVIDIA H100'"
)
KIND = (
    "select string_agg(c.change_kind, ' ' order by c.observed_at) from int.price_change as c "
    "inner join core.offer as o using (offer_id) where {}"
)
SEEN = (
    "select string_agg((h.last_observed_at::DATE - DATE '2026-01-01')::VARCHAR, ' ' order by h.valid_from) "
    "from int.price_history as h inner join core.offer as o using (offer_id) where {}"
)

HISTORY = (
    imported(BACK, chip(H100, "2"), chip(A100, "1"), days=(OLD, OLD)),
    imported(BACK + 0.1, chip(H100, "2.1"), chip(A100, "1"), days=(BACK, BACK)),
)
AN_IMPORTS_SILENCE = Case(
    before=HISTORY,
    after=(imported(BACK + 0.5, chip(A100, "1"), days=(3.25,), scope="another file"),),
    asked=GAP, found=(1, 2), first=13.5, second=14.5,
)  # fmt: skip
"""An import tells, of a day nine days before the price of one chip moved, the price of another alone."""

CHANGES = tuple(
    imported(BACK + number / 10, chip(name, price), days=(at,), source="import:changes")
    for number, (name, price, at) in enumerate(((H100, "2", OLD), (A100, "1", 3.25), (H100, "2.1", BACK)))
)
A_LIST_OF_CHANGES = Case(
    before=CHANGES,
    after=tuple(
        imported(BACK + at, chip("L40S", "1", service_provider_name="Foundry"), days=(BACK + at,),
                 source="import:changes", scope="another file")
        for at in (0.5, 0.7)
    ),
    asked=GAP, found=(1, 2), first=13.5, second=14.5,
)  # fmt: skip
"""An import that never told a price twice does, of another provider: its silence was no price that held."""

ANOTHER_COLUMN = Case(
    before=tuple(pages(at, chip(H100, "2"), chip(H100, "1", purchase_option="spot")) for at in (0.25, 2.25)),
    after=(pages(3.75, chip(H100, "1"), chip(H100, "1", purchase_option="spot")),),
    asked=KIND.format("o.purchase_option = 'on_demand'"), found=(None, "suspected_error"),
)  # fmt: skip
"""A price becomes what the same chip costs with another option, of which nothing is new."""


def three(at: float) -> ParsedFetch:
    rows = [chip(H100, price, service_provider_name=name) for name, price in (("A", "2"), ("B", "2.1"), ("C", "2.2"))]
    return pages(at, *rows, scope="three")


OUT_OF_THE_MARKET = Case(
    before=(three(0.25), three(3.2), pages(0.25, chip(H100, "2")), pages(3.25, chip(H100, "2"))),
    after=(pages(3.75, chip(H100, "9.1"), trusted=True), three(3.8)),
    asked=KIND.format("o.service_provider_name = 'Nebius'"), found=(None, "suspected_error"),
)  # fmt: skip
"""A price moves more than fourfold, away from what three others ask, of which nothing is new."""

A_MARKETPLACE = Case(
    before=tuple(pages(at, chip(H100, price)) for at, price in ((0.25, "2"), (1.25, "2.2"), (3.25, "2.2"))),
    after=(pages(3.75, chip(A100, "1", tier="marketplace"), scope="market"),),
    asked=KIND.format("o.accelerator_label = 'NVIDIA H100'"), found=("list_change", "market_move"),
)  # fmt: skip
"""A provider shows a tier that is a marketplace: it publishes no list."""

AN_EARLIER_FIRST_LOOK = Case(
    before=(look(0.25, row("p5.48xlarge", "50")), dated(look(1.25, row("g6.xlarge", "1"), complete=False), 0.25)),
    after=(dated(look(3.75, row("p4d.24xlarge", "30"), complete=False), -3.75),),
    asked=KIND.format("o.instance_type = 'g6.xlarge'"), found=(None, "new_offer"),
)  # fmt: skip
"""A look gives a price that began before all others of its scope: what came later was new."""


def regions(at: float, scope: str, prices: list[float]) -> ParsedFetch:
    rows = [chip(H100, f"{price:.4f}", region_id=f"{scope}{number}") for number, price in enumerate(prices)]
    return pages(at, *rows, scope=scope, trusted=True)


MOVED = (1.01, 1.012, 1.014, 1.016, 1.018, 1.4)
A_MARKET_GROWS = Case(
    before=(
        regions(0.25, "one", [2.0] * 6), regions(0.25, "two", [2.0] * 6),
        *(regions(at, "one", [2 * each + at / 100 for each in MOVED]) for at in (1.25, 2.25, 3.25, 4.25)),
        *(regions(at, "two", [2 * 1.38 + at / 100 + each / 10 for each in MOVED]) for at in (1.25, 2.25, 3.25)),
        regions(5.25, "two", [2 * 1.38 + 3.25 / 100 + each / 10 for each in MOVED]),
    ),
    after=(regions(10.25, "two", [3 + each / 10 for each in MOVED]),),
    asked="select bool_or(i.is_cut) from int.price_index_item as i inner join core.offer as o using (offer_id) "
    "where o.region_id = 'one5' and i.index_date = DATE '2026-01-02'", found=(True, False), first=5.5, second=10.5,
)  # fmt: skip
"""Prices that move so often that they are a market's moved with one that was cut for moving alone."""

AN_EARLIER_SIGHTING = Case(
    before=(look(0.25, row("g6.xlarge", "1")), look(2.25, row("g6.xlarge", "1.1"))),
    after=(dated(look(3.75, row("g6.xlarge", "1"), complete=False), 1.25),),
    asked=SEEN.format("o.instance_type = 'g6.xlarge'"), found=("0 2", "1 2"),
)  # fmt: skip
"""A look gives a price of a day before the last one began, at which it still held."""

A_LATER_REFUSAL = Case(
    before=(look(0.25, row("g6.xlarge", "1")), look(1.25, row("g6.xlarge", "1")),
            look(2.25, row("g6.xlarge", "1.1"), scope="b")),
    after=(look(3.75, row("g6.xlarge", "900"), scope="b"),),
    asked=SEEN.format("o.instance_type = 'g6.xlarge'"), found=("1 2", "0 2"),
)  # fmt: skip
"""An offer is refused for the first time, in another scope than where it was first seen."""

A_DAY_AFTER_SPOT_MOVED = Case(
    before=(look(2.25, row("g6.xlarge", "1", purchase_option="spot")),
            look(3.45, row("g6.xlarge", "1.2", purchase_option="spot"))),
    after=(),
    asked="select max(i.index_date)::VARCHAR from int.price_index_item as i "
    "inner join core.offer as o using (offer_id) where o.instance_type = 'g6.xlarge'",
    found=("2026-01-04", "2026-01-05"),
)  # fmt: skip
"""Nobody looked: the mean of a day on which a spot price moved is not that of the next."""

CONFIRMED_A_DAY_AFTER_SPOT_MOVED = Case(
    before=tuple(look(at, row("g6.xlarge", price, purchase_option="spot"))
                 for at, price in ((2.25, "1"), (3.1, "1.2"), (3.4, "1.2"))),
    after=(look(4.25, row("g6.xlarge", "1.2", purchase_option="spot")),),
    asked=A_DAY_AFTER_SPOT_MOVED.asked, found=A_DAY_AFTER_SPOT_MOVED.found,
)  # fmt: skip
"""A fetch does no more than confirm the price, and yet the day has a row of its own."""

SEEN_AGAIN_AFTER_NINETY_DAYS = Case(
    before=(look(0.25, row("g6.xlarge", "1")), look(1.25, row("g6.xlarge", "1"))),
    after=(look(95.25, row("g6.xlarge", "1")),),
    asked="select string_agg(h.valid_from::DATE::VARCHAR, ' ' order by h.valid_from) "
    "from int.option_price_history as h", found=("2026-01-01 2026-04-02", "2026-01-01"), first=94.5, second=95.5,
)  # fmt: skip
"""A price that nobody had confirmed for longer than is ranked had held all the while."""

CASES = {name: case for name, case in list(globals().items()) if isinstance(case, Case)}


@pytest.mark.parametrize("name", CASES)
def test_what_may_differ_is_made_anew(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    with db.writer(tmp_path / "writer") as con:
        for each in case.before:
            told(con, each, learnt=case.first - 0.1)
        found = [ask(put(con, tmp_path / "daily", case.first), case.asked)]
        for each in case.after:
            told(con, each, learnt=case.second - 0.1)
        file = put(con, tmp_path / "daily", case.second)
        found.append(ask(file, case.asked))
        assert (n_amended(file), tuple(found)) == (1, case.found)
        assert differences(file, put(con, tmp_path / "once", case.second)) == {}


@pytest.mark.parametrize("table", ["log.sighting", "core.quarantine"])
def test_what_a_log_has_no_more_is_not_taken_over(tmp_path: Path, table: str) -> None:
    """The log was made again and lacks what the file before rests on."""
    looks = (
        look(0.25, row("g6.xlarge", "1")),
        look(1.25, row("g6.xlarge", "1"), complete=False),
        look(1.5, row("g6.xlarge", "900")),
        look(2.25, row("g6.xlarge", "1.1")),
    )
    with db.writer(tmp_path / "writer") as con:
        for each in looks:
            told(con, each, learnt=3.4)
        put(con, tmp_path / "daily", 3.5)
        con.execute(f"delete from {table}")
        file = put(con, tmp_path / "daily", 4.5)
        assert n_amended(file) == 0
        assert differences(file, put(con, tmp_path / "once", 4.5)) == {}


def ask(file: Path, question: str) -> Any:
    with duckdb.connect(str(file), read_only=True) as con:
        (found,) = con.execute(question).fetchone() or (None,)
    return found
