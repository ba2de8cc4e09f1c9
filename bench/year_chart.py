"""A simulated year as a file of numbers and as a picture: what bench/simulated_year.py measured of each day."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert


def chart(days: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the year as PNG: time of a run, memory, sizes on disk, and what changed."""
    whole = pl.col("publish_seconds") > 0
    table = pl.DataFrame(days)
    # The seconds of a day that did not publish are no seconds of a run.
    table = table.with_columns(pl.when(whole).then(pl.col("seconds")).otherwise(0.0).alias("seconds"))
    groups: dict[str, tuple[str, ...]] = {
        "processor seconds of a run": (
            "seconds",
            "load_seconds",
            "publish_seconds",
            "report_seconds",
            "weekly_seconds",
        ),
        "peak memory, MB": ("peak_mb",),
        "on disk, MB": ("prices_mb", "build_mb", "reports_mb", "documents_mb", "packs_mb", "journal_mb"),
        "price events of a run": ("n_events", "n_failed"),
    }
    drawn = []
    for title, names in groups.items():
        long = table.select("day", *names).unpivot(index="day", variable_name="what")
        long = long.filter(~pl.col("what").str.ends_with("seconds") | (pl.col("value") > 0))
        drawn.append(
            alt.Chart(alt.Data(values=long.to_dicts()))
            .mark_line(strokeWidth=1.2)
            .encode(x=alt.X("day:Q", title="day"), y=alt.Y("value:Q", title=title), color=alt.Color("what:N", title=""))
            .properties(width=760, height=170)
        )
    made = alt.vconcat(*drawn).resolve_scale(color="independent").properties(background="white")
    return bytes(vl_convert.vegalite_to_png(made.to_dict(), scale=1.5))


def write_csv(target: Path, days: Sequence[Mapping[str, Any]]) -> None:
    """Write a line for each day."""
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(days[0]))
        writer.writeheader()
        writer.writerows({name: round(value, 4) for name, value in day.items()} for day in days)
