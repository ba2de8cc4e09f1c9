"""The weekly page: which week a move belongs to, what was known when, what may be said, and what is only text."""

import functools
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import log_days
import polars as pl
import pytest
import weekly_file
from few_marts import needed
from purchase import SOURCES
from weekly_file import HOSTILE, Tags, with_frames

from reports.charts import chart_facts, sparkline
from reports.pages import frame
from reports.weekly import facts, news, sections
from reports.weekly import page as weekly_page
from reports.weekly.calendar import Week
from reports.weekly.facts import WeekFacts
from warehouse.errors import SettingsError
from warehouse.log import db

WEEKS = [f"2026-W0{number}" for number in range(2, 7)]
TOLD = [(week, False) for week in WEEKS] + [
    pytest.param(week, True, marks=() if week in WEEKS[:2] else pytest.mark.prove) for week in WEEKS
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return weekly_file.weeks(tmp_path_factory)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory):
    """Return the facts of a week by its text, read once each."""
    return functools.cache(functools.partial(weekly_file.told, tmp_path_factory))


def of_provider(found: WeekFacts, provider: str) -> list[dict[str, object]]:
    return found["move"].filter(pl.col("service_provider_name") == provider).to_dicts()


# --- weeks


@pytest.mark.parametrize(
    ("week", "first", "after"),
    [
        ("2025-W26", "2025-06-23", "2025-06-30"),
        ("2020-W53", "2020-12-28", "2021-01-04"),
        ("2026-W01", "2025-12-29", "2026-01-05"),
    ],
)
def test_a_week_is_monday_to_sunday(week: str, first: str, after: str) -> None:
    parsed = Week.parse(week)

    assert str(parsed) == week
    assert (f"{parsed.since:%Y-%m-%d}", f"{parsed.until:%Y-%m-%d}") == (first, after)
    assert (
        Week.of(parsed.since)
        == Week.of(parsed.until.replace(tzinfo=None) - (parsed.until - parsed.since) / 7)
        == parsed
    )


@pytest.mark.parametrize("text", ["2025-W54", "2025-W00", "2025W26", "2025-26", "", "٢٠٢٥-W26", "2025-W26\n"])
def test_what_is_no_week_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="no week"):
        Week.parse(text)


def test_a_week_that_had_not_begun_is_refused(file: Path) -> None:
    with pytest.raises(SettingsError, match=r"had not begun.*the last full week in it is 2026-W06"):
        facts.read(file, Week(2026, 9))


def test_the_last_full_week_is_the_default(file: Path) -> None:
    """The file is of Thursday of W07, so W06 is told."""
    found = facts.read(file)

    assert str(found.week) == "2026-W06"
    assert found.is_over


# --- what moved, and when


def test_what_two_sources_saw_happened_once_in_the_week_of_the_earlier(told) -> None:
    """The second source saw it on Sunday, the first on Monday: it is news of the week that ended that Sunday."""
    (move,) = of_provider(told("2026-W02"), "RunPod")

    assert (move["price_before"], move["price_after"]) == (2.39, 2.89)
    assert move["change_ratio"] == pytest.approx(0.2092, abs=1e-4)
    assert move["event_at"] == datetime.fromisoformat("2026-01-11T12:00")
    assert move["event_from"] == datetime.fromisoformat("2026-01-06T00:00")
    assert [each["source"] for each in move["windows"]] == ["aws_spot_feed", "aws_price_list"]
    assert of_provider(told("2026-W03"), "RunPod")[0]["accelerator_name"] == "H200"


def test_the_index_is_made_of_what_was_known_then(told, file: Path) -> None:
    """Late's rise of L40S, read out of an archive two weeks later, is in no index that was known when W02 ended."""
    week = Week.parse("2026-W02")
    days = "select service_provider_name, accelerator_name, index_date, round(price_index, 6) from {}int.price_index "
    days += f"where index_level = 'provider' and index_date < date '{week.until:%Y-%m-%d}' order by all"
    with duckdb.connect() as con:
        con.execute(f"attach '{file}' as published (read_only)")
        now = con.execute(days.format("published.")).fetchall()
        facts._cut(con, week.until, known_then=True)
        then = con.execute(days.format("")).fetchall()
    assert {row[3] for row in now if row[0] == "Late"} == {100, 120}
    assert "Late" not in {row[0] for row in then}
    assert {row[3] for row in then if row[:2] == ("RunPod", "H100")} > {100}
    found = told("2026-W03", known_then=True).drift.filter(service_provider_name="AWS", accelerator_name="H100")
    assert found["drift"].to_list() == [pytest.approx(60 / 80 - 1)]


