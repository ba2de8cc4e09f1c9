"""What we do not know: chips that nobody has told us, and prices that cannot stand beside others, with the reason."""

from html import escape

import polars as pl

from reports import wording
from reports.tables.sheet import Form, Sheet, sheet

MOST_GAPS = 25
REASONS = {
    "rate": "Without a US dollar price: no reference rate of the ten days before",
    "slice": "Without a price per chip: part of a chip, of unknown size",
    "term": "Not compared: the length of the commitment is not stated",
    "capacity": "Not compared: not stated how many chips have to be taken",
}
COUNTED = {
    "rate": ("has no price in US dollars", "have no price in US dollars"),
    "slice": ("is a part of a chip of unknown size", "are parts of a chip of unknown size"),
    "term": ("states no length of the commitment", "state no length of the commitment"),
    "capacity": ("does not say how many chips have to be taken", "do not say how many chips have to be taken"),
}


def summary(unknown: pl.DataFrame, gaps: pl.DataFrame) -> list[str]:
    """Return how many priced offers lack what, one sentence each; empty where nothing is lacking."""
    told = []
    if unknown.height:
        offers = sum(unknown["n_offers"])
        words = ("is of a chip that we do not know", "are of a chip that we do not know")
        told.append(f"{wording.count(offers, 'offer')} {words[offers != 1]}, so without a price per chip-hour.")
    for gap, words in COUNTED.items():
        if offers := sum(gaps.filter(pl.col("gap") == gap)["n_offers"]):
            told.append(f"{wording.count(offers, 'offer')} {words[offers != 1]}.")
    return told


def unknowns(unknown: pl.DataFrame) -> Sheet:
    """Return what has a price and no known chip: by the provider's own words for it, or by the instance type."""
    shown = list(unknown.head(MOST_GAPS).iter_rows(named=True))
    frame = pl.DataFrame(
        {
            "named": [row["named"] for row in shown],
            "provider": [row["service_provider_name"] for row in shown],
            "offers": [f"{row['n_offers']:,}" for row in shown],
            "first": [wording.day(row["valid_from"]) for row in shown],
            "last": [wording.day(row["last_observed_at"]) for row in shown],
        }
    )
    form = Form(
        heads={
            "named": "Named",
            "provider": "Provider",
            "offers": "Offers",
            "first": "First seen",
            "last": "Last seen",
        },
        stub="named",
        right=("offers",),
    )
    left = unknown.height - len(shown)
    more = f" {wording.count(left, 'more name')} left out: <code>select * from int.unknown_accelerator</code>."
    words = ("name or instance type with an unknown accelerator", "names or instance types with an unknown accelerator")
    return sheet(
        frame,
        form,
        id="unknown",
        title=wording.count(unknown.height, *words),
        subtitle="Priced as a whole only; in no price per chip-hour of this page.",
        note="The table of accelerators needs an entry for each." + (more if left else ""),
    )


def gaps(found: pl.DataFrame) -> Sheet:
    """Return the priced offers that cannot stand beside others, by reason and provider."""
    shown = list(found.head(MOST_GAPS).iter_rows(named=True))
    frame = pl.DataFrame(
        {
            "why": [REASONS[row["gap"]] for row in shown],
            "provider": [row["service_provider_name"] for row in shown],
            "what": [escape(wording.short(wording.few(row["words"], most=4))) for row in shown],
            "offers": [f"{row['n_offers']:,}" for row in shown],
            "last": [wording.day(row["last_observed_at"]) for row in shown],
        }
    )
    form = Form(
        heads={"provider": "Provider", "what": "Chips or currency", "offers": "Offers", "last": "Last seen"},
        stub="provider",
        group="why",
        right=("offers",),
        marked=("what",),
    )
    left = sum(found["n_offers"]) - sum(row["n_offers"] for row in shown)
    more = f"{wording.count(left, 'more offer')} of other chips left out: "
    return sheet(
        frame,
        form,
        id="not-compared",
        title=f"{wording.count(sum(found['n_offers']), 'offer')} that cannot be compared",
        subtitle="Kept with their prices as charged; each offer stands here once, for the first of these reasons.",
        note=(more if left else "") + "<code>select * from int.accelerator_hour_price</code> has every offer.",
    )
