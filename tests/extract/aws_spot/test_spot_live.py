"""The live door against the stand-in: complete looks, paging to the very last, and each failure by its right name."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from looks import memory
from standin import aws, ec2, faults
from standin.ec2_cloud import NOW, Spot, Zone

from extract.aws.spot import SOURCE
from extract.base import Context
from warehouse.documents import ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable
from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch, no_rows

Ask = Callable[..., Context]
REGION = "us-east-2"
YESTERDAY = NOW - timedelta(days=1)


def after(ctx: Context, last: datetime) -> Context:
    """Return a context for a run after the one at `last`."""
    return replace(ctx, last_observed=lambda scope: last)


def rows(look: ScopeFetch) -> pl.DataFrame:
    return pl.concat([SOURCE.parse(document).rows for document in look.documents])


def parsed(look: ScopeFetch) -> ParsedFetch:
    """Return a look as the flow parses it."""
    frames = [
        SOURCE.parse(document).rows.with_columns(document_sha256=pl.lit(document.sha256)) for document in look.documents
    ]
    return ParsedFetch(
        run_id="run", source=look.source, scope=look.scope, observed_at=look.observed_at, complete=look.complete,
        archived=look.archived, document_sha256=look.documents[0].sha256,
        rows=pl.concat([no_rows(), *frames], how="diagonal"),
    )  # fmt: skip


def in_force(look: ScopeFetch) -> dict[tuple[str, str], str]:
    """Return the prices at the moment of a look, by type and zone."""
    now = rows(look).filter(pl.col("observed_at") == look.observed_at.replace(tzinfo=None))
    return {
        (kind, zone): price
        for kind, zone, price in now.select("instance_type", "availability_zone_id", "unit_price").iter_rows()
    }


def spot(
    price: str, at: datetime, zone_id: str = "use2-az3", kind: str = "trn2.48xlarge", product: str = "Linux/UNIX"
) -> Spot:
    return Spot(zone_id=zone_id, instance_type=kind, price=price, at=at, product=product)


# --- a look


def test_a_look_has_every_price_in_force_and_every_change(ask: Ask) -> None:
    """Trainium as it was observed on 2026-10-03: one row for each offer at the look, and its changes before."""
    look = SOURCE.fetch(ask(), REGION)

    assert (look.source, look.scope, look.observed_at, look.complete, look.archived) == (
        "aws_spot", REGION, NOW, True, False,
    )  # fmt: skip
    assert in_force(look) == {
        ("trn2.48xlarge", "use2-az3"): "14.5593",
        ("trn1.32xlarge", "use2-az3"): "2.15",
        ("trn1.2xlarge", "use2-az3"): "0.1344",
        ("inf2.48xlarge", "use2-az1"): "1.2981",
        ("inf2.48xlarge", "use2-az2"): "1.2981",
    }
    before = rows(look).filter(pl.col("observed_at") < NOW.replace(tzinfo=None), instance_type="trn2.48xlarge")
    assert before["unit_price"].to_list() == ["8.9914", "14.5593"]


def test_the_query_is_kept_with_the_answer(standin: aws.StandIn, ask: Ask) -> None:
    """Bytes as received, parameters beside them; two queries, of which the second covers 90 days on the first run."""
    look = SOURCE.fetch(ask(), REGION)

    current, history = look.documents
    assert current.body.startswith(b"<?xml")
    assert (current.url, current.scope, current.status) == ("ec2.DescribeSpotPriceHistory", REGION, 200)
    assert current.parameters["StartTime"] == "2026-10-03T02:19:00+00:00"
    assert history.parameters["StartTime"] == "2026-07-05T02:19:00+00:00"
    assert history.parameters["EndTime"] == look.observed_at.isoformat()
    asked = standin.seen(f"ec2:DescribeSpotPriceHistory:{REGION}")[0].parameters
    assert asked["ProductDescription.1"] == "Linux/UNIX"
    assert {asked[f"Filter.1.Value.{n}"] for n in range(1, 9)} == {
        "cg*",
        "dl*",
        "f*",
        "g*",
        "inf*",
        "p*",
        "trn*",
        "vt*",
    }


def test_a_later_look_says_only_what_is_new(standin: aws.StandIn, ask: Ask) -> None:
    """What the look before could say is not said again: neither the price before the window nor a repeat."""
    series = (spot("8.9914", YESTERDAY - timedelta(days=5)), spot("8.9914", YESTERDAY + timedelta(hours=1)))
    standin.cloud.change(REGION, spot=series)
    quiet = SOURCE.fetch(after(ask(), YESTERDAY), REGION)
    standin.cloud.change(REGION, spot=(*series, spot("9.5", NOW - timedelta(hours=3))))
    moved = SOURCE.fetch(after(ask(), YESTERDAY), REGION)

    assert rows(quiet).select("unit_price", "observed_at").rows() == [("8.9914", NOW.replace(tzinfo=None))]
    assert rows(moved)["unit_price"].to_list() == ["9.5", "9.5"]
    assert quiet.documents[1].parameters["StartTime"] == YESTERDAY.isoformat()


@pytest.mark.parametrize(
    ("settings", "last", "start"),
    [({}, NOW - timedelta(days=200), NOW - timedelta(days=90)),
     ({"since": "2026-10-01"}, None, datetime(2026, 10, 1, tzinfo=UTC)),
     ({"since": "2020-01-01"}, None, NOW - timedelta(days=90))],
)  # fmt: skip
def test_the_window_is_never_longer_than_90_days(
    ask: Ask, settings: dict[str, object], last: datetime | None, start: datetime
) -> None:
    """EC2 has no more, however long nobody looked and whatever the settings say."""
    ctx = ask(**settings)
    look = SOURCE.fetch(after(ctx, last) if last else ctx, REGION)

    assert look.documents[-1].parameters["StartTime"] == start.isoformat()


def test_trap_18_short_and_empty_pages_are_pages(standin: aws.StandIn, ask: Ask) -> None:
    """However EC2 cuts its pages, the log that comes of them is the same."""
    whole = SOURCE.fetch(ask(), REGION)
    history = history_of(whole)
    for sizes in ((2, 0, 1000), (0, 0, 1)):
        standin.cloud.page_sizes = sizes

        cut = SOURCE.fetch(ask(), REGION)

        assert len(cut.documents) > len(whole.documents)
        assert in_force(cut) == in_force(whole)
        assert history_of(cut) == history


def history_of(*looks: ScopeFetch) -> list[tuple[object, ...]]:
    """Return the intervals that come of looks."""
    with memory() as con:
        results = load(con, [parsed(look) for look in looks], recorded_at=NOW)
        assert {result.status for result in results} == {"ok"}
        assert sum(result.n_refused for result in results) == 0
        return con.execute(
            "select o.instance_type, o.availability_zone_id, p.valid_from, p.valid_to, p.unit_price "
            "from core.price_known_at('9999-01-01') as p join core.offer as o using (offer_id) order by all"
        ).fetchall()


def test_trap_18_results_are_not_cut_at_1000(standin: aws.StandIn, ask: Ask) -> None:
    """1,001 records are 1,001 records."""
    minutes = range(1001)
    series = tuple(spot(f"{10 + n % 2}", NOW - timedelta(minutes=n + 1)) for n in minutes)
    standin.cloud.change(REGION, spot=series)

    look = SOURCE.fetch(ask(), REGION)

    assert len(look.documents) == 1 + 2
    assert rows(look).height == 1 + 1001


@pytest.mark.parametrize("same", [True, False])
def test_trap_18_pages_without_an_end_are_an_error(
    standin: aws.StandIn, ask: Ask, monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    """A token that comes again, and tokens that never end."""
    monkeypatch.setattr("extract.aws.client.MAX_PAGES", 5)
    standin.fault("ec2", ec2.RepeatToken(same=same))

    with pytest.raises(SourceError, match="no end") as caught:
        SOURCE.fetch(ask(), REGION)

    assert caught.value.field == "NextToken"
    assert standin.count("ec2:DescribeSpotPriceHistory") <= 6


def test_trap_20_the_twin_is_asked_for_only_where_there_is_no_plain_record(standin: aws.StandIn, ask: Ask) -> None:
    """Never both in one look, so that they cannot contradict each other, however pages are cut."""
    plain = SOURCE.fetch(ask(), "us-east-1")
    twin = spot("12.6", NOW - timedelta(hours=1), "use1-az6", "p5.48xlarge", "Linux/UNIX (Amazon VPC)")
    standin.cloud.change("us-east-1", spot=(twin,))
    lonely = SOURCE.fetch(ask(), "us-east-1")

    assert in_force(plain)["p5.48xlarge", "use1-az6"] == "12.5"
    assert in_force(lonely) == {("p5.48xlarge", "use1-az6"): "12.6"}
    assert len(history_of(plain)) == 1 + 2


def test_trap_21_captures_without_zone_ids_keep_the_name(standin: aws.StandIn, ask: Ask) -> None:
    """As EC2 answered before 2025."""
    standin.cloud.zone_ids_in_spot = False

    found = rows(SOURCE.fetch(ask(), REGION))

    assert found["availability_zone_id"].null_count() == found.height
    assert set(found["availability_zone"]) == {"us-east-2a", "us-east-2b", "us-east-2c"}


def test_trap_22_a_zone_that_drops_out_is_gone_and_never_zero(standin: aws.StandIn, ask: Ask) -> None:
    """A complete look without an offer says that there is no spot; the price before stands until then."""
    first = SOURCE.fetch(ask(now=NOW - timedelta(hours=1)), REGION)
    kept = tuple(each for each in standin.cloud.regions[REGION].spot if each.zone_id != "use2-az2")
    standin.cloud.change(REGION, spot=kept)
    second = SOURCE.fetch(after(ask(), first.observed_at), REGION)

    found = history_of(first, second)

    assert second.complete
    ends = {zone: until for kind, zone, _, until, _ in found if kind == "inf2.48xlarge"}
    assert ends == {"use2-az1": None, "use2-az2": NOW.replace(tzinfo=None)}
    assert all(price > 0 for *_, price in found)


def test_trap_23_a_wrong_name_is_named_before_it_is_asked_for(standin: aws.StandIn, ask: Ask) -> None:
    """EC2 would answer with an empty list: two names without a space between them, or with one."""
    for name in ("p3.2xlargep2.xlarge", "p3.2xlarge p2.xlarge", "P5.48XLARGE", " "):
        with pytest.raises(SettingsError) as caught:
            SOURCE.fetch(ask(instance_types=[name]), REGION)
        assert caught.value.field == "instance_types"
    assert standin.count("ec2") == 0


def test_trap_23_an_empty_region_is_noted(standin: aws.StandIn, ask: Ask) -> None:
    """No match is no error to EC2; the look says so, and of types that were named it is not complete."""
    unknown = SOURCE.fetch(ask(instance_types=["p99.48xlarge"]), REGION)
    standin.cloud.change(REGION, spot=())
    empty = SOURCE.fetch(ask(), REGION)

    assert unknown.notes == ("no spot price of p99.48xlarge here",)
    assert not unknown.complete
    assert (empty.notes, empty.complete, rows(empty).height) == (("no spot price of any accelerator here",), True, 0)


def test_some_types_alone_say_nothing_of_the_others(ask: Ask) -> None:
    """Who asks for p5 only has not seen that Trainium is gone."""
    look = SOURCE.fetch(ask(instance_types=["trn1.*"]), REGION)

    assert {kind for kind, _ in in_force(look)} == {"trn1.32xlarge", "trn1.2xlarge"}
    assert not look.complete


# --- failures


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (ec2.AUTH_FAILURE, SourceError, "Enable us-east-2"),
        (ec2.AUTH_FAILURE, SourceError, "else give credentials that may call ec2:DescribeSpotPriceHistory"),
        (ec2.QueryError("OptInRequired", "You are not subscribed", 401), SourceError, "Enable us-east-2"),
        (ec2.UNAUTHORIZED, CredentialsMissing, "ec2:DescribeSpotPriceHistory"),
        (ec2.EXPIRED, CredentialsMissing, "log in again"),
        (ec2.QueryError("SignatureDoesNotMatch", "Signature expired: it is earlier", 403), CredentialsMissing, "clock"),
        (ec2.THROTTLED, Unavailable, "Try again later"),
        (ec2.INTERNAL_ERROR, Unavailable, "Try again later"),
        (faults.Reset(at=0.0), Unavailable, "Check the network"),
        (faults.Html(), LayoutChanged, "without SpotPriceHistory"),
    ],
)  # fmt: skip
def test_trap_24_each_failure_has_its_name(
    standin: aws.StandIn, ask: Ask, fault: faults.Effect, error: type[SourceError], said: str
) -> None:
    """A region fails alone, by name, with what to do; the next one is read."""
    standin.fault(f"ec2:{REGION}", fault)

    with pytest.raises(error) as caught:
        SOURCE.fetch(ask(), REGION)

    assert REGION in str(caught.value)
    assert said in str(caught.value)
    assert rows(SOURCE.fetch(ask(), "us-east-1")).height > 0


def test_regions_are_those_that_the_account_has(ask: Ask) -> None:
    """Of them the user's own or four; "all" is what the account has enabled; the setting may name any."""
    assert SOURCE.scopes(ask()) == ("us-east-1", "us-east-2")
    assert SOURCE.scopes(replace(ask(), regions=("ap-south-2", "me-south-1"))) == ("ap-south-2",)
    assert SOURCE.scopes(ask(regions="all")) == ("ap-south-2", "ap-southeast-4", "us-east-1", "us-east-2")
    assert SOURCE.scopes(ask(regions=["me-south-1", "us-east-1"])) == ("me-south-1", "us-east-1")
    with pytest.raises(SourceError, match="me-south-1"):
        SOURCE.fetch(ask(), "me-south-1")


