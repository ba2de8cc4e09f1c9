"""Charts: what a line may say, what is drawn from what is known alone, and that a drawing needs and hides nothing."""

import re
import struct
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import polars as pl
import pytest
from weekly_file import HOSTILE

from reports.charts import site_charts, sparkline, style
from reports.weekly import charts as price_chart
from reports.weekly.charts import Event

SINCE, UNTIL = datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2026-04-11")
WEEK = UNTIL - timedelta(days=7), UNTIL


def day(n: float) -> datetime:
    """Return the moment so many days after the first of January."""
    return SINCE + timedelta(days=n)


def prices(*spans: tuple[str, str | None, float, float, float], moves: dict[int, float] | None = None) -> pl.DataFrame:
    """Return a frame of chart_price.sql: provider, tier, first and last day, price; ratios of list moves by row."""
    moves = moves or {}
    return pl.DataFrame(
        [
            {
                "accelerator_name": "H100", "form_factor": "SXM", "purchase_option": "on_demand",
                "service_provider_name": provider, "tier": tier, "begins_at": day(begin), "ends_at": day(end),
                "price_usd": price, "list_change_ratio": moves.get(place),
            }
            for place, (provider, tier, begin, end, price) in enumerate(spans)
        ],
        schema_overrides={"tier": pl.String, "list_change_ratio": pl.Float64},
    )  # fmt: skip


MARKET = prices(
    ("AWS", None, 0, 100, 6.88), ("RunPod", "secure", 0, 95, 2.0), ("RunPod", "secure", 95, 100, 2.5),
    ("Vast", None, 10, 30, 1.5), ("Vast", None, 60, 100, 1.8), moves={2: 0.25},
)  # fmt: skip
ROSE = Event(provider="RunPod", tier="secure", at=day(95), before=2.0, after=2.5, ratio=0.25)


def draw(frame: pl.DataFrame = MARKET, *moved: Event) -> style.Drawing:
    made = price_chart.draw(
        frame, chip="H100 SXM", purchase_option="on_demand", since=SINCE, until=UNTIL, moved=moved, week=WEEK
    )
    assert made is not None
    return made


