"""Of each rule that tells which offers were touched, a history in which an offer would else be taken over wrongly."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from few_marts import needed
from log_days import told
from looks import Row, look, row
from two_files import chip, dated, differences, n_amended, put

from warehouse.log import db
from warehouse.log.parsed import ParsedFetch


@dataclass(frozen=True, kw_only=True)
class Case:
    """Looks that are published, those that come after, and what a question finds of an offer in either file.

    No other case is of its provider or region. `later`: how many days after those of the first cases it is published.
    """

    before: tuple[ParsedFetch, ...]
    after: tuple[ParsedFetch, ...]
    asked: str
    found: tuple[Any, Any]
    later: int = 0

    @property
    def first(self) -> float:
        return 3.5 + self.later

    @property
    def second(self) -> float:
        return 4.5 + self.later


def imported(
    at: float, *rows: Row, days: tuple[float, ...], source: str = "import:a", scope: str = "one file"
) -> ParsedFetch:
    """Return a look at an imported history, whose rows are of the days given."""
    made = look(at, *rows, source=source, scope=scope, complete=False, archived=True, document=f"{source} {at}")
    return dated(made, *days)


def of(provider: str, label: str, price: str, **others: object) -> Row:
    return chip(label, price, service_provider_name=provider, **others)


def pages(at: float, *rows: Row, **others: Any) -> ParsedFetch:
    """Return a look at the pages of the provider of the first row."""
    return look(at, *rows, **({"scope": str(rows[0]["service_provider_name"]), "source": "nebius"} | others))


def g6(
    region: str, at: float, price: str, *, scope: str = "", days: tuple[float, ...] = (), **others: Any
) -> ParsedFetch:
    """Return a look at a list, of a region or another scope, that shows one machine, of a day before where given."""
    shown = row("g6.xlarge", price, region_id=region, **others)
    made = look(at, shown, scope=scope or region, complete=not days)
    return dated(made, *days) if days else made


H100, A100 = "H100", "A100 SXM"
OLD, BACK = -8.75, 2.25
IN_REGION = "o.region_id = '{}' and o.instance_type = 'g6.xlarge'"
GAP = (
    "select count(*) filter (where i.is_link_start) from int.price_index_item as i "
    "inner join core.offer as o using (offer_id) where o.service_provider_name = '{}' "
    "and o.accelerator_label = 'NVIDIA H100'"
)
KIND = (
    "select string_agg(c.change_kind, ' ' order by c.observed_at) from int.price_change as c "
    "inner join core.offer as o using (offer_id) where {}"
)
SEEN = (
    "select string_agg((h.last_observed_at::DATE - DATE '2026-01-01')::VARCHAR, ' ' order by h.valid_from) "
    "from int.price_history as h inner join core.offer as o using (offer_id) where {}"
)

AN_IMPORTS_SILENCE = Case(
    before=(
        imported(BACK, of("Told", H100, "2"), of("Told", A100, "1"), days=(OLD, OLD)),
        imported(BACK + 0.1, of("Told", H100, "2.1"), of("Told", A100, "1"), days=(BACK, BACK)),
    ),
    after=(imported(BACK + 1.5, of("Told", A100, "1"), days=(-6.75,), scope="another file"),),
    asked=GAP.format("Told"), found=(1, 2),
)  # fmt: skip
"""An import tells, of a day nine days before the price of one chip moved, the price of another alone."""

CHANGES = tuple(
    imported(BACK + number / 10, of("Listed", name, price), days=(at,), source="import:changes")
    for number, (name, price, at) in enumerate(((H100, "2", OLD), (A100, "1", -6.75), (H100, "2.1", BACK)))
)
A_LIST_OF_CHANGES = Case(
    before=CHANGES,
    after=tuple(
        imported(BACK + at, of("Foundry", "L40S", "1"), days=(BACK + at,), source="import:changes",
                 scope="another file")
        for at in (1.5, 1.7)
    ),
    asked=GAP.format("Listed"), found=(1, 2),
)  # fmt: skip
"""An import that never told a price twice does, of another provider: its silence was no price that held."""


def both(at: float, on_demand: str) -> ParsedFetch:
    shown = of("Columns", "H200", on_demand), of("Columns", "H200", "1.25", purchase_option="spot")
    return pages(at, *shown)


ANOTHER_COLUMN = Case(
    before=tuple(both(at, "2.5") for at in (0.25, 3.47)),
    after=(both(3.75, "1.25"),),
    asked=KIND.format("o.service_provider_name = 'Columns' and o.purchase_option = 'on_demand'"),
    found=(None, "suspected_error"),
)
"""A price becomes what the same chip costs with another option, of which nothing is new."""


def three(at: float) -> ParsedFetch:
    rows = [of(name, H100, price) for name, price in (("A", "2"), ("B", "2.1"), ("C", "2.2"))]
    return pages(at, *rows, scope="three")


OUT_OF_THE_MARKET = Case(
    before=(three(0.25), three(3.47), pages(0.25, of("Out", H100, "2")), pages(3.48, of("Out", H100, "2"))),
    after=(pages(3.75, of("Out", H100, "9.1"), trusted=True), three(3.8)),
    asked=KIND.format("o.service_provider_name = 'Out'"), found=(None, "suspected_error"),
)  # fmt: skip
"""A price moves more than fourfold, away from what three others ask, of which nothing is new."""

A_MARKETPLACE = Case(
    before=tuple(pages(at, of("Hosts", H100, price)) for at, price in ((-121, "2"), (-120, "2.2"), (3.25, "2.2"))),
    after=(pages(3.75, of("Hosts", A100, "1", tier="marketplace"), scope="market"),),
    asked=KIND.format("o.service_provider_name = 'Hosts' and o.accelerator_label = 'NVIDIA H100'"),
    found=("list_change", "market_move"),
)  # fmt: skip
"""A provider shows a tier that is a marketplace: it publishes no list."""

LAST_DAY = (
    "select max(i.index_date)::VARCHAR from int.price_index_item as i "
    f"inner join core.offer as o using (offer_id) where {IN_REGION}"
)
A_DAY_AFTER_SPOT_MOVED = Case(
    before=(g6("eu-west-1", 2.25, "1", purchase_option="spot"), g6("eu-west-1", 3.45, "1.2", purchase_option="spot")),
    after=(),
    asked=LAST_DAY.format("eu-west-1"),
    found=("2026-01-04", "2026-01-05"),
)
"""Nobody looked: the mean of a day on which a spot price moved is not that of the next."""

CONFIRMED_A_DAY_AFTER_SPOT_MOVED = Case(
    before=tuple(
        g6("eu-west-2", at, price, purchase_option="spot") for at, price in ((2.25, "1"), (3.1, "1.2"), (3.48, "1.2"))
    ),
    after=(g6("eu-west-2", 4.25, "1.2", purchase_option="spot"),),
    asked=LAST_DAY.format("eu-west-2"),
    found=("2026-01-04", "2026-01-05"),
)
"""A fetch does no more than confirm the price, and yet the day has a row of its own."""


def regions(at: float, scope: str, prices: list[float]) -> ParsedFetch:
    rows = [of("Grown", H100, f"{price:.4f}", region_id=f"{scope}{number}") for number, price in enumerate(prices)]
    return pages(at, *rows, scope=scope, trusted=True, archived=at < -2)  # archived ones load at once


MOVED = (1.01, 1.012, 1.014, 1.016, 1.018, 1.4)
A_MARKET_GROWS = Case(
    before=(
        *(regions(at, scope, [price] * 6) for at, price in ((-4.75, 2.0), (-3.75, 2.01)) for scope in ("one", "two")),
        *(regions(at, "one", [2 * each + at / 100 for each in MOVED]) for at in (-2.75, -1.75, -0.75)),
        *(regions(at, "two", [2 * 1.38 + at / 100 + each / 10 for each in MOVED]) for at in (-2.75, -1.75)),
        regions(0.25, "two", [2 * 1.38 - 1.75 / 100 + each / 10 for each in MOVED]),
    ),
    after=(regions(5.25, "two", [3 + each / 10 for each in MOVED]),),
    asked="select bool_or(i.is_cut) from int.price_index_item as i inner join core.offer as o using (offer_id) "
    "where o.region_id = 'one5' and i.index_date = DATE '2025-12-29'", found=(True, False), later=2,
)  # fmt: skip
"""Moves that make others of the week before a market's: then one that was cut did not move alone."""