def test_known_then_leaves_out_what_was_learnt_later(told) -> None:
    """When W02 ended only one source had seen the new price."""
    (move,) = of_provider(told("2026-W02", known_then=True), "RunPod")

    assert [each["source"] for each in move["windows"]] == ["aws_spot_feed"]


def test_what_an_archive_tells_later_is_known_now_and_was_not_then(told) -> None:
    """A rise of W02 that an archive told in W04: news of W02, not known then, and counted in W04."""
    assert len(of_provider(told("2026-W02"), "Late")) == 1
    assert of_provider(told("2026-W02", known_then=True), "Late") == []
    assert "Late" not in set(told("2026-W02", known_then=True)["provider_price"]["service_provider_name"])
    assert told("2026-W04")["late"].row(0) == (1, datetime.fromisoformat("2026-01-10T00:00"))
    assert told("2026-W03")["late"].row(0)[0] == 0


def test_hindsight_tells_a_correction_from_a_move(told) -> None:
    """H200 rose on 17 January and was back three days later: then a list price, now a correction."""
    then = {m["accelerator_name"]: m["change_kind"] for m in of_provider(told("2026-W03", known_then=True), "RunPod")}
    now = {m["accelerator_name"]: m["change_kind"] for m in of_provider(told("2026-W03"), "RunPod")}

    assert (then["H200"], now["H200"]) == ("list_change", "correction")
    assert "H200" not in " ".join([news.subject(told("2026-W03")), *news.happened(told("2026-W03"))])
    assert "correction" in news.also(told("2026-W03"))
    (back,) = told("2026-W04")["taken_back"].to_dicts()
    assert (back["accelerator_name"], back["wrong_price"], back["right_price"]) == ("H200", 5.0, 4.0)


def test_prices_are_those_of_the_end_of_the_week(told) -> None:
    """In W02 AWS asked 10 USD for an H100, and 7.50 after its cut in W03; RunPod's 2.69 is the cheapest of its form."""

    def price(week: str, way: str) -> float:
        found = told(week)["cheapest"].filter(
            pl.col("accelerator_name") == "H100", pl.col("form_factor") == "SXM", pl.col("way") == way
        )
        return found["price_usd"].item()

    assert (price("2026-W02", "aws_on_demand"), price("2026-W03", "aws_on_demand")) == (10.0, 7.5)
    assert price("2026-W03", "on_demand") == 2.2


def test_gone_is_told_in_its_week_alone(told) -> None:
    gone = told("2026-W03")["offer"].filter(pl.col("change_kind") == "gone_offer")

    assert gone["service_provider_name"].to_list() == ["Beta"]
    assert told("2026-W04")["offer"].is_empty()


def test_moves_of_several_sizes_say_which(told) -> None:
    """Of sizes of one chip at one provider: lines that differ in nothing but the price would say nothing.

    Where more happened than is listed, that is said.
    """
    row = {
        "accelerator_name": "B200",
        "service_provider_name": "Lambda",
        "purchase_option": "on_demand",
        "n_also": 12,
        "change_kind": "list_change",
        "price_before": 5.85,
        "price_after": 6.79,
        "pricing_currency": "USD",
        **dict.fromkeys(("form_factor", "tier", "commitment_term_hours", "purchase_payment_model", "n_offers")),
    }
    rows = pl.DataFrame([row | {"units": units} for units in (4.0, 1.0, None)], infer_schema_length=None)
    said = sections._also(with_frames(told("2026-W03"), also=rows))
    assert said.sentences == ("B200, Lambda, 4 chips: 5.85 to 6.79.", *["B200, Lambda: 5.85 to 6.79."] * 2)
    assert said.note.endswith(" There are more under Details of the page.")


