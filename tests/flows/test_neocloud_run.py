"""All neocloud sources in one run, each from a site of its own: what comes, in how many requests, and what fails alone.

The first run has every provider in order. In the second, four days later, one is down, one drips, one has changed its
page and one forbids to be read.
"""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import published
import pytest
from few_marts import published_with
from neoclouds.case import MOMENT, cases, rows
from neoclouds.servers import ALLOWED, FORBIDDEN, OTHER_PATHS, OTHER_SCOPES, PAGES, ROBOTS, Site, keys, open_sites

import extract.web.http
from extract import SOURCES
from flows.collect import steps
from flows.collect.publisher import Publisher
from flows.collect.summary import Summary
from flows.config.settings import Settings
from warehouse.landing.folder import Landing

CASES = cases()
LATER = MOMENT + timedelta(days=4)
DOWN, SLOW, CHANGED, FORBIDS = "crusoe", "nebius", "lambda", "verda"
FAILING = (DOWN, SLOW, CHANGED, FORBIDS)
READ_TIMEOUT_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Done:
    """A run that is over: its summary, what was asked of each site, and a copy of the published file."""

    summary: Summary
    asked: dict[str, list[tuple[str, str]]]
    bodies: dict[str, bytes]
    file: Path

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what the published file says."""
        return published.reader(self.file).execute(query, list(values)).fetchall()


def quick(patch: pytest.MonkeyPatch) -> None:
    """Let runs lose their patience soon, and write no report."""
    patch.setattr(Publisher, "report", lambda run: run.settings.data_dir)
    retries = extract.web.http.Retries(attempts=2, seconds=5, pause_s=0.001)
    patch.setattr(
        extract.web.http, "HttpWeb", partial(extract.web.http.HttpWeb, retries=retries, read_timeout_s=READ_TIMEOUT_S)
    )


def go(folder: Path, sites: dict[str, Site], moment: Any) -> Done:
    """Do a whole run at a moment, with all of these and no other source."""
    others = {source.name: {"enabled": False} for source in SOURCES if source.name not in sites}
    own = {name: site.settings for name, site in sites.items()}
    for site in sites.values():
        site.asked.clear()
    summary = steps.run(Settings(data_dir=folder, sources={**others, **own}), clock=lambda: moment)
    assert summary.file is not None
    copy = folder / f"{moment:%Y%m%d}.duckdb"
    copy.write_bytes(summary.file.read_bytes())
    return Done(
        summary=summary,
        asked={name: list(site.asked) for name, site in sites.items()},
        bodies={name: site.body or b"" for name, site in sites.items()},
        file=copy,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Done, Done]]:
    """Return both runs, over one data directory."""
    folder = tmp_path_factory.mktemp("neoclouds")
    with (
        published_with("accelerator_hour_price", "source_health", least=()),
        pytest.MonkeyPatch.context() as patch,
        open_sites(CASES) as sites,
    ):
        quick(patch)
        patch.delenv("DIGITALOCEAN_TOKEN", raising=False)  # its API has an address that no setting moves
        for variable, key in keys(CASES).items():
            patch.setenv(variable, key)
        first = go(folder, sites, MOMENT)
        sites[DOWN].server.stop()
        sites[SLOW].drip = 40 * READ_TIMEOUT_S
        changed = sites[CHANGED].case
        sites[CHANGED].body = changed.body.replace(changed.renamed[0].encode(), b"Compute")
        sites[FORBIDS].robots = FORBIDDEN
        with socket.socket() as port:  # held, so that no server of another test answers there
            port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            port.bind(sites[DOWN].server.server_address[:2])
            second = go(folder, sites, LATER)
        yield first, second


@pytest.fixture
def first(runs: tuple[Done, Done]) -> Done:
    """Return the run in which all is well."""
    return runs[0]


@pytest.fixture
def second(runs: tuple[Done, Done]) -> Done:
    """Return the run in which four providers fail."""
    return runs[1]


IDENTIFYING = ("accelerator_label", "instance_type", "purchase_option", "tier", "statistic")
OFFERS = (
    f"select o.service_provider_name, {', '.join(f'o.{name}' for name in IDENTIFYING)}, "
    "p.unit_price::varchar from core.sku_price as p join core.offer as o using (offer_id) where p.valid_to is null"
)


def test_every_source_gives_its_prices(first: Done) -> None:
    """Those off unless enabled too: what was published is what the fixtures say, provider by provider."""
    assert not first.summary.failed
    assert not [result for result in first.summary.results if result.n_refused]
    found: dict[str, list[tuple[str, ...]]] = {}
    for provider, *offer, price in first.rows(OFFERS):
        found.setdefault(provider, []).append((*map(str, offer), price.rstrip("0").rstrip(".")))
    for case in CASES:
        name = case.source.name
        others = rows(case.parse(OTHER_PATHS[name][2], OTHER_SCOPES[name])) if name in OTHER_SCOPES else []
        expected = [
            (*(str(row.get(name)) for name in IDENTIFYING), row["unit_price"])
            for row in [*case.expected, *others]
        ]  # fmt: skip
        assert sorted(found.pop(case.source.provider)) == sorted(expected)
    assert not found


def test_a_host_is_asked_once_where_once_will_do(first: Done) -> None:
    """Its robots.txt first, then each page once."""
    for name, asked in first.asked.items():
        assert asked[0] == ("GET", ROBOTS)
        assert len(asked) == 1 + PAGES.get(name, 1), (name, asked)
        assert len(set(asked)) == len(asked)


def test_one_that_fails_fails_alone(second: Done) -> None:
    """All others have fresh prices; each that failed is named."""
    assert {result.source for result in second.summary.failed} == set(FAILING)
    fresh = {result.source for result in second.summary.results if result.status in ("ok", "known")}
    assert fresh == {case.source.name for case in CASES} - {*FAILING}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (DOWN, ["its robots.txt cannot be read", "no answer"]),
        (SLOW, ["the answer broke off"]),
        (CHANGED, ["heading"]),
        (FORBIDS, ["its robots.txt forbids it", "/robots.txt"]),
    ],
)
def test_the_health_of_a_source_says_why(second: Done, source: str, told: list[str]) -> None:
    """Error and last good look stand in int.source_health, which calls its prices old."""
    ((status, error, last_good_at, age_days, is_current),) = second.rows(
        "select status, error, last_good_at, age_days, is_current from int.source_health where source = ?", source
    )
    assert status == "failed"
    assert [part for part in told if part not in error] == []
    assert last_good_at == MOMENT.replace(tzinfo=None)
    assert round(age_days) == 4
    assert not is_current


def test_the_others_are_in_good_health(second: Done) -> None:
    """A provider's failure says nothing of any other."""
    rows = second.rows("select source, status, error, is_current from int.source_health where n_rows is not null")
    assert {source for source, *_ in rows} == {case.source.name for case in CASES}
    assert {(status, error, current) for source, status, error, current in rows if source not in FAILING} == {
        ("ok", None, True)
    }


