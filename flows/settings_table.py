"""Tables of the settings file: each is a pydantic model, and what is wrong in it is named with what is allowed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)


def table(value: object, *, name: str) -> Mapping[str, Any]:
    """Return a table as it is. Raises SettingsError where it is none."""
    if not isinstance(value, Mapping):
        raise SettingsError("must be a table", field=name, value=value, hint=f"Write [{name}]")
    return value


def checked(model: "type[M]", value: Mapping[str, Any], *, name: str) -> "M":
    """Return a table as its model, which forbids unknown names. Raises SettingsError that names the first fault."""
    # What this imports costs a tenth of a second, which a command without such a table must not pay.
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(value))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join((name, *(str(part) for part in fault["loc"])))
        if fault["type"] == "extra_forbidden":
            raise SettingsError(
                "unknown setting", field=place, value=fault["input"],
                hint=f"Known: {', '.join(sorted(model.model_fields))}",
            ) from error  # fmt: skip
        raise SettingsError("wrong setting", field=place, value=fault["input"], hint=fault["msg"]) from error