# --- what may be said


def test_the_subject_carries_the_news(told) -> None:
    assert news.subject(told("2026-W02")).startswith("RunPod raised H100 PCIe 21 %")
    assert news.subject(told("2026-W02")).startswith("RunPod raised H100 PCIe 21 % to 2.89; AWS unchanged")
    assert news.subject(told("2026-W03")).startswith("AWS cut H100 SXM 25 % to 7.50")
    assert news.subject(told("2026-W05")) == "No change, 11 prices checked; 2 scopes not read"
    assert news.subject(told("2026-W06")) == "No price was confirmed in 2026-W06: nothing was read"


@pytest.mark.parametrize(("week", "known_then"), TOLD)
def test_no_subject_is_too_long_or_breaks(told, week: str, known_then: bool) -> None:
    subject = news.subject(told(week, known_then=known_then))

    assert len(subject) <= 78
    assert subject.isprintable()


@pytest.mark.parametrize(
    ("checked", "listed", "said"),
    [
        (100, 100, "AWS unchanged"),
        (95, 100, "AWS unchanged"),
        (94, 100, "AWS read in part"),
        (0, 100, "AWS list not read"),
    ],
)
def test_unchanged_is_said_only_of_what_was_checked(told, checked: int, listed: int, said: str) -> None:
    found = told("2026-W02")
    rows = found["checked"].with_columns(
        n_listed_checked=pl.when(pl.col("service_provider_name") == "AWS").then(checked).otherwise("n_listed_checked"),
        n_listed=pl.when(pl.col("service_provider_name") == "AWS").then(listed).otherwise("n_listed"),
    )
    others = rows.filter(pl.col("service_provider_name") != "AWS")
    assert news.aws_words(with_frames(found, checked=rows)) == [said]
    assert news.aws_words(with_frames(found, checked=others)) == ["AWS list not read"]


def test_moves_that_are_held_are_said(told) -> None:
    """Each price once, however often it was seen: without them the mail said that AWS moved nothing."""
    row = {"gate": "history", "offer_id": 1, "row_json": '{"service_provider_name": "AWS"}'}
    refused = pl.DataFrame([row, row, row | {"offer_id": 2}])
    found, none = (with_frames(told(week), refused=refused) for week in ("2026-W05", "2026-W06"))

    assert news.subject(found) == "No change, 11 prices checked; 2 scopes not read; 2 moves held"
    assert "2 moves of list prices at AWS held until confirmed, in no number." in news.happened(found)
    assert news.happened(found)[-1].startswith("AWS: 4 of its 4 list prices were confirmed")
    assert news.subject(none) == "No price was confirmed in 2026-W06: 3 rows held or refused"
    assert news.happened(none)[1:] == ["2 moves of list prices at AWS held until confirmed, in no number."]


def test_what_a_provider_moved_is_one_sentence() -> None:
    """How many list prices, which way, by how much; a price that was free before has no percent."""
    both = {"n_moved": 5, "n_raised": 1, "n_cut": 4, "least_change": 0.004, "most_change": 0.35}
    free = {"n_moved": 2, "n_raised": None, "n_cut": None, "least_change": None, "most_change": None}

    assert news._repriced(both) == "cut 4 and raised 1 list prices by 0.4 to 35 %"
    assert news._repriced({**both, "n_cut": 0, "least_change": 0.35}) == "raised 1 list price by 35 %"
    assert news._repriced(free) == "set 2 list prices"


def test_the_biggest_moves_are_of_the_readers_chips(file: Path) -> None:
    """Another chip has other news; in dollars a month a node is 8 chips for 730 hours."""
    week = Week.parse("2026-W03")
    (move,) = facts.read(file, week, chips=("H100",))["biggest"].filter(service_provider_name="AWS").to_dicts()
    none = facts.read(file, week, chips=("L4",))

    assert move["node_month_usd"] == pytest.approx((7.5 - 10) * 8 * 730)
    assert news.subject(none).startswith("No change on your chips, ")
    assert none["biggest"].is_empty()