def hosts(at: float, prices: list[float]) -> ParsedFetch:
    rows = [of("Returned", H100, f"{price:.4f}", region_id=f"host{number}") for number, price in enumerate(prices)]
    return pages(at, *rows, of("Returned", "L40S", "1"), trusted=True)


A_MARKETPLACE_OF_RETURNED = Case(
    before=(
        hosts(-3.75, [2.0] * 6), hosts(-2.75, []), hosts(-1.75, [2 * each for each in MOVED]),
        hosts(3.25, [2 * each for each in MOVED]),
    ),
    after=(pages(3.75, of("Returned", A100, "1", tier="marketplace"), scope="market of returned"),),
    asked="select bool_or(i.is_cut) from int.price_index_item as i inner join core.offer as o using (offer_id) "
    "where o.region_id = 'host5'", found=(False, True),
)  # fmt: skip
"""A provider becomes a marketplace: of its offers that were away and came back no move is of another kind."""

AN_EARLIER_SIGHTING = Case(
    before=(g6("eu-west-3", 0.25, "1"), g6("eu-west-3", 2.25, "1.1")),
    after=(g6("eu-west-3", 5.75, "1", days=(1.25,)),),
    asked=SEEN.format(IN_REGION.format("eu-west-3")),
    found=("0 2", "1 2"),
    later=2,
)
"""A look gives a price of a day before the last one began, at which it still held."""

