"""Independent prices of one offer: who differs, and who is wrong by a primary document; real ones by collector."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import paging
import pytest
from few_marts import formulas_of, needed, published_with
from log_rows import add_documents
from looks import ParsedFetch, Row, at_once, day, row
from published import query
from truth_file import SXM, at, cloud
from web_site import open_site, send

from flows.collect import steps
from flows.config.settings import Settings
from reports.pages import disagreement_page
from transform.models import MARTS
from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import published_file

SOURCES: list[tuple[str, str, str, str, int, int | None, str]] = [
    ("cloud", "Cloud", "A cloud's page", "live", 201, 72, "https://x.test"),
    ("aws_price_list", "AWS", "The list", "live", 10, 72, "https://x.test"),
    ("aws_price_pages", "AWS", "The pages", "live", 12, 72, "https://x.test"),
    ("offline_archive", "several", "The archive", "archive", 50, None, "https://x.test"),
    ("import:one/tracker", "several", "A tracker", "import", 900, None, "https://x.test"),
    ("import:two/tracker", "several", "Another", "import", 901, None, "https://x.test"),
    ("import:<script>alert(2)</script>", "several", "<script>alert(2)</script>", "import", 903, None, "https://x.test"),
]
P5 = "p5.48xlarge"
EVIL = "<script>alert(2)</script>"
Pair = tuple[object, ...]


def told(price: str, count: int = 1, **others: object) -> Row:
    """Return a collector's row of the cloud's H100, which names no machine and has a tier of its own."""
    return cloud(None, price, count, **({"tier": "page", "region_id": None} | others))


def seen(of: str, moment: float, *rows: Row, source: str) -> ParsedFetch:
    """Return a look, in a scope of its own, at rows of one provider."""
    return at(moment, *(each | {"service_provider_name": of} for each in rows), source=source, scope=of)


OTHERS: tuple[dict[str, object], ...] = (
    {}, {"accelerator_label": "NVIDIA H100 PCIe 80GB"}, {"purchase_option": "spot"}, {"statistic": "median"},
    {"region_id": "south"}, {"tier": "marketplace"}, {"pricing_currency": "EUR"}, {"count": 8},
    {"service_provider_name": "Vast.ai"},
)  # fmt: skip
"""What makes another price; each is one of a provider of its own, with a price of its own; of the first nothing is."""
LOOKS = [
    seen("Decided", 38, told("3"), source="cloud"),
    seen("Decided", 38, told("3.004", tier="api"), source="import:one/tracker"),
    seen("Decided", 38, told("2.5"), source="import:two/tracker"),
    seen("Decided", 38, told("2", tier=None), source="offline_archive"),
    *(seen(EVIL, 38, cloud(EVIL, price, region_id=EVIL, pricing_currency="EUR"), source=source)
      for source, price in {"cloud": "3", f"import:{EVIL}": "2"}.items()),
    seen("AWS", 38, row(P5, "55.04"), row("g6.xlarge", "0.8048"), source="aws_price_list"),
    seen("AWS", 38, row(P5, "55.05"), row("g6.xlarge", "0.80481"), source="aws_price_pages"),
    seen("Apart", 30, told("3"), source="cloud"),
    seen("Apart", 31, told("2"), source="import:one/tracker"),
    *(seen("Late", moment, told(price), source="cloud") for moment, price in ((30, "3"), (33, "2"), (36, "2"))),
    *(seen("Late", moment, told(price), source="import:one/tracker")
      for moment, price in ((30, "3"), (34, "3"), (35, "2"), (36, "2"))),
    at(38, *(told(f"{30 + number / 10}", region_id="north", tier=None, service_provider_name=f"Other {number}")
             for number in range(len(OTHERS))), source="cloud", scope="others"),
    at(38, *(told(f"{20 + number / 10}", **({"region_id": "north", "service_provider_name": f"Other {number}"} | other))
             for number, other in enumerate(OTHERS)), source="import:one/tracker", scope="others"),
    seen("Unknown form", 38, told("3"), source="cloud"),
    seen("Unknown form", 38, told("2", accelerator_label="NVIDIA H100 80GB"), source="import:one/tracker"),
]  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the looks published together, each case with a provider of its own."""
    folder = tmp_path_factory.mktemp("disagreement")
    marts, macros = needed("disagreement", "price_history")
    looks = sorted(LOOKS, key=lambda each: each.observed_at)
    with db.writer(folder) as con:
        add_documents(con, *looks, urls=[f"https://x.test/{number}" for number in range(len(looks))])
        for moment, together in at_once(looks):
            load(con, together, recorded_at=moment)
        return published_file.publish(
            con, folder, marts=marts, formulas=formulas_of((*marts, *macros)), macros=macros, sources=SOURCES,
            built_at=day(50), version="test",
        )  # fmt: skip


def pairs(file: Path, provider: str) -> list[Pair]:
    """Return who differs from whom in prices of a provider, or of several by a pattern, and who is wrong."""
    return query(
        file,
        "select source, other_source, round(price_per_accelerator_hour, 4), "
        "round(other_price_per_accelerator_hour, 4), is_equal, is_wrong from int.disagreement "
        f"where service_provider_name like '{provider}' order by all",
    )


def test_a_primary_document_decides(file: Path) -> None:
    """The provider's own answer says which of two is wrong, also where that is ours; two trackers decide nothing."""
    found = pairs(file, "Decided")
    decided = {(source, other): (equal, wrong) for source, other, _, _, equal, wrong in found}
    assert decided["import:one/tracker", "cloud"] == (True, False)
    assert decided["import:two/tracker", "cloud"] == (False, True)
    assert decided["offline_archive", "cloud"] == (False, True)
    assert {decided["cloud", other] for other in ("import:two/tracker", "offline_archive")} == {(False, None)}
    assert decided["import:one/tracker", "import:two/tracker"] == (False, None)
    assert len(found) == 12


