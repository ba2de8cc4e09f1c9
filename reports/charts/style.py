"""Charts: how all of them look, and the two forms in which they leave, SVG inlined into pages and PNG in a mail.

Places are computed here, and templates/chart.html.j2 draws. In an SVG text stays text in the font of the page, and
colours are the page's own variables, so that it is dark where the page is. A PNG is the same drawing in fixed colours
and in Liberation Sans, which comes with vl-convert, so every machine draws the same bytes.
"""

import struct
import textwrap
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import floor, log10

from markupsafe import Markup

from reports.templating import macro

INK, QUIET, LINE, FALL, RISE, PAPER = "#1a1c20", "#565c66", "#d5d9e0", "#0a5cb8", "#a34100", "#ffffff"
"""The colours of a PNG; in an SVG they stand in for the variables of the same names in page.css."""
VARIABLES = {INK: "--ink", QUIET: "--quiet", LINE: "--line", FALL: "--fall", RISE: "--rise", PAPER: "--paper"}
WIDTH, HEIGHT = 275, 200
"""Of the plot, in units of which the whole is 444 wide, so that on a phone the words shrink to three quarters."""
LEFT, RIGHT, TOP, BOTTOM = 34, 135, 24, 24
LABEL_HEIGHT = 14
LETTER = 6.2
"""Width of a letter on average, to leave out ticks whose words would touch."""
DAY = 86400
MAX_BYTES = 60_000
"""Of an SVG."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A scale of prices, of an index, of days or of speeds: its ends, whether it is logarithmic, and its ticks."""

    low: float
    high: float
    is_log: bool = False
    ticks: Sequence[float]

    def share(self, value: float) -> float:
        """Return where between the ends a value lies, from 0 to 1."""
        low, high, at = (log10(each) if self.is_log else each for each in (self.low, self.high, value))
        return (at - low) / (high - low)

    def pixel(self, value: float) -> float:
        """Return how far below the top of the plot a value lies."""
        return round(HEIGHT * (1 - self.share(value)), 1)

    def across(self, value: float) -> float:
        """Return how far to the right of the left side of the plot a value lies."""
        return round(WIDTH * self.share(value), 1)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line through its corners, each x and y."""

    corners: Sequence[tuple[float, float]]
    ink: str
    width: float
    shade: float = 1


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point; with `before`, a dashed rule from there, and words above the point in its colour.

    `is_late`: so near the right side that the words stand to the left of the point.
    """

    x: float
    y: float
    ink: str
    before: float | None = None
    text: str = ""
    is_late: bool = False


@dataclass(frozen=True, kw_only=True)
class Label:
    """Words beside the plot, at the height of a value, in a colour."""

    text: str
    value: float
    ink: str
    is_bold: bool = False


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A chart: what it says in a sentence, what it shows, and its parts in values of its two scales.

    `band` is a part of the horizontal scale that is shaded, with what is written in it. `is_stepped`: a line is level
    until its next corner. `is_of_time`: the horizontal scale is in days.
    """

    finding: str
    scope: str
    unit: str
    x: Scale
    y: Scale
    lines: Sequence[Line]
    marks: Sequence[Mark] = ()
    labels: Sequence[Label] = ()
    band: tuple[float, float, str] | None = None
    is_stepped: bool = True
    is_of_time: bool = True

    @property
    def title(self) -> str:
        """Return what stands above the vertical scale."""
        return f"{self.unit}, logarithmic" if self.y.is_log else self.unit

    def path(self, line: Line) -> str:
        """Return a line as SVG has it."""
        made, last = [], None
        for x, y in line.corners:
            at, height = self.x.across(x), self.y.pixel(y)
            if last is None:
                made.append(f"M{at:g} {height:g}")
            elif self.is_stepped:
                made.append(f"H{at:g}" + (f"V{height:g}" if height != last else ""))
            else:
                made.append(f"L{at:g} {height:g}")
            last = height
        return "".join(made)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return the ticks of the horizontal scale, with their words where these do not touch."""
        made: list[tuple[float, str]] = []
        end = float("-inf")
        for value in self.x.ticks:
            moment = datetime.fromtimestamp(value * DAY, UTC) if self.is_of_time else None
            text, at = f"{moment:%b %Y}" if moment else f"{value:g}", self.x.across(value)
            half = LETTER * len(text) / 2
            made.append((at, text if at - half > end else ""))
            end = at + half if made[-1][1] else end
        return made

    @property
    def placed_labels(self) -> list[tuple[float, Label]]:
        """Return the labels with their heights, pushed apart where they would stand on each other."""
        order = sorted(self.labels, key=lambda each: self.y.pixel(each.value))
        return [*zip(spread([self.y.pixel(each.value) for each in order]), order, strict=True)]


