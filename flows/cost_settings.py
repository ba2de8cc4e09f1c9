"""The table [costs] of the settings: costs beside the chips, as USD a month or as a share of the bill for chips."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from flows import settings_table
from flows.cost_added import Added


class Costs(BaseModel):
    """Each cost that no figure includes: a number of USD a month, or a text such as "10%"; None: not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    egress: Added | None = None
    storage: Added | None = None
    support: Added | None = None
    tax: Added | None = None
    capital: Added | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _read(cls, value: object, info: Any) -> Added:
        return Added.read(info.field_name, value, origin="settings")


def added(table: Mapping[str, Any]) -> tuple[Added, ...]:
    """Return the costs of the table, in the order of `ADDABLE`. Raises SettingsError for a wrong one."""
    costs = settings_table.checked(Costs, table, name="costs")
    return tuple(each for each in (getattr(costs, name) for name in Costs.model_fields) if each is not None)