A_LATER_REFUSAL = Case(
    before=(
        g6("eu-north-1", 0.25, "1"), g6("eu-north-1", 1.25, "1"), g6("eu-north-1", 2.25, "1.1", scope="refusing")
    ),
    after=(g6("eu-north-1", 5.75, "900", scope="refusing"),),
    asked=SEEN.format(IN_REGION.format("eu-north-1")), found=("1 2", "0 2"), later=2,
)  # fmt: skip
"""An offer is refused for the first time, in another scope than where it was first seen."""

AN_EARLIER_FIRST_LOOK = Case(
    before=(
        look(0.25, row("p5.48xlarge", "50"), scope="first"),
        g6("us-west-2", 1.25, "1", scope="first", days=(0.25,)),
    ),
    after=(dated(look(5.75, row("p4d.24xlarge", "30"), scope="first", complete=False), -3.75),),
    asked=KIND.format(IN_REGION.format("us-west-2")),
    found=(None, "new_offer"),
    later=2,
)
"""A look gives a price that began before all others of its scope: what came later was new."""

SEEN_AGAIN_AFTER_NINETY_DAYS = Case(
    before=tuple(look(at, row("inf2.xlarge", "1"), scope="long") for at in (-88.75, -87.75)),
    after=(look(6.25, row("inf2.xlarge", "1"), scope="long"),),
    asked="select string_agg(h.valid_from::DATE::VARCHAR, ' ' order by h.valid_from) "
    "from int.option_price_history as h where h.accelerator_name = 'Inferentia2'",
    found=("2025-10-04 2026-01-03", "2025-10-04"), later=2,
)  # fmt: skip
"""A price that nobody had confirmed for longer than is ranked had held all the while."""

THREE = (H100, A100, "L40S")
SHARES = (
    "select string_agg(repriced_on || ' ' || repricing_share, ', ' order by repriced_on) from int.repricing "
    "where service_provider_name = '{}'"
)
REPRICED_AND_BACK = Case(
    before=tuple(
        pages(at, *(of("Undone", name, price) for name in THREE))
        for at, price in ((0.25, "2"), (1.25, "3"), (3.25, "3"))
    ),
    after=(pages(3.75, *(of("Undone", name, "2") for name in THREE)),),
    asked=SHARES.format("Undone"),
    found=("2026-01-02 1.0", None),
)
"""A list of prices that moved, and was seen to hold, goes back: that day was a correction."""

THREE_OF_A_LIST_OF_CHANGES = Case(
    before=(
        imported(BACK + 0.4, *(of("Silent", name, "2") for name in (*THREE, "H200")), days=(OLD,) * 4,
                 source="import:changes"),
        imported(BACK + 0.5, *(of("Silent", name, "3") for name in THREE), days=(-3.75,) * 3, source="import:changes"),
    ),
    after=tuple(
        imported(BACK + at, of("Cast", "L40S", "1"), days=(BACK + at,), source="import:changes", scope="a third file")
        for at in (1.55, 1.75)
    ),
    asked=SHARES.format("Silent"), found=("2025-12-28 0.75", "2025-12-28 1.0"),
)  # fmt: skip
"""An import that never told a price twice does: of what it was silent, nobody knows whether it stood unchanged."""

AFTER_THE_FILES_DATE = Case(
    before=(g6("me-south-1", 0.25, "1"), g6("me-south-1", 3.75, "1.1")),
    after=(),
    asked="select last_changed_at::DATE::VARCHAR from int.accelerator_hour_price where region_id = 'me-south-1'",
    found=(None, "2026-01-04"),
)
"""A clock was ahead: a move came after the date of the file that has it, and has come by that of the next."""

