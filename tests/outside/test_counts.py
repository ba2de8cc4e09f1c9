"""What a first run shows without a network: every way to buy, and other providers, counted in the published file."""

import shutil
from pathlib import Path

import duckdb
import pytest

KINDS = {
    "savings_plan": ("service_provider_name = 'AWS' and purchase_option = 'savings_plan'", 60),
    "spot": ("service_provider_name = 'AWS' and purchase_option = 'spot'", 40),
    "capacity_block": ("service_provider_name = 'AWS' and purchase_option = 'capacity_block'", 55),
    "reserved": ("service_provider_name = 'AWS' and purchase_option = 'reserved'", 100),
    "others": ("service_provider_name <> 'AWS'", 120),
}
CHIPS = ("H100", "H200", "B200", "B300", "MI300X", "A100-80GB", "L40S", "Trainium2")
FORBIDDEN = ("RunPod", "Vast.ai", "Crusoe", "DigitalOcean", "Hyperbolic", "Shadeform", "Voltage Park", "Akash")


def asked(folder: Path, query: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(folder / "prices.duckdb"), read_only=True) as con:
        return con.execute(query).fetchall()


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_to_buy_is_there(offline_run: Path, kind: str) -> None:
    """As many ranked offers as a reader needs to see the market: old ones do not count."""
    where, least = KINDS[kind]
    ((found,),) = asked(offline_run, f"select count(*) from mart.price_now where is_ranked and {where}")
    assert found >= least


def test_ten_other_providers_are_there(offline_run: Path) -> None:
    """At least ten with a price of the last 90 days before the archive's day, floors and euros among them."""
    found = asked(
        offline_run,
        "select distinct service_provider_name from mart.price_now "
        "where service_provider_name <> 'AWS' and age_days <= 90",
    )
    assert len(found) >= 10


def test_the_chips_of_the_front_page_have_prices(offline_run: Path) -> None:
    """Each of the eight has a ranked price."""
    found = asked(offline_run, "select distinct accelerator_name from mart.price_now where is_ranked")
    assert {name for (name,) in found} >= set(CHIPS)


def test_every_price_says_what_it_rests_on(offline_run: Path) -> None:
    """Kind of evidence, address and day of each document that a price comes from."""
    (told,) = asked(
        offline_run,
        "select count(*), count(e.evidence_kind), count(e.source_url), count(*) filter (e.accessed_on is null and "
        "d.source = 'price_archive') from int.accelerator_hour_price as h "
        "left join int.document_evidence as e using (document_sha256) "
        "left join (select distinct document_sha256, source from core.document) as d using (document_sha256)",
    )
    n, with_kind, with_url, without_day = told
    assert n == with_kind == with_url
    assert without_day == 0


def test_the_history_says_of_each_price_what_its_document_is(offline_run: Path, tmp_path: Path) -> None:
    """NULL where nothing was recorded of the document, unless it was recorded another time."""
    file = Path(shutil.copy(offline_run / "prices.duckdb", tmp_path))
    file.chmod(0o644)
    of_price = (
        "select h.offer_id, h.valid_from, {} from int.price_history as p inner join mart.price_history as h "
        "on p.offer_id = h.offer_id and p.valid_from = h.valid_from "
        "left join int.document_evidence as e on p.document_sha256 = e.document_sha256"
    )
    with duckdb.connect(str(file)) as con:
        (provider_bytes,), (transcribed,) = con.execute(
            "select min(document_sha256) from int.price_history inner join int.document_evidence "
            "using (document_sha256) group by evidence_kind order by evidence_kind"
        ).fetchall()
        con.execute("update log.document set recorded_at = null where document_sha256 = ?", [provider_bytes])
        again = "insert into log.document by name select 1000000 as document_no, ? as document_sha256"
        con.execute(again, [transcribed])
        differing = f"({of_price.format('h.evidence_kind')}) except all ({of_price.format('e.evidence_kind')})"
        assert con.execute(differing).fetchall() == []
        kinds = con.execute("select distinct evidence_kind from mart.price_history order by all").fetchall()
        assert {("transcribed",), (None,)} <= {*kinds}


def test_nobody_is_shown_whose_terms_forbid_it(offline_run: Path) -> None:
    """Neither as provider nor as host."""
    found = asked(offline_run, "select distinct unnest([service_provider_name, host_provider_name]) from core.offer")
    names = {str(name).lower().replace("-", " ") for (name,) in found}
    assert names.isdisjoint(name.lower() for name in FORBIDDEN)
    assert not {"runpod", "vast", "voltagepark"} & names


def test_ages_count_from_the_archives_day(offline_run: Path) -> None:
    """The file is as of its newest price, whatever today is, and nothing in it is newer."""
    ((built_at, newest, current),) = asked(
        offline_run,
        "select (select built_at from meta.build), max(last_observed_at), count(*) filter (is_current) "
        "from int.accelerator_hour_price",
    )
    assert built_at == newest
    assert current > 0


def test_nothing_right_is_refused(offline_run: Path) -> None:
    """The gates let every row of the archive pass; by truth checks no price differs, two chips do."""
    assert asked(offline_run, "from core.quarantine") == []
    # On these chips a million tokens costs more than on the ones before, at one price: runs that nobody has explained.
    named = ["B300 after B200", "H200 after H100"]
    differing = "select check_name, subject from int.truth_check where result = 'differs' order by all"
    assert asked(offline_run, differing) == [("generation", subject) for subject in named]
