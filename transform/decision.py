"""The formulas of decisions as SQL macros in the schema `decision`: each stands once, in `transform/sql/decision/`.

Whether a move pays, and from which load machines of one's own are cheaper than a hosted model. `mart.break_even` and
`mart.make_or_buy` put them together.
"""

from functools import partial

from transform import formula
from transform.formula import Domain, Parameter

Formula = partial(formula.Formula, "decision")

NOT_NEGATIVE = Domain.NOT_NEGATIVE
WEEKS = Parameter("weeks", "weeks", NOT_NEGATIVE)
ENGINEERS = Parameter("engineers", "people who work on it all the time", NOT_NEGATIVE)
RATE = Parameter("usd_per_engineer_hour", "USD an hour of one of them", NOT_NEGATIVE)
LOAD = Parameter("tokens_per_day", "output tokens a day")
FROM = Parameter("from_usd_per_million", "USD a million tokens where one is")
TO = Parameter("to_usd_per_million", "USD a million tokens where one would go")
FROM_MONTH = Parameter("from_usd_per_month", "USD a month where one is")
TO_MONTH = Parameter("to_usd_per_month", "USD a month where one would go")
UPKEEP = Parameter("upkeep_usd_per_month", "USD a month of work that the new side needs", NOT_NEGATIVE)
ONE_OFF = Parameter("one_off_usd", "USD that the move costs once", NOT_NEGATIVE)
FIXED = Parameter("fixed_usd", "USD that the move costs once at any load: all but both sides running", NOT_NEGATIVE)
DUAL = Parameter("dual_running_weeks", "weeks in which both sides run", NOT_NEGATIVE)
WAIT = Parameter("wait_months", "months until the new side serves", NOT_NEGATIVE)
HORIZON = Parameter("horizon_months", "evaluation horizon in months")
NET = Parameter("net_saving_usd_per_month", "USD saved a month, upkeep paid", Domain.ANY)
HOSTED = Parameter("hosted_usd_per_million", "USD a million output tokens and their input, hosted")
UNIT_LOAD = Parameter("unit_tokens_per_day", "output tokens a day that one unit serves")