def tree(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 (our own)


def words(svg: str) -> list[str]:
    return [text.text or "" for text in tree(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module")
def drawn() -> str:
    return style.svg(draw(MARKET, ROSE))


# --- what a line may say


def test_a_line_stops_where_the_price_is_not_known() -> None:
    """Nobody knows Vast's price from day 30 to 60: two pieces, neither of which reaches into the gap."""
    vast = [line.corners for line in draw().lines if line.width == 1 and line.corners[0][1] in (1.5, 1.8)]

    assert sorted(vast) == [
        [(style.days(day(10)), 1.5), (style.days(day(30)), 1.5)],
        [(style.days(day(60)), 1.8), (style.days(day(100)), 1.8)],
    ]


def test_a_price_that_moves_is_one_line_with_a_step() -> None:
    made = draw(MARKET, ROSE)
    (runpod,) = [line for line in made.lines if line.ink == style.RISE]

    assert [(x - style.days(SINCE), y) for x, y in runpod.corners] == [(0, 2.0), (95, 2.5), (100, 2.5)]
    assert re.fullmatch(r"M0 [\d.]+H261.2V[\d.]+H275", made.path(runpod))


def test_cheapest_is_said_only_where_two_providers_are_known() -> None:
    """Of Vast alone nothing is cheapest, and two tiers of one provider are no second provider."""
    lines = price_chart.read(prices(("A", "x", 0, 20, 3), ("A", "y", 0, 20, 2), ("B", None, 10, 15, 2.5)))

    assert price_chart.cheapest(lines) == [(day(10), day(15), 2, "A")]


def test_the_finding_says_who_moved_and_ranks_nobody() -> None:
    assert draw(MARKET, ROSE).finding == "H100 SXM on-demand: RunPod rose 25.0 % to 2.50."
    assert draw(MARKET).finding == "H100 SXM on-demand: no move of a list price is known."


def test_what_ended_long_ago_has_its_date_and_no_label() -> None:
    """Both prices are unknown since day 60 and 50: the plot says it of AWS alone."""
    old = draw(prices(("AWS", None, 0, 60, 6), ("Old", None, 0, 50, 2)))

    assert [text for text in words(style.svg(old)) if text.startswith(("AWS", "Old"))] == ["AWS 6.00, 2026-03-02"]


def test_nothing_known_is_no_chart() -> None:
    assert price_chart.draw(MARKET.clear(), chip="H100", purchase_option="on_demand", since=SINCE, until=UNTIL) is None


def test_old_events_are_the_largest_and_far_apart() -> None:
    frame = prices(
        ("A", None, 0, 40, 2), ("A", None, 40, 45, 3), ("A", None, 45, 50, 2.9), ("A", None, 50, 100, 2),
        ("B", None, 0, 100, 9), moves={1: 0.5, 2: -0.033, 3: -0.31},
    )  # fmt: skip

    assert [event.ratio for event in price_chart.events(frame)] == [0.5, -0.31]
    assert [text for text in words(style.svg(draw(frame))) if "\N{BLACK UP-POINTING TRIANGLE}" in text] == [
        "A \N{BLACK UP-POINTING TRIANGLE} 50 %"
    ]
    assert not [text for text in words(style.svg(draw(frame))) if "31 %" in text]


def test_words_of_an_early_event_begin_at_its_point() -> None:
    """Middled above the point they would stand on the scale, left of the plot."""
    frame = prices(
        ("thunder-compute", None, 0, 22, 2.5), ("thunder-compute", None, 22, 100, 1.4), ("B", None, 0, 100, 9),
        moves={1: -0.44},
    )  # fmt: skip
    (made,) = [
        each
        for each in tree(style.svg(draw(frame))).iter("{http://www.w3.org/2000/svg}text")
        if (each.text or "").startswith("thunder-compute \N{BLACK DOWN-POINTING TRIANGLE}")
    ]
    assert (made.get("text-anchor"), float(made.get("x") or 0)) == ("start", 60.5)


# --- scales and labels


@pytest.mark.parametrize(
    ("values", "ends", "is_log"),
    [([2.0, 6.0], (0, 6.36), False), ([0.1, 3.0], (0.1 / 1.15, 3.0 * 1.15), True), ([5.0], (0, 5.3), False)],
)
def test_a_scale_begins_at_zero_unless_prices_are_far_apart(
    values: list[float], ends: tuple[float, float], *, is_log: bool
) -> None:
    scale = style.scale(values)

    assert (scale.low, scale.high) == pytest.approx(ends)
    assert scale.is_log is is_log
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)
    assert len(scale.ticks) >= 2
    assert [scale.pixel(scale.low), scale.pixel(scale.high)] == pytest.approx([style.HEIGHT, 0])


def test_labels_never_stand_on_each_other() -> None:
    made = style.spread([10, 11, 12, 199, 200, 200])

    assert all(second - first >= 14 for first, second in pairwise(made))
    assert made[-1] <= 200
    assert style.spread([10, 60, 120]) == [10, 60, 120]


def test_a_long_label_ends_within_the_picture() -> None:
    name = "thunder-compute"
    frame = prices((name, None, 0, 95, 2), (name, None, 95, 100, 2.5), ("AWS", None, 0, 100, 6), moves={1: 0.25})
    drawn = tree(style.svg(draw(frame, replace(ROSE, provider=name, tier=None))))
    labels = [each for each in drawn.iter("{http://www.w3.org/2000/svg}text") if (each.text or "").startswith(name)]
    assert [float(each.get("textLength", style.RIGHT)) + 7 < style.RIGHT for each in labels] == [True]


def test_a_logarithmic_scale_says_so() -> None:
    assert "USD per chip-hour, logarithmic" in words(
        style.svg(draw(prices(("A", None, 0, 9, 0.1), ("B", None, 0, 9, 9))))
    )


# --- SVG and PNG


def test_an_svg_is_small_and_the_same_every_time(drawn: str) -> None:
    assert style.svg(draw(MARKET, ROSE)) == drawn
    assert len(drawn.encode()) < style.MAX_BYTES
    assert drawn.isprintable() or "\n" not in drawn


def test_an_svg_needs_nothing_and_names_nothing_twice(drawn: str) -> None:
    """No address, no id that two charts of a page would share, no script, no style of its own, no font."""
    inside = drawn.replace('xmlns="http://www.w3.org/2000/svg"', "")

    assert not re.search(r"https?:|url\(|\bid=|<script|<style|<image|font-family|href", inside)


def test_an_svg_takes_its_colours_from_the_page(drawn: str) -> None:
    """Every colour is a variable of the style sheet, with what it is where there is no sheet."""
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawn)) - {"none"}

    assert used <= {f"var({name},{colour})" for colour, name in style.VARIABLES.items()}
    assert len(used) == 4


def test_an_svg_tells_its_finding_to_who_cannot_see_it(drawn: str) -> None:
    root = tree(drawn)

    assert root.get("role") == "img"
    assert str(root.get("aria-label")).startswith("H100 SXM on-demand: RunPod rose 25.0 % to 2.50")
    assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]
    assert "RunPod 2.50 \N{BLACK UP-POINTING TRIANGLE} 25 %" in words(drawn)
    assert "lowest seen 1.80" in words(drawn)