def test_small_moves_are_counted_not_shown(file: Path) -> None:
    """With a threshold above it, a move is no news, and does not make the week quiet either."""
    found = facts.read(file, Week.parse("2026-W02"), least=0.5)

    assert news.subject(found).startswith("No large change on your chips, ")
    assert news.happened(found)[0].startswith("No list price of your chips moved by much; ")
    assert not found.is_quiet


def test_a_quiet_week_is_one_in_which_nothing_happened(told) -> None:
    assert [told(week).is_quiet for week in ("2026-W02", "2026-W03", "2026-W05")] == [False, False, True]


def test_who_was_not_seen_is_named(told) -> None:
    """In W06 nobody looked: all providers were not seen, and the scopes were not read in time, with their last day."""
    scopes, providers, chips = news.not_seen(told("2026-W06"))

    assert scopes == (
        "2 scopes not read in time: aws_price_list us-east-1 (last on 28 Jan) and "
        "aws_spot_feed second (last on 28 Jan)."
    )
    assert providers.startswith("5 providers not seen in the week, but in the 90 days before: AWS, ")
    assert chips == ("No price of B200, B300, MI300X and Trainium2 was confirmed within the limit of age, 90 days.")


# --- the page


def test_words_from_outside_are_text(told, tmp_path: Path) -> None:
    """No script, no image, no handler; and the words themselves stand there to be read."""
    text = weekly_page.write(told("2026-W03"), tmp_path).page.read_text(encoding="utf-8")
    tags = Tags(text)

    assert not {tag for tag, _ in tags.seen} & {"img", "iframe", "object"}
    assert [tag for tag, _ in tags.seen].count("script") == text.count(frame.script()) == 1
    assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]
    assert '<script>alert(1)</script>"><img src=x onerror=alert(1)>=cmd()' in "".join(tags.words)
    assert HOSTILE not in text


def test_a_page_needs_nothing_else_and_stays(told, tmp_path: Path) -> None:
    """The same facts give the same bytes; nothing is loaded; the list names the week with its news."""
    first = weekly_page.write(told("2026-W02"), tmp_path).page
    before = first.read_bytes()
    weekly_page.write(told("2026-W03"), tmp_path)
    again = weekly_page.write(told("2026-W02"), tmp_path).page
    listed = (tmp_path / "weeks" / "index.html").read_text(encoding="utf-8")

    assert first.relative_to(tmp_path).as_posix() == "weeks/2026-W02.html"
    assert again.read_bytes() == before
    assert not list(tmp_path.glob("weeks/*edition*"))
    assert not re.search(rb'(?:src|href)="https?:', before.replace(b'href="https://x.test', b""))
    assert re.findall(r'<a href="../weeks/(2026[^"]+)">', listed) == ["2026-W03.html", "2026-W02.html"]
    assert "RunPod raised H100 PCIe 21 %" in listed


