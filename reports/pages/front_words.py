"""The front page in words: headline, trust, what would change a bill, terms of a price. Texts without mark-up."""

from collections.abc import Sequence
from datetime import date as Date  # noqa: N812 (beside a function of that name)

from reports import wording
from reports.pages.front_facts import Front
from reports.queries import Row

NBSP = "\N{NO-BREAK SPACE}"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
PRICE = "price_per_accelerator_hour_usd"


def date(moment: Date | None) -> str:
    """Return a date as people write it, in one piece: 15 Oct 2026; a dash where it is unknown."""
    return wording.UNKNOWN if moment is None else f"{moment.day}{NBSP}{MONTHS[moment.month - 1]}{NBSP}{moment.year}"


def percent(share: float) -> str:
    """Return a share without sign, in one piece: 61 %, or 0.4 % where it is small."""
    places = 0 if abs(share) >= 0.0995 or not share else 1
    return f"{abs(share) * 100:.{places}f}{NBSP}%"


def change(ratio: float) -> str:
    """Return a change with its sign and one decimal; what did not move has none: 0.0 %."""
    return f"0.0{NBSP}%" if abs(ratio) < 1e-9 else wording.percent(ratio).replace(" ", NBSP)


def near(moment: Date | None, built: Date) -> str:
    """Return a date without its year where that is the year of the page: 15 Oct."""
    text = date(moment)
    return text.removesuffix(f"{NBSP}{built.year}")


def money(value: float) -> str:
    """Return an amount of many dollars: 1.49 million, 86,000."""
    return f"{value / 1e6:,.2f}{NBSP}million" if value >= 1e6 else f"{value:,.0f}"


def headline(front: Front) -> str:
    """Return the one line of news: what the first chip costs each way, and who moved list prices."""
    if front.chip is None:
        return "No price is known yet that is young enough to be ranked"
    cells = front.cells[front.chip]

    def price(cell: str) -> float | None:
        value = cells.get(cell, {}).get(PRICE)
        return None if value is None else float(value)

    told = []
    if (aws := price("aws_on_demand")) is not None:
        told.append(f"{aws:,.2f} USD an hour at AWS")
    if (plan := price("aws_1y")) is not None:
        told.append(f"{plan:,.2f} on a one-year plan")
    if (other := price("elsewhere")) is not None:
        told.append(f"{other:,.2f}{'' if told else ' USD an hour'} at {cells['elsewhere']['service_provider_name']}")
    if not told:
        return f"{front.chip}: a price is known under few purchase options only; {_moved(front)}"
    article = "An" if front.chip[0] in "AHLM" else "A"
    return f"{article} {front.chip} costs {wording.few(told)}; {_moved(front)}"


def _moved(front: Front) -> str:
    """Return whose list prices moved in 90 days; of AWS always, where its price is known."""
    known = {row["service_provider_name"] for cells in front.cells.values() for row in cells.values()}
    others = [row for row in front.moves if row["service_provider_name"] != "AWS"]
    own = [row for row in front.moves if row["service_provider_name"] == "AWS"]
    told = [f"{row['service_provider_name']} {_ways(row)}" for row in [*own, *others][:2]]
    if not told:
        return "no list price moved in 90 days"
    if not own and "AWS" in known:
        return f"in 90 days {told[0]}, AWS moved none"
    return f"in 90 days {', '.join(told)}"


def _ways(row: Row) -> str:
    """Return how many list prices a provider raised and lowered."""
    rises, falls = row["n_rises"], row["n_falls"]
    if not rises:
        return f"lowered {wording.count(falls, 'list price')}"
    raised = f"raised {wording.count(rises, 'list price')}"
    return f"{raised} and lowered {falls:,}" if falls else raised


def trust(front: Front) -> str:
    """Return what the page rests on, in a line."""
    row = front.trust
    told = [
        f"{row['n_provider_bytes']:,} from providers' own bytes",
        f"{row['n_transcribed']:,} transcribed",
        f"{row['n_live']:,} live" if row["n_live"] else "none live",
    ]
    if row["n_old"]:
        told.append(f"{row['n_old']:,} older than {row['ranked_days']} days and never ranked")
    refused = wording.count(row["n_refused"], "row") if row["n_refused"] else "no row"
    return f"{wording.count(row['n_prices'], 'price')}: {', '.join(told)}; {refused} refused."


def unseen(looked: Row, chips: Sequence[str]) -> str:
    """Return where chips without any price were looked for, and when last: a row of front_unseen."""
    last = looked["last_good_at"]
    when = f", last looked for {date(last)}" if last else ""
    where = wording.count(looked["n_lists"] or 0, "price list")
    return f"{wording.few(list(chips))}: unknown, in none of {where}{when}."


def checked(front: Front) -> str:
    """Return how many truth checks differ."""
    row = front.trust
    if not row["n_checks"]:
        return "No truth check was made."
    if not row["n_differing"]:
        return f"None of {wording.count(row['n_checks'], 'truth check')} differs."
    return f"{row['n_differing']:,} of {wording.count(row['n_checks'], 'truth check')} differ."


def bill(front: Front) -> list[str]:
    """Return what would change a bill, each a sentence with its assumption; empty where no price is known."""
    row = front.bill
    if row is None or not row["on_demand_year_usd"]:
        return []
    machines = f"{row['bill_machines']}{NBSP}x{NBSP}{row['instance_type']}"
    use = f"{percent(row['use_share'])} use"
    told = []
    if row["plan_saving_usd"] is not None and row["plan_saving_usd"] > 0:
        told.append(
            f"For {machines} at {use}, the best one-year plan saves {money(row['plan_saving_usd'])}{NBSP}USD of "
            f"{money(row['on_demand_year_usd'])} a year, and pays unless on demand falls "
            f"{percent(row['plan_pays_until_fall'])} or use stays below {percent(row['plan_pays_from_use'])}."
        )
    elif row["plan_saving_usd"] is not None:
        told.append(
            f"For {machines} at {use}, the best one-year plan costs {money(-row['plan_saving_usd'])}{NBSP}USD more "
            f"than {money(row['on_demand_year_usd'])} a year on demand; it pays from "
            f"{percent(row['plan_pays_from_use'])} use."
        )
    if row["elsewhere_saving"] is not None:
        way = "less" if row["elsewhere_saving"] >= 0 else "more"
        told.append(
            f"The same {front.chip} at {row['elsewhere_provider_name']} costs {row['elsewhere_usd']:,.2f}{NBSP}USD an "
            f"hour, {percent(row['elsewhere_saving'])} {way} than on demand at AWS, both without a term."
        )
    return told


def terms(row: Row) -> str:
    """Return how a commitment is bought and paid, in few words: Compute plan, upfront; Reserved, no upfront."""
    kind = {"reserved": "Reserved"}.get(row["purchase_option"] or "")
    if kind is None:
        kind = {"Compute": "Compute plan", "EC2Instance": "EC2 plan"}.get(row["commitment_discount_type"] or "", "Plan")
    payment = {"All Upfront": "upfront", "Partial Upfront": "half upfront", "No Upfront": "no upfront"}
    paid = payment.get(row["purchase_payment_model"] or "", "")
    return ", ".join(part for part in (kind, paid) if part)
