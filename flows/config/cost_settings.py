"""The table [costs] of the settings: costs beside the chips, as USD a month or as a share of the bill for chips."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator

from flows.config import table as settings_table
from flows.decisions.cost_added import Added


class Costs(BaseModel):
    """Each cost that no figure includes: a number of USD a month, or a text such as "10%"; None: not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    egress: Added | None = Field(default=None, description="USD a month, or a share of the bill", examples=[5000])
    storage: Added | None = Field(default=None, description="USD a month, or a share of the bill", examples=[1200])
    support: Added | None = Field(default=None, description="USD a month, or a share of the bill", examples=["10%"])
    tax: Added | None = Field(default=None, description="USD a month, or a share of the bill", examples=["19%"])
    capital: Added | None = Field(default=None, description="USD a month, or a share of the bill", examples=["4.5%"])

    @field_validator("*", mode="before")
    @classmethod
    def _read(cls, value: object, info: Any) -> Added:
        return value if isinstance(value, Added) else Added.read(info.field_name, value, origin="settings")

    @field_serializer("*", when_used="unless-none")
    def _written(self, value: Added) -> float | str:
        """Return a cost as the file has it."""
        return f"{100 * value.share:.10g}%" if value.share is not None else value.usd_per_month or 0.0


def added(table: Mapping[str, Any]) -> tuple[Added, ...]:
    """Return the costs of the table, in the order of `ADDABLE`. Raises SettingsError for a wrong one."""
    costs = settings_table.checked(Costs, table, name="costs")
    return tuple(each for each in (getattr(costs, name) for name in Costs.model_fields) if each is not None)
