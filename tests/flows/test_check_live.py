"""`chipledger check-live` over servers that answer as captured: all well; then harmed, one at a time: each is named.

The bundle of a failed source, read again, fails in the same way: it is the test of the repair.
"""

import gzip
import json
import re
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from block_waits import faster
from click.testing import CliRunner, Result
from neoclouds.case import cases, document
from neoclouds.servers import FORBIDDEN, Site, keys, open_sites
from price_maps import Pages
from standin import aws, ec2, faults
from standin.exchange import NOT_FOUND, Answer
from standin.server import LoopbackServer

import extract.web.http
from extract import SOURCES, source_named
from extract.aws import price_pages
from extract.web.interface import Response
from flows.cli.main import main
from flows.collect import live
from flows.collect.collector import Collector, LogState, utc_now
from flows.collect.collector import check as check_rows
from flows.collect.inspect_document import differences, shape_of
from flows.config.settings import Settings
from warehouse.errors import LayoutChanged, SourceError

CASES = {case.source.name: case for case in cases()}
AWS_LIVE = ("aws_price_list", "aws_savings_plans", "aws_spot", "aws_capacity_blocks", "aws_instance_types")
RENAMED = [(name, case.renamed[name == "nebius"]) for name, case in CASES.items() if case.renamed]
"""Of each source one text (a column, a field, a heading) without which nothing may be read; of Nebius the second."""
EUROS = (
    b'<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" '
    b'xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><gesmes:subject>Reference rates</gesmes:subject>'
    b"<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender><Cube><Cube time='2026-11-20'>"
    b"<Cube currency='USD' rate='1.1720'/><Cube currency='JPY' rate='180.50'/></Cube></Cube></gesmes:Envelope>"
)
TRANSPORT = {
    "gone": (404, b"gone"), "forbidden": (403, b"no"), "broken": (500, b"oops"), "empty": b"", "no JSON": b"not json",
    "another page": b"<!DOCTYPE html><html><body>Sign in</body></html>", "no rows": b"{}", "a list of nothing": b"[]",
}  # fmt: skip


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No patience."""
    retries = extract.web.http.Retries(attempts=1)
    monkeypatch.setattr(extract.web.http, "HttpWeb", partial(extract.web.http.HttpWeb, retries=retries))
    for name, value in keys(list(CASES.values())).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def sites(shared: Path, request: pytest.FixtureRequest) -> Iterator[dict[str, Site]]:
    """A site for each provider, or that of a test's `name`, with its capture where one is read by the same scope."""
    params = getattr(getattr(request.node, "callspec", None), "params", {})
    with open_sites([case for name, case in CASES.items() if params.get("name", name) == name]) as found:
        for name, site in found.items():
            pages = sorted((shared / "data/captures/neoclouds" / name).glob("*.html"))
            site.body = pages[-1].read_bytes() if pages and name != "digitalocean" else None
        yield found


