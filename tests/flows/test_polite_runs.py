"""Whose web a source gets from a run: the polite ones share one that is polite, the others get a plain one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from toy_source import Toy

from extract.base import Context
from extract.web.http import HttpWeb
from extract.web.polite import PoliteWeb
from flows.collect import steps
from warehouse.documents import ScopeFetch


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(data_dir=tmp_path)


def test_polite_sources_share_one_web(toy: Toy) -> None:
    """Rules and pauses are kept by host, so that all sources of a run go through one gate; each run has its own."""
    webs = []

    def fetch(ctx: Context, scope: str) -> ScopeFetch:
        webs.append(ctx.web)
        return toy.fetch(ctx, scope)

    sources = [replace(toy.source(), name=f"toy_{number}", fetch=fetch, polite=True) for number in range(4)]
    toy.world["all"] = {"p5.48xlarge": "1"}
    for _ in range(2):
        with steps.open_run(toy.settings(), clock=toy.clock) as run, ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda source, run=run: run.collector.fetch(source, "all"), sources))

    assert {type(web) for web in webs} == {PoliteWeb}
    assert [len(set(map(id, part))) for part in (webs[:4], webs[4:])] == [1, 1]
    assert webs[0] is not webs[4]


def test_other_sources_go_straight(toy: Toy) -> None:
    """A source that says nothing gets the plain web, without pauses."""
    webs = []

    def fetch(ctx: Context, scope: str) -> ScopeFetch:
        webs.append(ctx.web)
        return toy.fetch(ctx, scope)

    toy.world["all"] = {"p5.48xlarge": "1"}
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.collector.fetch(replace(toy.source(), fetch=fetch), "all")

    assert [type(web) for web in webs] == [HttpWeb]