def test_the_page_that_changed_is_kept(second: Done) -> None:
    """Whoever mends its parser finds the bytes that it could not read."""
    ((sha256,),) = second.rows(
        "select document_sha256 from core.scope_run where source = ? and status = 'failed'", CHANGED
    )
    assert Landing(second.file.parent / "landing").body(sha256) == second.bodies[CHANGED]


@pytest.mark.parametrize("source", FAILING)
def test_last_prices_stay_and_are_called_old(first: Done, second: Done, source: str) -> None:
    """None is gone, none is new, none is confirmed, and none is current."""
    query = (
        "select accelerator_label, purchase_option, unit_price::varchar, last_observed_at "
        "from int.accelerator_hour_price where source = ? order by all"
    )
    current = "select distinct is_current from int.accelerator_hour_price where source = ?"
    (before, was), (after, is_) = ((run.rows(query, source), run.rows(current, source)) for run in (first, second))
    assert before
    assert after == before
    assert {last for *_, last in after} == {MOMENT.replace(tzinfo=None)}
    assert (was, is_) == ([(True,)], [(False,)])


def test_who_forbids_it_is_not_asked(second: Done) -> None:
    """Nothing beyond the rules is asked of a site that forbids it, and nothing at all of one that is down."""
    assert second.asked[FORBIDS] == [("GET", ROBOTS)]
    assert second.asked[DOWN] == []
    assert ALLOWED != FORBIDDEN
