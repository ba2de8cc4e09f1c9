"""The neoclouds' history imported, and what became of 46 moves in it that people labelled by hand.

The rules themselves are asked one by one in test_price_change, tests/warehouse/test_batch_gate, test_history_gate and
test_first_sight, and tests/flows/test_flagged_import: here is what they make of 65,025 observations.
"""

import pickle
import re
from pathlib import Path
from types import ModuleType

import kept
import pytest
from few_marts import published_with
from published import query
from scripts import script

from warehouse.schema.vocabulary import MARKETPLACES

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench" / "import_history.py"
pytestmark = pytest.mark.prove


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """Return the script that imports the history and looks the labels up."""
    return script("bench/import_history.py")


@pytest.fixture(scope="module")
def made(bench: ModuleType, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> object:
    """Return the import, made once."""

    def make(folder: Path) -> None:
        with published_with("price_change"):
            (folder / "made.pickle").write_bytes(pickle.dumps(bench.run(shared, folder)))

    folder = kept.once(tmp_path_factory, "history", make)
    return pickle.loads((folder / "made.pickle").read_bytes())  # noqa: S301 (written above)


def test_the_history_of_the_neoclouds_imports(made) -> None:
    """65,025 observations of nine collectors, one of which flagged all of its own; each is accepted or counted.

    An import passes the gates of live prices: those outside a chip's range wait, and those that moved by one factor.
    """
    assert query(made.file, "select count(distinct source) from core.price_event") == [(8,)]
    assert query(made.file, "select sum(n_rows) from core.scope_run") == [(57385,)]
    assert query(
        made.file,
        "select gate, case when contains(reason, 'moved by one factor') then 'one factor' "
        "when contains(reason, 'prices moved at once') then 'at once' "
        "when contains(reason, 'of all providers') then 'range' "
        "when reason = 'the same offer is in the answer with different prices' then 'two prices' end as cause, "
        "count(*) from core.quarantine where decision is null group by all order by all",
    ) == [
        ("band", "range", 150), ("batch", "two prices", 410), ("history", "one factor", 128),
    ]  # fmt: skip
    assert query(
        made.file,
        "select gate, decision, decided_by, count(*) from core.quarantine where decision is not null "
        "group by all order by all",
    ) == [("row", "refuse", "its collector", len(made.flagged))]
    assert 57385 + 150 + 410 + 128 + len(made.flagged) == 65025


def test_what_is_flagged_is_in_no_price(made) -> None:
    """Of each flag so many rows; none of their prices came in through another row of the same offer and moment."""
    assert dict(made.flagged["value"].value_counts().iter_rows()) == {
        "min_over_sizes_may_include_spot": 2984,
        "blended_tier_lowestPrice": 2081,
        "fx_converted_eur": 524,
        "suspect_tier_preemptible_as_on_demand": 412,
        "placeholder_community_price": 364,
        "placeholder_or_mig_slice": 200,
        "suspect_label_price_of_next_card": 178,
        "stale_carried_forward": 91,
        "unit_unknown": 72,
        "suspect_label_nvl": 40,
        "unit_mixed_row": 6,
    }
    assert query(
        made.file, "select count(*) from core.price_event where source = 'import:tugot17/gpu-price-tracker'"
    ) == [(0,)]
    # EUR sellers, converted by the collector; a preemptible price under on-demand; blends of tiers
    assert query(
        made.file,
        "select count(*) from core.offer inner join core.price_event using (offer_id) "
        "where source = 'import:adriannutiu/gpu-rental-prices' and service_provider_name in ('OVHcloud', 'Scaleway') "
        "or tier in ('preemptible') or (tier = 'any' and source = 'import:cherielilili/gpu-pricing-tracker' "
        "and purchase_option = 'spot')",
    ) == [(0,)]


def test_the_chips_of_the_history(made) -> None:
    """Each of 2,309 offers has its chip: of one label that nobody can read the collector's own reading speaks."""
    assert query(made.file, "select count(*), count(accelerator_name) from core.offer_unit") == [(2309, 2309)]
    assert query(
        made.file, "select service_provider_name, accelerator_name, accelerator_label from ref.accelerator_label "
        "where contains(accelerator_label, '[')",
    ) == [("Lambda", "V100", "V100 [V100 gpu_8x_v100_n]")]  # fmt: skip


def test_the_labelled_events(bench: ModuleType, shared: Path, made) -> None:
    """Label against what was found: no error passes for a change of a list, and no change of a list for an error."""
    assert bench.confusion(bench.events(shared, made)) == {
        # right
        ("real_reprice", "list_change"): 21,
        ("real_reprice", "spot_move"): 1,  # the label's own option is spot
        ("cheapest_offer_flip", "market_move"): 2,
        ("flapping", "correction"): 1,
        ("single_offer_outlier", "market_move"): 1,  # of a marketplace
        (
            "unit_change_in_collector",
            "suspected_error",
        ): 1,  # 49.24 / 8 became 6.16: converted in the file, then rounded
        ("collector_bug_next_card", "flagged"): 1,
        ("collector_bug_wrong_column", "flagged"): 1,
        ("new_sku_same_label", "flagged"): 1,
        ("delisting", "absent"): 1,  # an import never says that an offer is gone
        ("tier_disappears", "absent"): 1,
        ("source_silently_died", "absent"): 1,
        ("label_change", "new_offer"): 1,  # another count is another offer
        ("mixed_reprice_and_sku_change", "new_offer"): 1,  # the least price became that of another size
        # seen, but only by a collector that keeps the least of several prices, which proves no change of a list
        ("real_reprice", "market_move"): 1,  # DigitalOcean's MI300X
        ("unconfirmed", "market_move"): 1,
        # seen by two collectors, one before and one after, who name tier and chip in words of their own
        ("real_reprice", "new_offer"): 1,  # Hot Aisle's MI300X
        ("real_reprice", "nothing"): 1,  # Verda's GB300: the second collector looked once, so it has nothing before
        # spot at RunPod: no row before 2026-05-08 has the tier, so the price begins as another offer, on its first look
        ("tier_semantics_change", "nothing"): 1,
        # not in the file: the page's rows are of one GPU, and those of eight are the API's, which changed on 04-06
        ("page_leads_api", "nothing"): 1,
        # not in the file: one value a day, and the family was missing for 97 minutes
        ("transient_missing", "nothing"): 1,
        # not in the file at all
        ("real_reprice_announced", "nothing"): 1,
        ("transient_price", "nothing"): 1,
        ("collector_bug_browser_tab", "nothing"): 1,
        ("empty_but_valid_reply", "nothing"): 1,
    }


def test_a_marketplace_changes_no_list(made) -> None:
    """By its name too, where no tier says so; SQL names those that the gates name."""
    names = query(made.file, "select distinct lower(service_provider_name) from int.price_change "
                             "where change_kind = 'list_change'")  # fmt: skip
    assert {name for (name,) in names}.isdisjoint(MARKETPLACES)
    text = (ROOT / "warehouse/sql/market.sql").read_text(encoding="utf-8")
    assert set(
        re.findall(r"'([^']+)'", text.partition("MARKETPLACES")[2].partition(" in (")[2].partition(")")[0])
    ) == set(MARKETPLACES)


def test_how_many_moves_are_suspected(made) -> None:
    """So many of each kind.

    The 26 suspected ones: 16 of 2026-02-19 are the day on which an aggregator went over to whole cents for a chip, the
    others are euro prices that it converted, which wander across whole cents from day to day.
    """
    assert dict(query(made.file, "select change_kind, count(*) from int.price_change group by all")) == {
        "market_move": 5766, "spot_move": 4278, "new_offer": 1821, "list_change": 168, "correction": 52,
        "suspected_error": 26,
    }  # fmt: skip
    assert query(
        made.file, "select count(*) filter (where abs(change_ratio) > 0.05), "
        "count(*) filter (where observed_at = timestamp '2026-02-19' and abs(change_ratio) < 0.006), count(*) "
        "from int.price_change where change_kind = 'suspected_error'",
    ) == [(0, 16, 26)]  # fmt: skip