def test_a_week_lists_the_documents_that_its_numbers_link_to(
    told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no other: those of the moves that a table leaves out, and of chips that the page does not show."""
    monkeypatch.setattr(weekly_page, "MAX_MOVES", 1)
    found = replace(told("2026-W02"), chips=("H100",))
    page = weekly_page.write(found, tmp_path).page.read_text(encoding="utf-8")
    linked, listed = ({*re.findall(rf'{what}d-(\w{{12}})"', page)} for what in ('href="#', 'id="'))
    assert "1 more row left out" in page
    assert linked == listed == {"aws_price_li", "aws_spot_fee"}


def test_a_week_told_otherwise_keeps_what_was_said_before(told, tmp_path: Path) -> None:
    found = told("2026-W02")
    first = weekly_page.write(found, tmp_path).page.read_bytes()
    empty = with_frames(found, move=found["move"].clear(), biggest=found["biggest"].clear())
    now = weekly_page.write(empty, tmp_path).page.read_text(encoding="utf-8")
    kept = tmp_path / "weeks" / "2026-W02.edition-1.html"

    assert kept.read_bytes() == first
    assert "This is edition 2" in now
    assert "RunPod raised H100 PCIe 21 %" in now
    listed = (tmp_path / "weeks" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<a href="../weeks/([^"]+)">(2026[^<]+)</a>', listed) == [
        ("2026-W02.html", "2026-W02"),
        ("2026-W02.edition-1.html", "2026-W02, edition 1"),
    ]


def test_costs_of_the_file_s_own_day_make_no_edition(told, tmp_path: Path) -> None:
    """They go with each day's file until the next week is over; the page says of which day they are."""
    point = pl.DataFrame([{"model_name": "m", "interactivity": 50.0, "input_length": 1000.0, "output_length": 1000.0}])
    cost = {"accelerator_name": "H100", "option_kind": "on_demand", "place": "AWS", "service_provider_name": "AWS"}
    for day, usd in ((8, 15.5), (9, 16.2)):
        costs = pl.DataFrame([cost | {"usd_per_million_output_tokens": usd, "price_kind": "price"}])
        found = replace(told("2026-W05"), built_at=datetime(2026, 2, day, 7))  # noqa: DTZ001 (as files have it)
        page = weekly_page.write(with_frames(found, token_point=point, token_cost=costs), tmp_path).page
        text = page.read_text(encoding="utf-8")
        assert (str(usd) in text, f"Prices as of {day} Feb." in text) == (True, True)
    assert not list(tmp_path.glob("weeks/*edition*"))


def test_a_check_that_compares_more_each_day_makes_no_edition(told, tmp_path: Path) -> None:
    """What differs of a week stays; by how many pairs it was compared goes with the file's own day."""
    check = {"check_name": "daily_fetches", "subject": "toy", "n_differing": 1}
    for n_compared in (11, 12):
        found = replace(told("2026-W05"), checks=[check | {"n_compared": n_compared}])
        page = weekly_page.write(found, tmp_path).page.read_text(encoding="utf-8")
        assert "1 truth check newly differs: daily_fetches, toy." in page
    assert not list(tmp_path.glob("weeks/*edition*"))


def test_a_week_that_is_not_over_says_so_and_keeps_no_edition(file: Path, tmp_path: Path) -> None:
    found = facts.read(file, Week(2026, 7))
    page = weekly_page.write(found, tmp_path).page
    weekly_page.write(replace(with_frames(found, drifting=found["drifting"].clear()), version="other"), tmp_path)

    assert not found.is_over
    assert "so far: the week is over on 2026-02-16" in page.read_text(encoding="utf-8")
    assert not list(tmp_path.glob("weeks/*edition*"))


def test_a_file_without_costs_per_token_is_shown_without_them(told) -> None:
    """Marts that a file does not have are left out, not missed."""
    assert told("2026-W06")["token_cost"].is_empty()
    assert told("2026-W06").faults == {}


def test_a_moment_with_a_zone_falls_into_its_week_in_utc() -> None:
    assert str(Week.of(datetime.fromisoformat("2026-01-05T00:30:00+02:00"))) == "2026-W01"
    assert str(Week.of(datetime(2026, 1, 5, tzinfo=UTC))) == "2026-W02"


@pytest.mark.parametrize(
    ("week", "days"),
    [
        ((2026, 53), "28 Dec 2026 to 3 Jan 2027"),
        ((2026, 1), "29 Dec 2025 to 4 Jan 2026"),
        ((2026, 3), "12 Jan to 18 Jan 2026"),
    ],
)
def test_a_week_of_two_years_names_both(told, week: tuple[int, int], days: str) -> None:
    """Each once."""
    assert f"({days})" in sections.opening(replace(told("2026-W03"), week=Week(*week)))


OF_YEAR, _ = needed("price_change", "provider_price", "commitment_option", "source_health", "unknown_accelerator")
OLD = ((-900, "2.1", "80", False), (-800, "2.2", "90", False), (-500, "2.3", "85", True), (-360, "2.39", "85", False))
"""Looks of the two years before: the day, RunPod's price, AWS's, and whether an offer was gone."""


def test_a_week_reads_the_prices_of_its_year_and_says_what_all_would_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beta was gone a year before and came back; what AWS and RunPod told before their last price is not read."""
    first, second = weekly_file.first, weekly_file.second
    before = [first(at, pcie=pcie, p5=p5, gone=gone) for at, pcie, p5, gone in OLD]
    with db.writer(tmp_path) as con:
        log_days.told(con, *before, learnt=-300)
        log_days.told(con, first(5), second(5, pcie="2.39"), learnt=5)
        log_days.told(con, second(10.5, pcie="2.89"), learnt=10.5)
        log_days.told(con, first(13, pcie="2.89", p5="60", gone=True), learnt=13)
        log_days.told(con, first(16, pcie="2.89", p5="60", h200="5", gone=True), learnt=16)
        file = log_days.put(con, tmp_path, weekly_file.BUILT_DAY, marts=OF_YEAR, sources=SOURCES)
    whole = "from published.core.price_event where valid_from < $as_of"
    narrow = facts.read(file, Week.parse("2026-W03"))
    text = facts.select("week_event")
    with duckdb.connect() as con:
        con.execute(f"attach '{file}' as published (read_only)")
        n_read, n_all = (
            con.execute(f"select count(*) from ({each})", {"as_of": narrow.as_of}).fetchall()[0][0]
            for each in (text, whole)
        )
    monkeypatch.setattr(facts, "select", lambda name, of=facts.select: whole if name == "week_event" else of(name))
    wide = facts.read(file, Week.parse("2026-W03"))

    assert n_read == n_all - 7
    assert not narrow.faults
    for name, frame_of_all in wide.frames.items():
        assert narrow[name].equals(frame_of_all), name
    assert narrow.charted.prices.equals(wide.charted.prices)
    assert narrow.charted.sparks.equals(wide.charted.sparks)


# --- charts


def test_charts_are_made_of_what_was_known(told) -> None:
    """What an archive told of W02 later is in the charts of what is known now, and not of what was known then."""
    moved = {"known_then": False}, {"known_then": True}
    now, then = (told("2026-W02", **each).charted.prices for each in moved)

    assert now.filter(pl.col("service_provider_name") == "Late")["price_usd"].to_list() == [5, 6]
    assert then.filter(pl.col("service_provider_name") == "Late").is_empty()


def test_a_chart_steps_with_the_list_and_leaves_mistakes_out(told) -> None:
    """AWS's cut of W03 is one step from 10 to 7.50; RunPod's H200, which rose and was back, is not in the lines."""
    prices = told("2026-W03").charted.prices
    aws = prices.filter(pl.col("service_provider_name") == "AWS", pl.col("form_factor") == "SXM")

    assert aws.filter(pl.col("accelerator_name") == "H100")["price_usd"].to_list() == [10.0, 7.5]
    assert aws["list_change_ratio"].drop_nulls().to_list() == pytest.approx([-0.25])
    assert aws["ends_at"][0] == aws["begins_at"][1]
    assert set(prices["purchase_option"]) == {"on_demand"}
    assert 5.0 not in prices.filter(pl.col("service_provider_name") == "RunPod")["price_usd"].to_list()


def test_a_page_has_a_chart_and_a_sparkline_for_what_moved(told, tmp_path: Path) -> None:
    loud = weekly_page.write(told("2026-W03"), tmp_path).page.read_text(encoding="utf-8")
    quiet = weekly_page.write(told("2026-W05"), tmp_path).page.read_text(encoding="utf-8")

    assert "<strong>H100 SXM on-demand: AWS fell 25.0 % to 7.50; " in loud
    assert 'aria-label="90 days: 80.00 to 60.00, fell 25.0 %, 1 move, known on ' in loud
    assert "<svg" not in quiet


def test_sparklines_are_of_every_offer(file: Path) -> None:
    with duckdb.connect(str(file), read_only=True) as con:
        offers = [offer for (offer,) in con.execute("select offer_id from int.price_history").fetchall()]
        until = datetime.fromisoformat("2026-02-12T12:00")
        sparks = sparkline.of_offers(chart_facts.sparks(con, offers, until=until), until)

    assert set(sparks) == set(offers)