def scale(values: Iterable[float], *, log_from: float = 25) -> Scale:
    """Return a scale that holds all values: from 0, or logarithmic where they are far apart."""
    known = sorted(values)
    low, high = known[0], known[-1]
    if low > 0 and high / low >= log_from:
        ticks = [m * 10**e for e in range(floor(log10(low)), floor(log10(high)) + 1) for m in (1, 2, 5)]
        low, high = low / 1.15, high * 1.15
        return Scale(low=low, high=high, is_log=True, ticks=[each for each in ticks if low <= each <= high])
    low = min(0, low)
    high += 0.06 * (high - low) or 1
    step = round_step((high - low) / 4, (1, 2, 5, 10))
    first = int(-(-low // step))
    return Scale(low=low, high=high, ticks=[round(n * step, 10) for n in range(first, int(high // step) + 1)])


def round_step(rough: float, multiples: Sequence[int]) -> float:
    """Return the round number at or above a rough one: 1, 2, 5, 10..."""
    power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
    return float(next(m * power for m in multiples if m * power >= rough * 0.999))


def days(moment: datetime) -> float:
    """Return a moment, naive and UTC, as days since 1970: the horizontal scale of time, whatever the machine's zone."""
    return round(moment.replace(tzinfo=UTC).timestamp() / DAY, 4)


def time_scale(since: datetime, until: datetime) -> Scale:
    """Return the horizontal scale of time, with ticks at the beginnings of months, eight at most."""
    months = (until.year - since.year) * 12 + until.month - since.month
    every = next(n for n in (1, 2, 3, 4, 6, 12, 24, 60) if months / n <= 4 or n == 60)
    first = since.year * 12 + since.month - 1
    begins = [date(month // 12, month % 12 + 1, 1) for month in range(first, first + months + 1) if month % every == 0]
    ticks = [days(datetime.combine(begin, datetime.min.time())) for begin in begins]
    low, high = days(since), days(until)
    return Scale(low=low, high=high, ticks=[each for each in ticks if low <= each <= high])


def spread(heights: Sequence[float]) -> list[float]:
    """Return ascending heights moved as little as need be for the labels to stand apart, and within the plot."""
    made: list[float] = []
    for height in heights:
        made.append(max(height, made[-1] + LABEL_HEIGHT) if made else max(height, 0))
    limit: float = HEIGHT
    for place in reversed(range(len(made))):
        made[place] = min(made[place], limit)
        limit = made[place] - LABEL_HEIGHT
    return made


def svg(made: Drawing) -> Markup:
    """Return a drawing as SVG to stand in a page; the same drawing gives the same bytes."""
    return _drawn(made, {colour: f"var({name},{colour})" for colour, name in VARIABLES.items()}, ())


def figure(made: Drawing) -> Markup:
    """Return a drawing as a figure of a page: the finding in words above it, what it shows below."""
    return macro("chart.html.j2", "figure")(made, svg(made))


def png(made: Drawing, *, width: int = 1152) -> bytes:
    """Return a drawing as PNG on white, with its finding above it, `width` pixels wide: twice what the mail shows."""
    import vl_convert

    text = _drawn(made, {colour: colour for colour in VARIABLES}, textwrap.wrap(made.finding, 58)[:3])
    return _packed(vl_convert.svg_to_png(text, scale=width / (LEFT + WIDTH + RIGHT)))


def _packed(png: bytes) -> bytes:
    """Return a PNG with its picture packed as small as zlib can: a third of the bytes of vl-convert."""
    made, at = png[:8], 8
    while at < len(png):
        (size,), kind = struct.unpack_from(">I", png, at), png[at + 4 : at + 8]
        data = png[at + 8 : at + 8 + size]
        if kind == b"IDAT":  # vl-convert writes one
            data = zlib.compress(zlib.decompress(data), 9)
        made += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        at += 12 + size
    return made


def _drawn(made: Drawing, inks: dict[str, str], heading: Sequence[str]) -> Markup:
    frame = {"left": LEFT, "top": TOP, "wide": LEFT + WIDTH + RIGHT, "tall": TOP + HEIGHT + BOTTOM}
    ink = {name: inks[colour] for name, colour in (("quiet", QUIET), ("line", LINE), ("paper", PAPER), ("ink", INK))}
    return macro("chart.html.j2", "svg")(made, {"width": WIDTH, "height": HEIGHT, **frame}, inks, ink, heading)