def command(folder: Path, sites: dict[str, Site], *words: str, **others: Any) -> Result:
    """Call the command with settings that lead to the sites."""
    tables = {name: site.settings for name, site in sites.items()} | others
    lines = [f'data_dir = "{folder}"']
    for name, table in tables.items():
        lines += [f"[sources.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    file = folder / "chipledger.toml"
    file.write_text("\n".join(lines))
    return CliRunner().invoke(main, ["--settings", str(file), "check-live", *words])


def check(folder: Path, sites: dict[str, Site], *names: str, **others: Any) -> dict[str, live.Check]:
    """Check these sources, or all with a site, by the command: its exit code is 1 if one failed, else 0."""
    words = [word for name in names or sites for word in ("--source", name)]
    shown = command(folder, sites, *words, "--json", **others)
    checks = [live.Check(**each) for each in json.loads(shown.stdout)["checks"]]
    assert shown.exit_code == any(each.verdict == "failed" for each in checks), shown.output
    return {each.source: each for each in checks}


def bundle_fails(found: live.Check) -> bool:
    """Return whether a bundle, read again as the test of bundles does, is refused."""
    try:
        live.read_bundle(source_named(found.source), Path(found.bundle), live.Check(source=found.source))
    except LayoutChanged:
        return True
    return False


def test_all_are_well_and_a_bundle_each_says_so(sites: dict[str, Site], tmp_path: Path) -> None:
    """Rows, prices, bytes, the verdict of robots.txt; and each bundle reads again as it did."""
    found = check(tmp_path, sites)

    assert {name: each.verdict for name, each in found.items()} == dict.fromkeys(sites, "well")
    for name, each in found.items():
        assert (each.robots, each.error) == ("allowed", "")
        assert each.rows > 0
        assert each.n_bytes > 100
        again = live.Check(source=name)
        live.read_bundle(source_named(name), Path(each.bundle), again)
        assert (again.rows, again.lowest, again.highest) == (each.rows, each.lowest, each.highest)
    assert len([*tmp_path.glob("captures/*/*/bundle.json")]) == len(sites) == 24
    assert (found["lambda"].rows, found["coreweave"].rows, found["hyperstack"].rows) == (28, 41, 30)


def test_the_second_time_they_are_compared_with_the_first(sites: dict[str, Site], tmp_path: Path) -> None:
    """A new field is told and no failure; a price that moved is counted."""
    check(tmp_path, sites, "verda")
    answer = CASES["verda"].body.replace(b'"currency"', b'"region_note": "x", "currency"')
    sites["verda"].body = answer

    (found,) = check(tmp_path, sites, "verda").values()

    assert (found.verdict, found.error) == ("changed", "")
    assert found.differences == ["+ [].region_note: text"]
    assert ", 0 moved, their median x 1" in found.against_known


def test_an_odd_row_is_told_with_its_reason(sites: dict[str, Site], tmp_path: Path) -> None:
    """The source is well; the row, its field and its value are named."""
    sites["lambda"].body = (sites["lambda"].body or b"").replace(b"$4.29", b"Waitlist", 1)

    (found,) = check(tmp_path, sites, "lambda").values()

    assert (found.verdict, found.rows, found.refused) == ("well", 27, 1)
    assert found.notes == ["row refused: neither a price nor a text for no price (PRICE/GPU/HR*: Waitlist)"]


def test_prices_that_all_moved_by_a_factor_fail(sites: dict[str, Site], tmp_path: Path) -> None:
    """Cents for dollars can be read and are wrong."""
    check(tmp_path, sites, "lambda")
    text = (sites["lambda"].body or b"").decode()
    sites["lambda"].body = re.sub(r"\$(\d+\.\d+)", lambda price: f"${float(price[1]) * 8:.2f}", text).encode()

    (found,) = check(tmp_path, sites, "lambda").values()

    assert found.verdict == "failed"
    assert "all prices moved together" in found.error
    assert "x 8" in found.error


@pytest.mark.parametrize(("name", "text"), RENAMED)
def test_a_form_that_changed_is_named(sites: dict[str, Site], tmp_path: Path, name: str, text: str) -> None:
    """Failed, with what differs, a bundle, and the bundle fails as a test."""
    check(tmp_path, sites, name)
    before = (sites[name].body or CASES[name].body).decode()
    if text not in before:
        sites[name].body, before = None, CASES[name].body.decode()
    sites[name].body = before.replace(text, f"x{text[1:]}").encode()

    (found,) = check(tmp_path, sites, name).values()

    assert found.verdict == "failed"
    assert name in found.error
    assert bundle_fails(found)
    assert json.loads((Path(found.bundle) / "bundle.json").read_text())["verdict"] == "failed"


@pytest.mark.parametrize("harm", TRANSPORT)
def test_what_is_no_answer_is_named(
    sites: dict[str, Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    """Whether a bundle can be kept depends on whether there were bytes."""
    answer = TRANSPORT[harm]
    harmed = {name: sites[name] for name in ("lambda", "vultr")}
    for site in harmed.values():
        monkeypatch.setitem(site.case.__dict__, "answers", None)
        site.body = answer if isinstance(answer, bytes) else b"x"
        site._answer = partial(_answer, site._answer, answer)  # type: ignore[method-assign]

    found = check(tmp_path, harmed)

    for each in found.values():
        assert each.verdict == "failed"
        assert each.error
        assert not each.bundle or bundle_fails(each)


def _answer(plain: Any, answer: Any, path: str) -> Any:
    found = plain(path)
    if path == "/robots.txt":
        return found
    status, body = answer if isinstance(answer, tuple) else (200, answer)
    return type(found)(status=status, body=body)


def test_a_site_that_forbids_robots_is_named(sites: dict[str, Site], tmp_path: Path) -> None:
    """Nothing was received, so that there is no bundle."""
    sites["crusoe"].robots = FORBIDDEN

    (found,) = check(tmp_path, sites, "crusoe").values()

    assert (found.verdict, found.bundle) == ("failed", "")
    assert found.robots.startswith("its robots.txt forbids it")


def test_the_sources_of_aws(standin: aws.StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One region each, through the API; a refusal is named, missing credentials leave a source out."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    faster(standin, monkeypatch, 100)
    where = {name: {"bulk_url": standin.url} for name in AWS_LIVE[:2]}
    found = check(tmp_path, {}, *AWS_LIVE, **where)

    assert {name: each.verdict for name, each in found.items()} == dict.fromkeys(AWS_LIVE, "well")
    assert found["aws_price_list"].scope == "us-east-1"
    standin.fault("ec2:DescribeSpotPriceHistory", ec2.INTERNAL_ERROR)
    standin.fault("ec2:DescribeInstanceTypes", ec2.UNAUTHORIZED)
    standin.fault("api", faults.Html())
    found = check(tmp_path, {}, *AWS_LIVE[:1], *AWS_LIVE[2:3], *AWS_LIVE[4:], **where)
    verdicts = [found[name].verdict for name in ("aws_price_list", "aws_spot", "aws_instance_types")]
    assert verdicts == ["failed", "failed", "left out"]


def test_the_size_of_large_files_is_told_first(
    standin: aws.StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the one region; nothing where they are small, or the API serves."""
    where = {"aws_price_list": {"bulk_url": standin.url}}
    words = ("--source", "aws_price_list")
    standin.stated_bytes = 378_000_000
    assert command(tmp_path, {}, *words, **where).stderr == ""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    text = command(tmp_path, {}, *words, **where).stderr

    assert text == "AWS's public files: 1 to read, 378 MB, about 1 min at 100 Mbit/s, for us-east-1\n"


def test_the_public_files_of_aws_and_the_reference_rates(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maps of prices, the page of Capacity Blocks, the feeds of spot, euros: well; then each harmed is named."""
    data = shared / "data"
    bodies = {
        "/blocks": (data / "captures/aws/capacity_block_page_script_2026-04_layout.html").read_bytes(),
        "/spot": gzip.decompress((data / "aws_samples/spot_js_prices_20210406.json.gz").read_bytes()),
        "/advisor": gzip.decompress((data / "aws_samples/spot_advisor_data_20250628.json.gz").read_bytes()),
        "/euro": EUROS,
    }
    files = LoopbackServer(lambda _method, path, *_: (_found(bodies.get(path)), lambda: None))
    pages = Pages(data / "aws2/aws_us_east_1_commitments_20260924.csv")
    for server in (files, pages.server):
        server.start()
    monkeypatch.setattr(price_pages, "ROOT", f"{pages.server.url}/")
    monkeypatch.setitem(price_pages.SOURCE.__dict__, "url", pages.server.url)
    where = {
        "aws_capacity_block_rates": {"url": f"{files.url}/blocks"}, "ecb_rates": {"url": f"{files.url}/euro"},
        "aws_spot_feed": {"prices_url": f"{files.url}/spot", "advisor_url": f"{files.url}/advisor"},
    }  # fmt: skip
    names = (*where, "aws_price_pages")

    well = check(tmp_path, {}, *names, **where)
    bodies |= {name: body.replace(b"e", b"x") for name, body in bodies.items()}
    monkeypatch.setattr(pages, "content", lambda path: {"regions": {}} if "ondemand" in path else None)
    harmed = check(tmp_path, {}, *names, **where)
    for server in (files, pages.server):
        server.stop()

    assert {name: each.verdict for name, each in well.items()} == dict.fromkeys(names, "well"), well
    assert {name: each.verdict for name, each in harmed.items()} == dict.fromkeys(names, "failed"), harmed
    assert all(bundle_fails(each) for each in harmed.values() if each.bundle)
    assert (well["aws_price_pages"].rows, well["ecb_rates"].facts) == (909, 2)
    assert {*CASES, *AWS_LIVE, *names} == {each.name for each in SOURCES if each.kind == "live"} - {"gpuhunt"}


def _found(body: bytes | None) -> Answer:
    return NOT_FOUND if body is None else Answer(body=body)


class Chain:
    """A web that answers for Verda's addresses: the first with this body, the second as it should."""

    def __init__(self, first: bytes) -> None:
        verda = source_named("verda")
        self.bodies = {verda.url: first, verda.other_urls[0]: CASES["verda"].body}

    def verdict(self, url: str) -> str:
        return "allowed"

    def get(self, url: str, **_: Any) -> Response:
        if url not in self.bodies:
            raise SourceError("HTTP 404", field="status", value=404)
        return Response(url=url, body=self.bodies[url], status=200, content_type="application/json")


def times_8(body: bytes) -> bytes:
    return re.sub(
        rb'(per_hour|_price)": "?(\d+\.?\d*)"?', lambda found: b'%s": "%.4f"' % (found[1], float(found[2]) * 8), body
    )


@pytest.mark.parametrize("first", [b"<!DOCTYPE html><html></html>", b"{}", times_8(CASES["verda"].body)])
def test_where_another_address_holds_a_source_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    """Where the first cannot be read, or all of its prices moved by a factor from those published; the note says so."""
    chosen = Settings(data_dir=tmp_path)
    collector = Collector(chosen, chosen.landing(), LogState(), utc_now, print, _polite=Chain(first))  # type: ignore[arg-type]
    known = check_rows(source_named("verda").parse(document(source_named("verda"), CASES["verda"].body)))
    monkeypatch.setattr(Collector, "known_prices", lambda self, source: known)

    found = live.one(collector, source_named("verda"), "us-east-1", tmp_path / "captures")

    assert (found.verdict, found.error) == ("well", "")
    assert found.notes[0].startswith("read from https://api.datacrunch.io/v1/instance-types, as another address failed")
    assert ", 0 moved, their median x 1" in found.against_known
    live.read_bundle(source_named("verda"), Path(found.bundle), live.Check(source="verda"))


def test_the_command_prints_a_line_each_and_exits_with_one(sites: dict[str, Site], tmp_path: Path) -> None:
    """One source well and one not: one line each, an archive of the bundles, and no cookie in any."""
    sites["crusoe"].body = (sites["crusoe"].body or b"").replace(b"GPU", b"Xpu")
    words = ["--source", "lambda", "--source", "crusoe"]

    shown = command(tmp_path, sites, *words)
    in_json = command(tmp_path, sites, *words, "--json")

    assert (shown.exit_code, in_json.exit_code) == (1, 1)
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("well     lambda ")
    assert "28 rows" in lines[0]
    assert any(line.startswith("failed   crusoe ") for line in lines)
    assert "2 sources, 1 failed" in lines
    archive = Path(json.loads(in_json.stdout)["archive"])
    with tarfile.open(archive) as packed:
        names = packed.getnames()
    assert sum(name.endswith("bundle.json") for name in names) == 2
    assert "status.html" in names
    assert "set-cookie" not in str(json.loads(in_json.stdout)).lower()
    assert "1 source, 0 failed" in command(tmp_path, sites, "--source", "lambda").stdout.splitlines()
    assert f"status page: {tmp_path}/captures/status.html" in lines


def test_the_status_page_leads_to_the_bundles(sites: dict[str, Site], tmp_path: Path) -> None:
    """What failed comes first; each link leads to a folder beside the page; texts of a provider are no HTML."""
    sites["crusoe"].body = b"<!DOCTYPE html><html><h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1></html>"
    found = check(tmp_path, sites, "lambda", "crusoe")
    file = tmp_path / "captures" / "status.html"

    page = file.read_text(encoding="utf-8")
    assert re.findall(r"<h2 id=.*?>(.*?)</h2>", page) == ["failed: crusoe", "well: lambda"]
    links = re.findall(r'<a href="(.*?)">', page)
    assert [str((file.parent / link).resolve()) for link in links] == [found["crusoe"].bundle, found["lambda"].bundle]
    assert "1 failed, 1 well" in page
    assert "alert(1)" in page
    assert "<script" not in page


def test_the_shapes_of_the_package_are_those_of_the_fixtures() -> None:
    """`python tools/shapes.py` writes them."""
    from scripts import script

    file = Path(live.__file__).parents[2] / "extract" / "shapes.json"
    assert file.read_text(encoding="utf-8") == script("tools/shapes.py").text()


@pytest.mark.parametrize(
    ("before", "now", "differs"),
    [(b'{"a": [{"b": 1}]}', b'{"a": [{"b": "1"}]}', ["- a[].b: number", "+ a[].b: text"]),
     (b'{"a": {"x-1": {"b": 1}}}', b'{"a": {"x-2": {"b": 2}}}', []),
     (b'[{"b": 1}]', b'[{"b": null}, {"b": 2}]', ["- [].b: number", "+ [].b: null or number"]),
     (b"<html><h1>GPU</h1><table><th>Price</table></html>", b"<html><h1>GPU</h1><table><th>Cost</table></html>",
      ["- column: Price", "+ column: Cost"]),
     (b'{"chipledger_pages": [{"a": 1}]}', b'{"a": 2}', []),
     (b"<a><b>1</b></a>", b"<a><b>2</b><c/></a>", ["+ /a/c"]), (b"", b"\xff", [])],
)  # fmt: skip
def test_a_shape_has_no_values(before: bytes, now: bytes, differs: list[str]) -> None:
    """Fields with their types, columns, headings; a map of names is one."""
    assert differences(shape_of(before), shape_of(now)) == differs


def test_every_source_is_checked_by_the_harms() -> None:
    """At least thirty of them."""
    assert len(RENAMED) + len(TRANSPORT) + 3 >= 30
    assert {name for name, _ in RENAMED} | {"massedcompute"} >= set(CASES) & {source.name for source in SOURCES}
