"""The table [decision] of the settings: the questions before a decision, each as a number of one's own."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Switch

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
SUM_OF_SHARES = 1e-6


class Spread(BaseModel):
    """A share of use that is not known for sure: it is below `low` once in ten times, and above `high` once in ten."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    low: Share
    likely: Share
    high: Share

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low <= self.likely <= self.high:
            raise ValueError("low, likely and high must not fall")
        return self


class Profile(BaseModel):
    """How many machines run: `hours` are shares of all hours, `nodes` the machines that run in each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hours: tuple[Share, ...] = Field(min_length=1)
    nodes: tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(self.hours) != len(self.nodes):
            raise ValueError("hours and nodes must be of one length")
        if abs(sum(self.hours) - 1) > SUM_OF_SHARES:
            raise ValueError("hours must sum to 1")
        return self


class DecisionSettings(BaseModel):
    """What a decision is made with; each may be left out.

    `monthly_spend`: USD. `share_of_use`: share of hours in which what is paid for runs, a number or low, likely, high.
    `use`: the same for one line of the fleet by its label, or a profile. `pattern`: whether the nodes of a line run all
    `together` or at one `level` all the time. `yearly_price_move`: -0.2 for a fall by a fifth each year, in place of
    what the history shows. `spot_loss`: share of spot hours that interruptions cost. `providers`: the only ones to buy
    from; `regions`: the only ones to buy in. `tokens_per_day`, `training_tokens`: the load. `interactivity`: tokens per
    second that one user must have.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    monthly_spend: Positive | None = Field(
        default=None, description="USD that are spent on accelerators a month", examples=[100000]
    )
    horizon_months: Annotated[float, Field(ge=1, le=120)] | None = Field(
        default=None, description="how far ahead a decision looks", examples=[36]
    )
    weeks_of_migration: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None, description="what moving to other chips takes", examples=[8]
    )
    weeks_to_production: Positive | None = Field(default=None, description="when it must run", examples=[12])
    share_of_use: Share | Spread | None = Field(
        default=None,
        description="share of the hours paid for in which machines work; or low, likely, high",
        examples=[0.6],
    )
    tolerates_interruption: Switch | None = Field(
        default=None, description="whether the load bears the loss of a spot machine", examples=[False]
    )
    spot_loss: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="share of spot hours that interruptions cost", examples=[0.1]
    )
    tokens_per_day: Positive | None = Field(default=None, description="the load of serving", examples=[1000000000])
    training_tokens: Positive | None = Field(default=None, description="the load of training", examples=[1000000000000])
    interactivity: Positive | None = Field(
        default=None, description="tokens a second that one user must have", examples=[30]
    )
    providers: tuple[str, ...] = Field(default=(), description="the only providers to buy from; empty: all")
    regions: tuple[str, ...] = Field(
        default=(), description="the only regions to buy in, as providers name them; empty: all"
    )
    pattern: Literal["together", "level"] = Field(
        default="together", description="whether the nodes of a line run all together, or at one level all the time"
    )
    yearly_price_move: Annotated[float, Field(gt=-1, lt=1)] | None = Field(
        default=None,
        description="fall (-0.2) or rise of prices a year, in place of what the history shows",
        examples=[-0.2],
    )
    use: Mapping[str, Spread | Profile] = Field(
        default_factory=dict, description="share of use of single lines of the fleet, by label: [decision.use.LABEL]"
    )


def read(settings: Settings) -> DecisionSettings:
    """Return the checked table. Raises SettingsError that names what is wrong."""
    return table.checked(DecisionSettings, settings.decision, name="decision")
