"""What the tools of the read API take: each a pydantic model, and what a wrong value is answered with."""

from collections.abc import Iterable, Mapping
from datetime import date
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from flows.decisions.cost import ASSUMED_MFU, UTILISATIONS
from flows.read_api import query_process
from warehouse.errors import ChipledgerError
from warehouse.reference import accelerators
from warehouse.reference.accelerators import Chip
from warehouse.schema.vocabulary import PURCHASE_OPTIONS

NEAR = 5
"""Names that a hint offers."""


def _option(text: str) -> str:
    if text not in PURCHASE_OPTIONS:
        raise ValueError(f"Allowed: {', '.join(PURCHASE_OPTIONS)}")
    return text


def _utilisation(share: float) -> float:
    if share not in UTILISATIONS:
        raise ValueError(f"Allowed: {', '.join(map(str, UTILISATIONS))}")
    return share


Name = Annotated[str, Field(min_length=1, max_length=100)]
Option = Annotated[
    str,
    AfterValidator(_option),
    Field(json_schema_extra={"enum": list(PURCHASE_OPTIONS)}, description="How it is bought; never mixed in one list"),
]
Utilisation = Annotated[
    float,
    AfterValidator(_utilisation),
    Field(json_schema_extra={"enum": list(UTILISATIONS)}, description="Serving: share of the measured rate served"),
]
Limit = Annotated[int, Field(ge=1, le=50, description="Most rows of each list")]
Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Input(BaseModel):
    """Arguments of a tool; a name that it does not have is an error, never passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=Input)


class Which(Input):
    """Which offers: of a chip, of a machine, or both."""

    chip: Name | None = Field(None, description="A chip in anybody's words, such as H100, H100 SXM or Trainium2")
    instance_type: Name | None = Field(None, description="A machine by the provider's own name, such as p5.48xlarge")
    provider: Name | None = Field(None, description="Who sells it, such as AWS")
    region: Name | None = Field(None, description="A region in the provider's own code, such as us-east-1")
    purchase_option: Option | None = None


class LatestPrice(Which):
    """Arguments of latest_price."""

    limit: Limit = 10


class PriceHistory(Which):
    """Arguments of price_history."""

    offer_id: Annotated[int, Field(ge=0)] | None = Field(None, description="One offer, as other answers name it")
    since: date | None = Field(None, description="First day, UTC")
    until: date | None = Field(None, description="Last day, UTC")
    limit: Limit = 10


class Cheapest(Input):
    """Arguments of cheapest."""

    chip: Name = Field(description="A chip in anybody's words, such as H100, H100 SXM or Trainium2")
    purchase_option: Option | None = None
    commitment_class: (
        Literal["none", "interruptible", "under_a_year", "one_year", "two_years", "three_years", "longer"] | None
    ) = None
    capacity_class: Literal["fraction", "single", "several", "node", "cluster", "rack"] | None = Field(
        None, description="What is bought at once; a node is a machine of eight chips or more"
    )
    provider: Name | None = Field(None, description="Who sells it, such as AWS")
    limit: Limit = 3


class CostPerToken(Input):
    """Arguments of cost_per_token."""

    model: Name = Field(description="A model, such as llama-2-70b; the table ref.model has them")
    task: Literal["serving", "training"] = "serving"
    chip: Name | None = Field(None, description="Only this chip")
    purchase_option: Option | None = None
    interactivity: Positive | None = Field(None, description="Serving: least tokens per second for one user")
    tokens_per_day: Positive | None = Field(None, description="Serving: output tokens a day")
    utilisation: Utilisation = 1.0
    tokens: Positive | None = Field(None, description="Training: tokens to train on")
    mfu: Share = Field(ASSUMED_MFU, description="Training: share of the peak, where nothing was measured")
    commitment_use: Share = Field(1.0, description="Hours used of the hours committed")
    spot_loss: Annotated[float, Field(ge=0, lt=1)] = Field(0.0, description="Share of spot hours lost to interruption")
    limit: Limit = 10


class GivenClaim(Input):
    """One published number to check, in the columns of docs/auditing-a-claim.md."""

    claim_id: Name
    subject: Annotated[str, Field(min_length=1, max_length=500)]
    metric: Name = Field(description="Such as price_per_chip, throughput_tokens_per_s_per_chip or savings_pct")
    unit: Name
    as_of: Name = Field(description="When it was said: 2026-07-02, 2026-04, 2026 or undated")
    value: Name | None = None
    low: Name | None = None
    high: Name | None = None
    hedge: Name | None = None
    conditions: Annotated[str, Field(max_length=1000)] | None = None
    derived_from: Annotated[str, Field(max_length=1000)] | None = None
    purchase_option: Option | None = None
    commitment_term_hours: Name | None = None
    region_id: Name | None = None
    batch_size: Name | None = None
    precision: Name | None = None
    model_name: Name | None = None
    tokens: Name | None = None


class AuditClaims(Input):
    """Arguments of audit_claims."""

    claims: Annotated[list[GivenClaim], Field(min_length=1, max_length=50)] | None = Field(
        None, description="Numbers to check; without it, those that are shipped"
    )
    article: Name | None = Field(None, description="Of the shipped ones, those of the text whose name has this in it")
    limit: Annotated[int, Field(ge=1, le=300, description="Most claims")] = 50


class Sources(Input):
    """Arguments of sources."""

    source: Name | None = Field(None, description="One source, with each of its scopes")


class Schema(Input):
    """Arguments of schema."""

    table: Name | None = Field(None, description="One table or view, such as int.price_change, with its columns")


class Query(Input):
    """Arguments of query."""

    sql: Annotated[str, Field(min_length=1, max_length=query_process.MOST_CHARACTERS)] = Field(
        description="One SELECT in DuckDB's SQL over the schemas core and mart"
    )
    rows: Annotated[int, Field(ge=1, le=query_process.MOST_ROWS)] = Field(200, description="Most rows")
    seconds: Annotated[float, Field(gt=0, le=query_process.MOST_SECONDS)] = Field(10.0, description="Most time")


def checked(model: type[Model], given: Mapping[str, object]) -> Model:
    """Return the arguments. Raises ChipledgerError, naming the first that is wrong and what is allowed."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        known = ", ".join(model.model_fields)
        if fault["type"] == "extra_forbidden":
            raise wrong("no such argument", field, str(fault["loc"][-1]), f"There are: {known}") from None
        value = "" if fault["type"] == "missing" else fault["input"]
        hint = fault["msg"].removeprefix("Value error, ")
        raise wrong("a wrong argument", field, value, hint) from None


