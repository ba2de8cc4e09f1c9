"""A notebook over the published file: who is cheapest, how prices moved, what an offer cost, what is stale.

    uv sync --group notebook
    uv run marimo edit docs/explore.py

The file is `prices.duckdb` in CHIPLEDGER_DATA_DIR, or in `data`, or that of `make run`; it is opened read-only, and
shut off from all else.
As a script (`python docs/explore.py`) it asks every question once.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="chipledger")


@app.cell
def _():
    import os
    from pathlib import Path

    import altair as alt
    import duckdb
    import marimo as mo

    folder = Path(os.environ.get("CHIPLEDGER_DATA_DIR", "data"))
    file = folder / "prices.duckdb"
    if not file.exists():
        file = folder / "offline/prices.duckdb"
    con = duckdb.connect(str(file), read_only=True)
    con.execute("set enable_external_access = false")
    con.execute("set lock_configuration = true")
    return alt, con, mo


@app.cell
def _(con, mo):
    built_at, n_current, n_prices = con.execute(
        "select any_value(b.built_at), count(*) filter (p.is_current), count(*) "
        "from int.accelerator_hour_price as p cross join meta.build as b"
    ).fetchone()
    mo.md(f"""
    # Prices of accelerators

    Built at {built_at:%Y-%m-%d %H:%M} UTC from {n_prices} prices, of which {n_current} are current. The others
    are old: each has its age. Purchase options are compared, never averaged.
    """)
    return


@app.cell
def _(con, mo):
    chips = [
        name
        for (name,) in con.execute(
            "select accelerator_name from int.provider_price group by all order by count(*) desc, accelerator_name"
        ).fetchall()
    ]
    chip = mo.ui.dropdown(chips, value="H100" if "H100" in chips else next(iter(chips), None), label="Chip")
    chip  # noqa: B018 - the last expression of a cell is what it shows
    return (chip,)


@app.cell
def _(chip, con, mo):
    cheapest = con.execute(
        "select purchase_option, commitment_class, price_rank, service_provider_name, cheapest_price_usd, "
        "capacity_class, tier, region_id, is_current, round(age_days, 1) as age_days "
        "from mart.cheapest($chip) where price_rank <= 5",
        {"chip": chip.value},
    ).pl()
    mo.vstack([mo.md(f"## Who asks least for one {chip.value}, in USD an hour"), mo.ui.table(cheapest, selection=None)])
    return


@app.cell
def _(alt, chip, con, mo):
    index = con.execute(
        "select index_date, purchase_option, chain_number, price_index, median_price_usd, n_items, is_thin "
        "from int.price_index where index_level = 'chip' and accelerator_name = $chip order by index_date",
        {"chip": chip.value},
    ).pl()
    lines = (
        alt.Chart(index)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("index_date:T", title=None),
            y=alt.Y("price_index:Q", title="index, 100 at its start").scale(zero=False),
            color=alt.Color("purchase_option:N", title="bought"),
            detail="chain_number:N",
            tooltip=["index_date:T", "purchase_option", "price_index", "median_price_usd", "n_items", "is_thin"],
        )
        .properties(width="container", height=260)
    )
    mo.vstack([mo.md(f"## Like for like: the index of {chip.value}"), lines])
    return


@app.cell
def _(mo):
    moment = mo.ui.date(value="2026-01-01", label="Prices at 00:00 UTC of")
    moment  # noqa: B018
    return (moment,)


@app.cell
def _(chip, con, mo, moment):
    on_date = con.execute(
        "select service_provider_name, instance_type, region_id, purchase_option, commitment_term_hours, unit_price, "
        "unit_price_low, unit_price_high, window_end, pricing_currency, price_per_accelerator_hour_usd, valid_from, "
        "round(held_days, 1) as held_days, is_confirmed "
        "from mart.price_on($moment) where accelerator_name = $chip order by price_per_accelerator_hour_usd",
        {"moment": moment.value, "chip": chip.value},
    ).pl()
    mo.vstack([mo.md(f"## What {chip.value} cost then, as is known today"), mo.ui.table(on_date, selection=None)])
    return


@app.cell
def _(con, mo):
    moves = con.execute(
        "select observed_at, change_kind, service_provider_name, accelerator_name, instance_type, region_id, "
        "purchase_option, unit_price_before, unit_price_after, change_ratio from int.price_change "
        "where change_kind in ('list_change', 'gone_offer') order by observed_at desc limit 200"
    ).pl()
    stale = con.execute("from int.source_health order by is_current, age_days desc").pl()
    mo.vstack(
        [
            mo.md("## Moves of list prices, and offers that went"), mo.ui.table(moves, selection=None),
            mo.md("## Sources, the stalest first"), mo.ui.table(stale, selection=None),
        ]
    )  # fmt: skip
    return


if __name__ == "__main__":
    app.run()
