"""What is published of each language model: the table `data/model.csv`, one model a row.

`data/README.md` says how it is filled.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple, get_type_hints

from warehouse.errors import SettingsError, did_you_mean
from warehouse.reference.table import Broken, Rule, Table, Values
from warehouse.reference.table import Model as TableModel

ALIAS_SEPARATOR = "; "
ACTIVE_TOLERANCE = 0.05
"""Active parameters are published rounded, and makers differ on counting embeddings: what the shape gives may differ
by as much (DeepSeek-V3: 37 billion published, 36.6 without the input embedding)."""


class Model(NamedTuple):
    """The shape of one model, in the order of the columns of `ref.model`."""

    model_name: str
    aliases: str | None
    parameters_total: int
    parameters_active: int
    shared_parameters: int | None
    layers: int
    hidden_size: int
    attention_size: int
    attention_heads: int | None
    kv_heads: int | None
    head_size: int | None
    kv_latent_size: int | None
    windowed_layers: int | None
    window_tokens: int | None
    moe_layers: int | None
    experts: int | None
    experts_per_token: int | None
    expert_parameters: int | None
    max_context_tokens: int
    modality: str
    release_year: int | None
    release_url: str | None
    note: str | None
    source_url: str
    accessed_on: date

    @property
    def names(self) -> tuple[str, ...]:
        """Return the model's name and its aliases."""
        return self.model_name, *filter(None, (self.aliases or "").split(ALIAS_SEPARATOR))

    @property
    def kv_values_per_layer(self) -> int | None:
        """Return the numbers that one layer keeps of one token, None where nothing is kept."""
        if self.kv_latent_size is not None:
            return self.kv_latent_size
        if self.kv_heads is None or self.head_size is None:
            return None
        return 2 * self.kv_heads * self.head_size

    @property
    def kv_bytes_per_token(self) -> int | None:
        """Return what one token adds to the cache at 16 bits, no layer being past its window."""
        values = self.kv_values_per_layer
        return None if values is None else self.layers * values * 2


def _wrong_names(rows: list[Values]) -> Broken:
    seen: dict[str, str] = {}
    for place, row in enumerate(rows):
        model = Model(**row)
        if model.model_name != _normal(model.model_name):
            yield place, "model_name", "not in lower case with hyphens"
        for number, name in enumerate(model.names):
            if _normal(name) in seen:
                yield place, "aliases" if number else "model_name", f"{name} is {seen[_normal(name)]} already"
            seen[_normal(name)] = model.model_name
        if model.moe_layers and model.shared_parameters and model.experts_per_token and model.expert_parameters:
            through = model.shared_parameters + model.moe_layers * model.experts_per_token * model.expert_parameters
            if abs(through / model.parameters_active - 1) > ACTIVE_TOLERANCE:
                yield place, "parameters_active", f"the shape gives {through}"


_MOE = "coalesce(moe_layers, experts, experts_per_token, expert_parameters) is not null"
_WHOLE_MOE = "moe_layers + experts + experts_per_token + expert_parameters + shared_parameters is not null"
MODEL = TableModel(
    file="model.csv",
    key="model_name",
    fields=get_type_hints(Model),
    rules=(
        Rule(
            "windowed_layers",
            "without window_tokens, or more than layers",
            "(windowed_layers is null) = (window_tokens is null) and coalesce(windowed_layers, 0) <= layers",
        ),
        Rule(
            "kv_latent_size",
            "together with kv_heads and head_size",
            "kv_latent_size + coalesce(kv_heads, head_size) is null",
        ),
        Rule("attention_heads", "not attention_size / head_size", "attention_heads * head_size = attention_size"),
        Rule(
            "parameters_active", "not all of a model without experts", f"{_MOE} or parameters_active = parameters_total"
        ),
        Rule("shared_parameters", "above parameters_total", "shared_parameters <= parameters_total"),
        Rule(
            "experts", "one of the columns of experts, or shared_parameters, is missing", f"not {_MOE} or {_WHOLE_MOE}"
        ),
        Rule(
            "experts",
            "more moe_layers than layers, or more experts used than there are",
            "moe_layers <= layers and experts_per_token <= experts",
        ),
        Rule(
            "parameters_total",
            "below shared_parameters and all experts",
            "shared_parameters + moe_layers * experts * expert_parameters"
            f" <= parameters_total * {1 + ACTIVE_TOLERANCE}",
        ),
    ),
    rows=_wrong_names,
)


def read_table(table: Table | None = None) -> list[Model]:
    """Return the models of a table, by default the package's. Raises ChipledgerError where one is not usable."""
    return [
        Model(**row | {"aliases": row["aliases"] or "", "windowed_layers": row["windowed_layers"] or 0})
        for row in MODEL.read(table)
    ]


def core_rows(models: list[Model]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of ref.model: those of the table, with two columns that follow from them."""
    for model in models:
        yield (*model, model.kv_values_per_layer, model.kv_bytes_per_token)


def find(text: str) -> Model | None:
    """Return the model that a text names, None where none is named exactly so.

    Case, blanks, underscores, a maker before the last slash and a format of weights at the end ("-FP8-dynamic") do
    not matter; nothing else is guessed.
    """
    return _by_name().get(_normal(text))


@cache
def _by_name() -> dict[str, Model]:
    return {_normal(name): model for model in read_table() for name in model.names}


def _normal(text: str) -> str:
    name = re.sub(r"[\s_-]+", "-", text.rpartition("/")[2].strip().casefold()).strip("-")
    return re.sub(r"(?:-(?:bf16|fp8|int8|int4|fp4|nvfp4|mxfp4|w8a8|w4a16|awq|gptq|quantized|dynamic|kv))+$", "", name)


def unknown(text: str) -> SettingsError:
    """Return the refusal of a name that no model has, with those that it may have meant."""
    known = sorted(model.model_name for model in read_table())
    hint = did_you_mean(text, known, '`chipledger query "from ref.model"` lists all')
    return SettingsError("no such model", field="model", value=text, hint=hint)