def wrong(message: str, field: str, value: object, hint: str = "") -> ChipledgerError:
    """Return the error of an argument."""
    return ChipledgerError(message, source="arguments", field=field, value=value, hint=hint)


def near(text: str, known: Iterable[str]) -> str:
    """Return a hint with the known names that look like a text: by their letters only, which makes none the same."""
    by_letters: dict[str, str] = {}
    for name in known:
        by_letters.setdefault(name.casefold(), name)
    found = [by_letters[key] for key in get_close_matches(text.casefold(), list(by_letters), n=NEAR, cutoff=0.5)]
    return f"Names that look like it, and may be something else: {', '.join(found)}" if found else ""


def chip(text: str) -> Chip:
    """Return the whole chip that a text names. Raises ChipledgerError for what is none, or a part of one."""
    found = accelerators.resolve(text)
    if found is None:
        spoken = {
            one: each.accelerator_name
            for each in accelerators.read_table()
            for one in (each.accelerator_name.casefold(), *each.spellings)
        }
        like = get_close_matches(text.casefold(), list(spoken), n=NEAR, cutoff=0.5)
        names = ", ".join(dict.fromkeys(spoken[one] for one in like))
        hint = f"Chips whose names look like it, and may be others: {names}" if names else ""
        raise wrong("no chip is called that", "chip", text, hint)
    if found.accelerator_share != 1:
        raise wrong("a part of a chip, or not known to be a whole one", "chip", text, "Name the chip alone")
    return found


def arguments(given: Input) -> dict[str, Any]:
    """Return arguments as an answer repeats them."""
    return given.model_dump(mode="json", exclude_none=True)