def test_words_from_outside_are_text() -> None:
    text = style.figure(draw(prices((HOSTILE, HOSTILE, 0, 100, 2), ("AWS", None, 0, 100, 6))))

    assert not re.search(r"<(?:script|img)", text)
    tree(text)


def test_a_png_is_as_wide_as_asked_and_holds_the_finding() -> None:
    """Its height is in proportion, and has room for the finding."""
    made = style.png(draw(MARKET, ROSE))
    size = struct.unpack(">II", made[16:24])

    assert made.startswith(b"\x89PNG\r\n\x1a\n")
    assert size[0] == 1152
    assert size[1] > 1152 / (style.LEFT + style.WIDTH + style.RIGHT) * (style.TOP + style.HEIGHT + style.BOTTOM)
    assert struct.unpack(">I", style.png(draw(MARKET, ROSE), width=444)[16:20]) == (444,)
    assert made != style.png(replace(draw(MARKET, ROSE), finding="Something else."))
    assert len(made) < 200_000


def test_a_png_that_is_packed_shows_the_same() -> None:
    """Every byte of the picture is there, and each part has its sum."""
    parts = []
    made, at = style.png(draw(MARKET, ROSE), width=444), 8
    while at < len(made):
        size, kind = struct.unpack_from(">I4s", made, at)
        data = made[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", made, at + 8 + size) == (zlib.crc32(kind + data),)
        parts.append((kind, data))
        at += 12 + size
    pixels = zlib.decompress(dict(parts)[b"IDAT"])
    width, height = struct.unpack(">II", dict(parts)[b"IHDR"][:8])

    assert [kind for kind, _ in parts][-1] == b"IEND"
    assert len(pixels) == height * (1 + 4 * width)


def test_ticks_whose_words_would_touch_have_none() -> None:
    """Speeds of 50, 51 and 100: the second has a tick alone."""
    frame = points(("A", "p", 50.0, 1.0), ("A", "p", 51.0, 2.0), ("A", "p", 100.0, 3.0))

    assert [text for _, text in site_charts.frontier(frame).ticks] == ["50", "", "100"]


# --- the frontier and the drift


def points(*spoken: tuple[str, str, float, float | None]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "group_rank": 1, "model_name": "m", "scenario": "1k/1k", "benchmark_family": "b", "precision": "fp8",
                "decoding": "one", "accelerator_name": chip, "service_provider_name": who, "interactivity": speed,
                "cost_usd": cost, "cost_rank": None if cost is None else int(cost * 10),
            }
            for chip, who, speed, cost in spoken
        ]
    )  # fmt: skip


def test_the_frontier_is_the_cheapest_at_each_speed_and_ends_where_nothing_reaches() -> None:
    frame = points(
        ("A", "p", 20.0, 1.0), ("A", "q", 20.0, 2.0), ("A", "p", 50.0, 4.0), ("A", "p", 100.0, None),
        ("B", "p", 20.0, 3.0), ("B", "p", 50.0, 3.5), ("B", "p", 100.0, None),
    )  # fmt: skip
    made = site_charts.frontier(frame)
    svg = style.svg(made)

    assert made.lines[-1].corners == [(20, 1), (50, 3.5)]
    assert "1 USD per million output tokens at 20 tokens/s per user (A, p), 3.5 at 50 (B, p)" in made.finding
    assert {"not reached", "A to 50", "B to 50"} <= set(words(svg))
    assert "not reached" not in words(style.svg(site_charts.frontier(frame.head(3))))


def test_the_frontier_has_no_speed_at_which_a_faster_point_costs_no_more() -> None:
    """B answers a user of 20 at 75 tokens a second too, for less than A does at 20: A is on no frontier but its own."""
    frame = points(("A", "p", 20.0, 4.0), ("A", "p", 50.0, 6.0), ("B", "q", 75.0, 1.0), ("B", "q", 100.0, 2.0))
    made = site_charts.frontier(frame)

    assert [line.corners for line in made.lines] == [[(20, 4), (50, 6)], [(75, 1), (100, 2)], [(75, 1), (100, 2)]]
    assert "1 USD per million output tokens at 75 tokens/s per user (B, q), 2 at 100 (B, q)" in made.finding
    assert len(made.marks) == 4


def chain(name: str | None, *values: tuple[int, float], number: int = 1) -> list[dict[str, object]]:
    return [
        {"service_provider_name": name, "chain_number": number, "index_date": day(n).date(), "price_index": value}
        for n, value in values
    ]