A_DOCUMENT_OF_TWO = Case(
    before=(look(0.25, row("g6.xlarge", "1", region_id="sa-east-1"), scope="sa-east-1", document="same"),),
    after=(pages(3.25, of("Typed", H100, "2"), source="import:a", archived=True, complete=False, document="same"),),
    asked="select evidence_kind from int.accelerator_hour_price where region_id = 'sa-east-1'",
    found=("provider_bytes", "transcribed"),
)
"""Somebody typed the figures of a document that a live source had given."""


def moved(region: str, *moves: tuple[float, str], after: str, kinds: tuple[str, str]) -> Case:
    """Return the case of one price, confirmed just before the first file, that moves after it.

    Its oldest looks are an archive's, which are loaded together.
    """
    looks = *((at, price) for at, price in moves), (3.35, moves[-1][1]), (7.35, after)
    *before, last = (
        look(at, row("g6.xlarge", price, region_id=region), scope=region, trusted=True, archived=at < -5)
        for at, price in looks
    )
    asked = KIND.format(IN_REGION.format(region))
    return Case(before=tuple(before), after=(last,), asked=asked, found=kinds, later=3)


RESTLESS = moved(
    "us-east-2", (-20.75, "2"), (-12.75, "2.1"), (-4.75, "2.2"), (3.3, "2.3"), after="2.4",
    kinds=("list_change list_change list_change", "list_change market_move list_change list_change"),
)  # fmt: skip
"""A price moves for the fifth time within 30 days: the third of these moves was a market's."""

FLAPPING = moved(
    "us-west-1", *((3.3 - 6 * each, "2" if each % 2 else "2.2") for each in range(9, -1, -1)), after="2",
    kinds=("correction " * 8 + "list_change", "correction " * 9 + "correction"),
)  # fmt: skip
"""A price has gone there and back for longer than 30 days: which move is of which pair is told by the first."""

BACK_FROM_A_FACTOR = moved(
    "ca-central-1", (-50.75, "2"), (-40.75, "16"), after="2.1",
    kinds=("suspected_error", "suspected_error suspected_error"),
)  # fmt: skip
"""A price that was a unit's factor too high goes back, near to where it was, after more than 30 days."""


def columns(at: float, on_demand: str, spot: str) -> ParsedFetch:
    return pages(at, of("Column", "H200", on_demand), of("Column", "H200", spot, purchase_option="spot"), trusted=True)


BACK_FROM_ANOTHER_COLUMN = Case(
    before=(
        columns(-50.75, "2.5", "1.25"), columns(-40.75, "1.25", "1.25"), columns(-35.75, "1.25", "1.3"),
        columns(3.3, "1.25", "1.3"),
    ),
    after=(columns(7.35, "2.45", "1.3"),),
    asked=KIND.format("o.service_provider_name = 'Column' and o.purchase_option = 'on_demand'"), later=3,
    found=("suspected_error", "suspected_error suspected_error"),
)  # fmt: skip
"""A price leaves the column of another option, which has not had that price for a month."""


def asking(at: float, provider: str, price: str) -> ParsedFetch:
    return pages(at, of(provider, "B200", price), trusted=True, archived=at < 0)


BACK_AFTER_YEARS = Case(
    before=(
        *(asking(at, each, price) for each in "DEF"
          for at, price in ((-900.75, "4"), (-799.75, "4"), (-700.75, "4.2"))),
        *(asking(at, "Far", price) for at, price in ((-900.75, "4"), (-800.75, "18.2"), (3.35, "18.2"))),
    ),
    after=(asking(7.35, "Far", "4.1"),),
    asked=KIND.format("o.service_provider_name = 'Far'"), later=3,
    found=("suspected_error", "suspected_error suspected_error"),
)  # fmt: skip
"""A price that had moved away from what three others asked goes back after years: none of its links is of the last."""

A_FIRST_LOOK_THAT_GIVES_NOTHING = Case(
    before=(g6("eu-south-1", -130.75, "1", scope="opened"), g6("eu-south-1", 3.3, "1", scope="opened")),
    after=(look(-131.75, row("g6.xlarge", "900", region_id="eu-south-2"), scope="opened", complete=False),),
    asked=KIND.format(IN_REGION.format("eu-south-1")), later=2, found=(None, "new_offer"),
)  # fmt: skip
"""A look at a scope comes to light from before what was its first, and all that it shows is refused."""