def test_a_login_that_ended_is_one_line(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An SSO session without a token: what to do, and no traceback of botocore's."""
    session = "[sso-session s]\nsso_start_url = https://s.awsapps.com/start\nsso_region = eu-west-1\n"
    profile = "[profile p]\nsso_session = s\nsso_account_id = 111122223333\nsso_role_name = r\n"
    (tmp_path / "config").write_text(session + profile)
    for name, value in (("HOME", tmp_path), ("AWS_CONFIG_FILE", tmp_path / "config"), ("AWS_PROFILE", "p")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")

    with pytest.raises(CredentialsMissing, match="log in again"):
        SOURCE.scopes(ask())
    assert caplog.text == ""


def test_a_company_may_forbid_a_region(
    standin: aws.StandIn, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The region of boto3's profile lists the regions; where none may, the user's own that AWS has are taken."""
    (tmp_path / "config").write_text("[default]\nregion = ap-south-2\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    standin.fault("ec2:us-east-1", ec2.UNAUTHORIZED)
    assert SOURCE.scopes(ask()) == ("us-east-1", "us-east-2")

    standin.fault("ec2:DescribeRegions", ec2.UNAUTHORIZED)
    assert SOURCE.scopes(replace(ask(), regions=("ap-south-2", "westeurope"))) == ("ap-south-2",)
    for context in (ask(), replace(ask(regions="all"), regions=("ap-south-2",))):
        with pytest.raises(CredentialsMissing, match="ec2:DescribeRegions and the others of the policy"):
            SOURCE.scopes(context)


def test_a_history_without_prices_in_force_is_an_error(standin: aws.StandIn, ask: Ask) -> None:
    """An answer that lost the present must not say that everything is gone."""
    standin.fault(f"ec2:{REGION}", faults.Edit(without_records), times=2)

    with pytest.raises(SourceError, match="none is in force"):
        SOURCE.fetch(ask(), REGION)


def without_records(body: bytes) -> bytes:
    """Return a page with an empty set."""
    return re.sub(rb"<spotPriceHistorySet>.*</spotPriceHistorySet>", b"<spotPriceHistorySet/>", body, flags=re.DOTALL)


def test_an_offer_that_is_missing_among_many_makes_the_look_incomplete(standin: aws.StandIn, ask: Ask) -> None:
    """It may be cut, so it says of nobody that he is gone."""

    def without_one(body: bytes) -> bytes:
        start = body.index(b"<item>")
        return body[:start] + body[body.index(b"</item>") + len(b"</item>") :]

    standin.fault(f"ec2:{REGION}", faults.Edit(without_one), times=1)

    look = SOURCE.fetch(ask(), REGION)

    assert not look.complete
    assert look.notes[0].startswith("1 offers of the last days are not among the prices in force: ")


def test_a_dozen_regions_one_slow_one_denied_and_credentials_that_end(standin: aws.StandIn, ask: Ask) -> None:
    """Side by side: who fails fails alone, and run again the whole is there, once."""
    names = [f"xx-east-{n}" if n < 10 else f"yy-{'abc'[n // 10 - 1]}-{n % 10}" for n in range(12)]
    for n, name in enumerate(names):
        zone = Zone(name=f"{name}a", zone_id=f"z{n}-az1")
        series = tuple(spot(f"{n + 1}.{day}", NOW - timedelta(days=day, hours=1), zone.zone_id) for day in (2, 1))
        standin.cloud.change(name, zones=(zone,), spot=series)
    standin.fault(f"ec2:{names[3]}", faults.Delay(0.5))
    standin.fault(f"ec2:{names[4]}", ec2.UNAUTHORIZED)
    standin.fault("ec2", ec2.EXPIRED, after=16)
    ctx = ask(regions=names)

    good, bad = fetched(ctx, names)
    standin.heal()
    again, none_bad = fetched(ctx, sorted(bad))

    assert 1 <= len(good) <= 8
    assert {type(error) for error in bad.values()} == {CredentialsMissing}
    assert (set(good) | set(again), none_bad) == (set(names), {})
    found = history_of(*good.values(), *again.values())
    assert len(found) == 12 * 2
    assert len(set(found)) == len(found)


def fetched(ctx: Context, names: list[str]) -> tuple[dict[str, ScopeFetch], dict[str, SourceError]]:
    """Return the looks at regions that were fetched side by side, and the errors of the others."""

    def one(name: str) -> ScopeFetch | SourceError:
        try:
            return SOURCE.fetch(replace(ctx), name)
        except SourceError as error:
            return error

    with ThreadPoolExecutor(max_workers=8) as pool:
        results = dict(zip(names, pool.map(one, names), strict=True))
    looks = {name: each for name, each in results.items() if isinstance(each, ScopeFetch)}
    return looks, {name: each for name, each in results.items() if isinstance(each, SourceError)}