def test_the_index_has_five_labelled_lines_at_most_each_from_100() -> None:
    """All, AWS with its dated move, and those that moved most; of a chain that broke its last part."""
    rows = [
        *chain("A", (0, 100), (9, 50)), *chain("A", (20, 200), (40, 220), (90, 220), number=2),
        *chain("AWS", (0, 100), (30, 56.035), (90, 56.035)), *chain("B", (0, 80), (50, 60), (90, 60)),
        *chain("C", (0, 100), (50, 101), (90, 101)), *chain("D", (0, 100), (50, 103), (90, 103)),
        *chain("E", (0, 100), (90, 100)), *chain("F", (90, 100)), *chain(None, (0, 50), (30, 40), (90, 40)),
    ]  # fmt: skip
    made = site_charts.index(rows, "H100", day(90))
    desk = made[made.index("<svg") : made.index("</svg>")]
    labels = re.findall(r'class="name (\w+)">([^<]+)</text>', desk)

    assert "H100, like for like: fell 20.0 % since 1\N{NO-BREAK SPACE}Jan" in made
    assert {text.replace("\N{NO-BREAK SPACE}", " ") for _, text in labels} == {
        "all \N{MINUS SIGN}20 %", "AWS \N{MINUS SIGN}44 %", "A +10 %", "B \N{MINUS SIGN}25 %", "D +3.0 %"
    }  # fmt: skip
    assert {text.split(" ")[0]: kind for kind, text in labels}["AWS"] == "aws"
    assert "\N{MINUS SIGN}44\N{NO-BREAK SPACE}% by " in desk
    assert "AWS 100.00 to 56.04;" in desk  # for who cannot see it: a half goes up as on the page
    heights = [float(y) for y in re.findall(r'y="([\d.]+)" class="name', desk)]
    assert min(b - a for a, b in zip(sorted(heights), sorted(heights)[1:], strict=False)) >= site_charts.APART - 0.01
    assert site_charts.index(chain("A", (0, 100), (9, 50)), "H100", day(90)) == ""
    still = site_charts.index(chain(None, (0, 100), (90, 100)), "H100", day(90))
    assert "unchanged since" in still
    assert ">all 0\N{NO-BREAK SPACE}%<" in still


def test_the_chart_says_which_price_of_aws_it_has() -> None:
    """The index beside it is of all regions: without the region the two seem to contradict each other."""
    level = {"begins_at": day(0), "ends_at": day(90), "price_per_accelerator_hour_usd": 3.2}
    others, own = level | {"line_name": "lowest"}, level | {"line_name": "AWS"}
    both = site_charts.front([own, others], "H100", day(90))
    assert "; AWS in us-east-1 (else another US region); median and lowest of others" in both
    assert "us-east-1" not in site_charts.front([others], "MI300X", day(90))


def test_lines_of_less_than_a_year_have_months_and_small_prices_their_digits() -> None:
    """And nothing is said of others where AWS alone is drawn."""

    def drawn(line: str) -> str:
        row = {"line_name": line, "begins_at": day(231), "ends_at": day(288), "price_per_accelerator_hour_usd": 0.0213}
        return site_charts.front([row], "K80", day(288))

    made = drawn("lowest")
    assert re.findall(r'class="mid">(\w+)<', made)[:2] == ["Sep", "Oct"]
    assert "K80: the lowest is 0.0213" in made
    assert ">lowest 0.0213<" in made
    assert ("of others" in made, "of others" in drawn("AWS")) == (True, False)


# --- sparklines


@pytest.mark.parametrize(
    ("spans", "said", "kind"),
    [
        ([(0, 60, 2.0), (60, 90, 2.5)], "90 days: 2.00 to 2.50, rose 25.0 %, 1 move", "rise"),
        ([(0, 90, 2.0)], "90 days: 2.00, unchanged", "same"),
        ([(0, 10, 3.0), (50, 60, 2.4)], "90 days: 3.00 to 2.40, fell 20.0 %, 1 move, known on 20 days", "fall"),
        ([(88, 88.04, 1.0)], "90 days: 1.00, unchanged, seen once", "same"),
    ],
)
def test_a_sparkline_says_what_it_shows(spans: list[tuple[float, float, float]], said: str, kind: str) -> None:
    made = [(day(begin), day(end), price) for begin, end, price in spans]
    text = sparkline.draw(made, day(90))
    root = tree(text)

    assert (root.get("role"), root.get("aria-label")) == ("img", said)
    assert root.get("class") == f"spark {kind}"
    assert len(text) < 600


def test_a_sparkline_is_broken_where_nothing_is_known() -> None:
    whole = sparkline.draw([(day(0), day(60), 2), (day(60), day(90), 3)], day(90))
    broken = sparkline.draw([(day(0), day(50), 2), (day(60), day(90), 3)], day(90))

    assert (whole.count("M"), broken.count("M")) == (1, 2)
    assert sparkline.draw([], day(90)) == ""


def test_time_is_utc_on_every_machine() -> None:
    assert style.days(datetime.fromisoformat("1970-01-02T12:00")) == 1.5
    assert style.days(SINCE) * 86400 == datetime(2026, 1, 1, tzinfo=UTC).timestamp()