def told_second(at: float, *days: float, **prices: str) -> ParsedFetch:
    rows = [row(name + ".xlarge", price, region_id="ap-east-1") for name, price in prices.items()]
    made = look(at, *rows, source="nebius", scope="second", complete=False)
    return dated(made, *days) if days else made


A_FIRST_LOOK_AT_WHAT_ANOTHER_TELLS = Case(
    before=(
        g6("ap-east-1", -70.75, "1"), g6("ap-east-1", 3.3, "1"), told_second(-50.75, g6="1", g5="1.2"),
    ),
    after=(told_second(3.75, -60.75, g6="1.1"),),
    asked=KIND.format("o.region_id = 'ap-east-1' and o.instance_type = 'g5.xlarge'"),
    found=(None, "new_offer"),
)  # fmt: skip
"""A price is told of a day before the first look at its scope, where a better source is believed."""


def unmoved(at: float) -> ParsedFetch:
    return pages(at, of("Still", "H200", "2", purchase_option="spot"), archived=at < -5)


ADMINISTERED_SINCE_TODAY = Case(
    before=tuple(unmoved(at) for at in (-25.75, -19.75, -13.75, -7.75, -1.75, 3.35)),
    after=(unmoved(4.35),),
    asked="select bool_and(is_administered) from int.price_index where service_provider_name = 'Still' and "
    "index_date < (select max(index_date) - 20 from int.price_index)",
    found=(False, True),
)  # fmt: skip
"""A spot price has not moved for thirty days: from its first day on nobody's market made it."""

CASES = {name: case for name, case in list(globals().items()) if isinstance(case, Case)}
ASKED, _ = needed("price_index", "option_price_history", "accelerator_hour_price")
"""The marts that the cases ask, with what they rest on."""


def test_what_may_differ_is_made_anew(tmp_path: Path) -> None:
    """All cases in one log, which is published on three days; some make so much anew that they come after others.

    What the long form adds is each case alone, where nothing that another makes anew can stand in for it, and that
    all else is as in a file made from nothing, of which a history of many things is a cheaper example (test_amending).
    """
    days = sorted({case.later for case in CASES.values()})
    with db.writer(tmp_path / "writer") as con:
        told(con, *(each for case in CASES.values() for each in case.before), learnt=3.4)
        file = put(con, tmp_path / "daily", 3.5, marts=ASKED)
        for n_before, later in enumerate(days):
            cases = {name: case for name, case in CASES.items() if case.later == later}
            found = asked(file, cases)
            told(con, *(each for case in cases.values() for each in case.after), learnt=4.4 + later)
            put(con, tmp_path / "daily", 4.5 + later, marts=ASKED)
            both = {name: (found[name], now) for name, now in asked(file, cases).items()}
            assert both == {name: case.found for name, case in cases.items()}
            assert n_amended(file) == n_before + 1


@pytest.mark.prove
@pytest.mark.parametrize("name", CASES)
def test_what_may_differ_of_one_alone_is_made_anew(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    with db.writer(tmp_path / "writer") as con:
        told(con, *case.before, learnt=case.first - 0.1)
        before = asked(put(con, tmp_path / "daily", case.first), {name: case})
        told(con, *case.after, learnt=case.second - 0.1)
        file = put(con, tmp_path / "daily", case.second)
        found = before[name], asked(file, {name: case})[name]
        assert (n_amended(file), found) == (1, case.found)
        assert differences(file, put(con, tmp_path / "once", case.second)) == {}


def test_what_a_log_has_no_more_is_not_taken_over(tmp_path: Path) -> None:
    """The log was made again and lacks what the file before rests on: sightings, then refusals."""
    marts, _ = needed()
    looks = (
        look(0.25, row("g6.xlarge", "1")),
        look(1.25, row("g6.xlarge", "1"), complete=False),
        look(1.5, row("g6.xlarge", "900")),
        look(2.25, row("g6.xlarge", "1.1")),
    )
    with db.writer(tmp_path / "writer") as con:
        told(con, *looks, learnt=3.4)
        put(con, tmp_path / "daily", 3.5, marts=marts)
        for at, table in enumerate(("log.sighting", "core.quarantine")):
            con.execute(f"delete from {table}")
            assert n_amended(put(con, tmp_path / "daily", 4.5 + at, marts=marts)) == 0


def asked(file: Path, cases: dict[str, Case]) -> dict[str, Any]:
    """Return what the questions of cases find in a file."""
    with duckdb.connect(str(file), read_only=True) as con:
        rows = {name: con.execute(case.asked).fetchone() or (None,) for name, case in cases.items()}
    return {name: found for name, (found,) in rows.items()}
