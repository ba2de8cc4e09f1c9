"""The formulas of cost as SQL macros in the schema `cost`: each stands once, in `transform/sql/cost/`."""

from functools import partial

from transform import formula
from transform.formula import Domain, Parameter

Formula = partial(formula.Formula, "cost")

NOT_NEGATIVE = Domain.NOT_NEGATIVE
PAID = Parameter("paid_rate_usd", "USD a running chip-hour")
CHIPS = Parameter("accelerators", "chips that the rate is of")
RATE = Parameter("tokens_per_second", "tokens per second of all chips")
CHIP_RATE = Parameter("tokens_per_second_per_accelerator", "tokens per second of one chip")
UNIT = Parameter("unit_accelerators", "chips sold at once")
USE = Parameter("utilisation", "share of the rate that is served over running hours", Domain.SHARE)
TARGET = Parameter("target_usd_per_million", "USD a million tokens to reach")
TOKENS = Parameter("tokens", "tokens to train on")
OVERHEAD = Parameter("overhead_share", "work besides the measured one, as a share of it", NOT_NEGATIVE)
GOODPUT = Parameter("goodput_share", "share of running time that makes progress", Domain.SHARE)
INTERRUPTIONS = Parameter("interruptions_per_hour", "interruptions of one machine an hour", NOT_NEGATIVE)


def _any(*names: str) -> tuple[Parameter, ...]:
    """Return parameters of a macro that hands them on to macros that check them."""
    return tuple(Parameter(name, name.replace("_", " "), Domain.ANY) for name in names)


FORMULAS = (
    Formula("working_share", "Share of the chips paid that work", (CHIPS, UNIT)),
    Formula(
        "paid_rate",
        "USD a running chip-hour, idle time charged",
        (
            Parameter("price_per_accelerator_hour", "USD a paid chip-hour"),
            Parameter("running_share", "share of the paid hours that run", Domain.SHARE),
        ),
    ),
    Formula(
        "interruptions_per_hour",
        "Interruptions of one machine an hour, from a monthly share",
        (Parameter("monthly_share", "share of machines interrupted in a month", Domain.SHARE),),
    ),
    Formula(
        "spot_loss_share",
        "Share of spot hours that a job loses",
        (
            INTERRUPTIONS,
            Parameter("machines", "machines that the job runs on"),
            Parameter("checkpoint_interval_hours", "time between checkpoints"),
            Parameter("restart_hours", "time from an interruption to work", NOT_NEGATIVE),
            Parameter("checkpoint_hours", "time that writing one checkpoint stops the work", NOT_NEGATIVE),
        ),
    ),
    Formula(
        "serving_loss_share",
        "Share of spot hours that a serving machine loses",
        (
            INTERRUPTIONS,
            Parameter("drain_hours", "time in which it takes no new requests", NOT_NEGATIVE),
            Parameter("warm_up_hours", "time until its successor serves", NOT_NEGATIVE),
        ),
    ),
    Formula(
        "running_share_after_loss",
        "Share of paid hours that run; NULL where all are lost",
        (Parameter("loss_share", "share of paid hours that are lost", NOT_NEGATIVE),),
    ),
    Formula("usd_per_million_tokens", "USD a million tokens, all of the machine charged", (PAID, CHIPS, RATE, USE)),
    Formula(
        "output_equivalent_rate",
        "Output and input as one rate of output tokens",
        (
            Parameter("output_rate", "output tokens per second"),
            Parameter("uncached_input_rate", "input tokens per second that were computed", NOT_NEGATIVE),
            Parameter("cached_input_rate", "input tokens per second that were cached", NOT_NEGATIVE),
            Parameter("input_weight", "what an input token counts as, of an output token", NOT_NEGATIVE),
            Parameter("cached_input_weight", "the same for a cached one", NOT_NEGATIVE),
        ),
    ),
    Formula(
        "measured_input_weight",
        "What an input token costs in output tokens, where each has chips of its own",
        (
            Parameter("prefill_accelerators", "chips that read input"),
            Parameter("input_rate", "input tokens per second of them"),
            Parameter("decode_accelerators", "chips that generate"),
            Parameter("output_rate", "output tokens per second of them"),
        ),
    ),
    Formula("interpolated", "Value on a straight line between two points", _any("x", "x0", "y0", "x1", "y1")),
    Formula(
        "network",
        "What joins machines for work on more chips than one has",
        _any("capacity_class", "provider_name", "unit_accelerators", "instance_type"),
    ),
    Formula(
        "usable_share",
        "Share of the paid hours of a Capacity Block that can be used",
        (Parameter("block_hours", "hours that are paid"),),
    ),
    Formula("usual_chips", "Chips that a headline speaks of where nobody names others", ()),
    Formula("usual_speeds", "Speeds for a user at which frontiers are read, in tokens per second", ()),
    Formula(
        "speeds_within",
        "Speeds for a user at which a point has rates: those of a list within its stretch, or the one that it kept",
        _any("speeds", "speed_from", "speed_to", "kept_speed"),
    ),
    Formula(
        "rates_at_speed",
        "Rates of a point at one speed for a user, and how they are known, as a STRUCT",
        _any(
            "speed",
            "speed_from",
            "speed_to",
            "below_slowest",
            "high_output",
            "median_output",
            "low_output",
            "high_input",
            "median_input",
            "low_input",
        ),
    ),
    Formula(
        "split_output_usd",
        "USD a million output tokens where input pays its part of the machine",
        _any("paid_rate_usd", "output_rate", "input_rate", "input_weight", "utilisation"),
    ),
    Formula("monthly", "A month of an hourly amount", _any("hourly_amount")),
    Formula(
        "blended",
        "One price of a million tokens at a ratio of input to output",
        (
            Parameter("input_usd_per_million", "price of input", NOT_NEGATIVE),
            Parameter("output_usd_per_million", "price of output", NOT_NEGATIVE),
            Parameter("input_per_output", "input tokens that come with each output token", NOT_NEGATIVE),
        ),
    ),
    Formula("price_to_beat", "USD a running chip-hour at which the target is met", (TARGET, CHIPS, RATE, USE)),
    Formula("rate_to_beat", "Tokens per second at which the target is met", (PAID, CHIPS, TARGET, USE)),
    Formula("training_usd_per_million", "USD to train on a million tokens", (PAID, CHIP_RATE, OVERHEAD, GOODPUT)),
    Formula("training_hours", "Hours to train on so many tokens", (TOKENS, CHIPS, CHIP_RATE, OVERHEAD, GOODPUT)),
    Formula(
        "accelerators_for_load",
        "Chips to pay for a daily load, in whole units",
        (Parameter("tokens_per_day", "output tokens a day"), UNIT, CHIP_RATE, USE),
    ),
    Formula(
        "serving_costs",
        "Every cost of serving at one operating point on one option, as a STRUCT",
        _any(
            "low_price",
            "median_price",
            "high_price",
            "high_output_rate",
            "median_output_rate",
            "low_output_rate",
            "high_input_rate",
            "median_input_rate",
            "low_input_rate",
            "measured_weight",
            "output_tokens",
            "unit_accelerators",
            "utilisation",
            "running_share",
        ),
    ),
    Formula(
        "training_costs",
        "Every cost of a training on one option, as a STRUCT",
        _any(
            "low_price",
            "median_price",
            "high_price",
            "high_rate",
            "median_rate",
            "low_rate",
            "chips",
            "share_working",
            "trained_tokens",
            "overhead",
            "goodput",
            "running_share",
        ),
    ),
)
"""Every macro of cost, a formula after those that it needs."""