FORMULAS = (
    Formula(
        "offer_terms",
        "Terms of an offer in a line: plan, class, payment, tier, fabric, conditions, statistic",
        (
            Parameter("discount_type", "kind of Savings Plan", Domain.ANY),
            Parameter("class", "class of a Reserved offer", Domain.ANY),
            Parameter("payment_model", "what is paid upfront", Domain.ANY),
            Parameter("tier_name", "tier", Domain.ANY),
            Parameter("fabric_name", "network between machines", Domain.ANY),
            Parameter("condition_text", "conditions", Domain.ANY),
            Parameter("statistic_name", "what the amount is", Domain.ANY),
        ),
    ),
    Formula(
        "commitment_class",
        "How long one is bound by a purchase option and its term in hours, in words",
        (
            Parameter("option_name", "purchase option", Domain.ANY),
            Parameter("term_hours", "hours of the commitment", Domain.ANY),
        ),
    ),
    Formula(
        "precision_class",
        "Bits of a number, for what may be compared; NULL: unknown",
        (Parameter("precision_name", "precision, such as fp8", Domain.ANY),),
    ),
    Formula("engineering_cost", "USD for the work of a move", (WEEKS, ENGINEERS, RATE)),
    Formula("months_of_weeks", "Weeks as months of 730 hours", (WEEKS,)),
    Formula("million_tokens_per_month", "Millions of tokens a month of 730 hours", (LOAD,)),
    Formula(
        "monthly_spend",
        "USD a month for a daily load",
        (LOAD, Parameter("usd_per_million", "USD a million tokens")),
    ),
    Formula("dual_running_cost", "USD for the new side while the old one still serves", (DUAL, TO_MONTH)),
    Formula(
        "delay_cost",
        "USD that weeks of delay cost besides the lost saving",
        (
            Parameter("delay_weeks", "weeks of delay", NOT_NEGATIVE),
            Parameter("delay_usd_per_week", "USD lost in each", NOT_NEGATIVE),
        ),
    ),
    Formula(
        "one_off_cost",
        "USD that a move costs once",
        (
            Parameter("engineering_usd", "USD for the work", NOT_NEGATIVE),
            Parameter("dual_running_usd", "USD for both sides running", NOT_NEGATIVE),
            Parameter("stranded_usd", "USD that a commitment still owes, without use", NOT_NEGATIVE),
            Parameter("delay_usd", "USD lost by delay", NOT_NEGATIVE),
        ),
    ),
    Formula(
        "upkeep_per_month",
        "USD a month of work at each release of an SDK",
        (
            Parameter("days_per_release", "days of one person's work at a release", NOT_NEGATIVE),
            Parameter("releases_per_year", "releases a year", NOT_NEGATIVE),
            RATE,
        ),
    ),
    Formula(
        "wait_months",
        "Months from the start of a move until the new side serves",
        (
            Parameter("migration_weeks", "weeks of work", NOT_NEGATIVE),
            DUAL,
            Parameter("delay_weeks", "weeks of delay", NOT_NEGATIVE),
        ),
    ),
    Formula(
        "net_saving", "USD saved a month, upkeep paid; negative where it costs more", (FROM_MONTH, TO_MONTH, UPKEEP)
    ),
    Formula("saving_per_million", "USD saved a million tokens, upkeep shared out", (FROM, TO, UPKEEP, LOAD)),
    Formula(
        "break_even_tokens",
        "Tokens that pay for a move; NULL where nothing is saved",
        (ONE_OFF, Parameter("saving_usd_per_million", "USD saved a million tokens", Domain.ANY)),
    ),
    Formula("break_even_months", "Months that pay for a move; NULL where nothing is saved", (ONE_OFF, NET)),
    Formula("cost_of_staying", "USD of the old side over a horizon", (HORIZON, FROM_MONTH)),
    Formula(
        "cost_of_moving",
        "USD of a move and the new side over a horizon",
        (HORIZON, WAIT, FROM_MONTH, TO_MONTH, UPKEEP, ONE_OFF),
    ),
    Formula(
        "to_cost_to_pay",
        "USD a million tokens of the new side below which a move pays",
        (HORIZON, WAIT, DUAL, LOAD, FROM, UPKEEP, FIXED),
    ),
    Formula(
        "from_cost_to_pay",
        "USD a million tokens of the old side above which a move pays",
        (HORIZON, WAIT, DUAL, LOAD, TO, UPKEEP, FIXED),
    ),
    Formula(
        "spend_to_pay",
        "USD a month on the old side above which a move pays",
        (HORIZON, WAIT, DUAL, FROM, TO, UPKEEP, FIXED),
    ),
    Formula(
        "verdict",
        "pays, too late for the horizon, or never; NULL: unknown",
        (
            NET,
            Parameter("staying_usd", "USD of staying over a horizon", Domain.ANY),
            Parameter("moving_usd", "USD of moving over it", Domain.ANY),
        ),
    ),
    Formula(
        "plan",
        "What comes of a move at monthly amounts, as a STRUCT",
        (ONE_OFF, WAIT, FROM_MONTH, TO_MONTH, UPKEEP, HORIZON),
    ),
    Formula(
        "hosted_usd_per_million",
        "USD a million output tokens and their input, hosted",
        (
            Parameter("input_usd_per_million", "price of input", NOT_NEGATIVE),
            Parameter("output_usd_per_million", "price of output", NOT_NEGATIVE),
            Parameter("cached_usd_per_million", "price of cached input", NOT_NEGATIVE),
            Parameter("input_per_output", "input tokens that come with each output token", NOT_NEGATIVE),
            Parameter("cached_share", "share of the input that is cached", Domain.SHARE),
        ),
    ),
    Formula(
        "tokens_to_pay_units",
        "Output tokens a day at which units of one's own cost as much as the hosted model",
        (
            Parameter("units", "whole units"),
            Parameter("unit_usd_per_month", "USD a month of one unit"),
            HOSTED,
        ),
    ),
    Formula(
        "last_gap",
        "Units from which on the hosted model is never cheaper again; NULL: it always is",
        (Parameter("unit_pays_from", "tokens a day at which one unit pays"), UNIT_LOAD),
    ),
)
"""Every macro of decision, a formula after those that it needs."""