def test_the_page_takes_no_word_for_html(file: Path) -> None:
    """Providers, machines, sources and regions come from outside, and are text."""
    assert len(pairs(file, EVIL)) == 2
    text = paging.of(file, disagreement_page.render)
    assert EVIL not in text
    assert text.count("&lt;script&gt;alert") >= 4
    assert "0.250 EUR<small>" in text


def test_one_provider_in_two_words_decides_nothing(file: Path) -> None:
    """AWS's list and its pages are both AWS's own: where they differ both stand, to the ten-thousandth."""
    assert [each[2:] for each in pairs(file, "AWS") if each[0] == "aws_price_list"] == [
        (0.8048, 0.8048, True, False), (6.88, 6.8813, False, None),
    ]  # fmt: skip


def test_old_and_new_prices_are_never_compared(file: Path) -> None:
    """One that is not in force any more says nothing of the next, and one who learns of a change later agrees."""
    assert pairs(file, "Apart") == []
    late = pairs(file, "Late")
    assert {each[4] for each in late} == {True}
    assert len(late) == 4


def test_what_is_not_the_same_is_not_compared(file: Path) -> None:
    """Another form, option, statistic, region, market, currency or size is another price.

    Each is one of a provider of its own, with a price of its own; of the first nothing is another.
    """
    found = pairs(file, "Other %")
    assert [each[2:4] for each in found] == [(30, 20), (20, 30)]


def test_an_unknown_form_is_compared_and_decides_nothing(file: Path) -> None:
    """A tracker that does not say which H100 may mean another one."""
    assert [each[4:] for each in pairs(file, "Unknown form")] == [(False, None), (False, None)]
    assert SXM != "NVIDIA H100 80GB"


@pytest.fixture(scope="module")
def history(shared_history: Path, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the shared history with one primary document in it: RunPod's own answer of 2026-07-18."""
    folder = tmp_path_factory.mktemp("with-primary") / "data"
    shutil.copytree(shared_history, folder)
    body = (shared / "data/neocloud_samples/runpod/graphql_gputypes_2026-07-18.json").read_bytes()
    with open_site() as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        site.answers = {"/graphql": [send(body)], "/robots.txt": [send(status=404)]}
        settings = Settings(data_dir=folder, sources={"runpod": {"enabled": True, "url": f"{site.url}/graphql"}})
        with steps.open_run(settings, clock=lambda: datetime(2026, 7, 18, 12, tzinfo=UTC)) as one:
            one.collect(["runpod"])
            one.load()
    moment = datetime(2026, 11, 22, 12, tzinfo=UTC)
    with published_with("disagreement", least=()), steps.open_run(settings, clock=lambda: moment) as one:
        one.publisher.publish()
    yield folder / "prices.duckdb"


@pytest.mark.prove
def test_the_shared_history_by_collector(history: Path) -> None:
    """Real collectors beside each other and beside RunPod's own answer: compared, differing, decided, wrong."""
    found = {
        str(source).removeprefix("import:").partition("/")[0]: tuple(counts)
        for source, *counts in query(
            history,
            "select source, count(*), count(*) filter (not is_equal), count(is_wrong), count(*) filter (is_wrong) "
            "from int.disagreement group by all order by all",
        )
    }
    assert found == {
        "anycloud-sh": (31, 5, 0, 0), "cherielilili": (70, 3, 14, 0), "nixj9": (93, 0, 17, 0),
        "romaindeniau75-commits": (107, 2, 55, 1), "runpod": (90, 5, 0, 0),
    }  # fmt: skip
    # A placeholder, published as a price: RunPod's answer has 0.77 in its secure cloud.
    (decided,) = query(
        history,
        "select accelerator_name, price_per_accelerator_hour, other_price_per_accelerator_hour, source "
        "from int.disagreement where is_wrong",
    )
    assert decided == ("RTX-6000-Ada", 0.5, 0.77, "import:romaindeniau75-commits/gpu-price-scraper")
    assert query(history, "select count(*) from int.disagreement where began_at > last_confirmed_at") == [(0,)]


@pytest.mark.prove
def test_the_page_shows_both_documents(history: Path) -> None:
    """Every difference with both prices and documents, the decided one first; the file's own figures."""
    text = paging.of(history, disagreement_page.render)
    with duckdb.connect(str(history), read_only=True) as con:
        ((n_pairs, n_differing, document),) = con.execute(
            "select count(*), count(*) filter (not is_equal), any_value(other_document_sha256) filter (is_wrong) "
            "from int.disagreement"
        ).fetchall()
    assert f"{n_differing} of {n_pairs} prices with a second source differ from it" in text
    assert "<details><summary>By provider and chip</summary>" in text  # hundreds of rows were 23,000 px
    differences = text[text.index('id="differences"') :]
    assert differences.index("RTX-6000-Ada") < differences.index("undecided")
    assert document[:12] in differences
    assert "romaindeniau75-commits/gpu-price-scraper" in differences
    assert "1.8%" in text[: text.index('id="differences"')]
    assert 'href="disagreement.html"' in text
    assert paging.of(history, disagreement_page.render) == text


def test_the_mart_is_published() -> None:
    """It is a view of the file, so that a day costs nothing for it."""
    (mart,) = (mart for mart in MARTS if mart.name == "disagreement")
    assert not mart.is_table
