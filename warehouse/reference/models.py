"""What is published of each language model: the table `data/model.csv`, one model a row, its errors named.

How the table is filled:

1. `model_name` is ours: maker's name, version, size, in lower case with hyphens. Chat and instruction versions have the
   shape of their base and are aliases of it, as are the names that benchmarks use. An alias never means two models.
2. `parameters_active` is what one token passes through, as published. A dense model has all of them active.
3. `shared_parameters` are read at every step of generation: all but the routed experts and the input embedding, of
   which a step reads a row a sequence (an embedding that is the output head too is read and counts).
   `expert_parameters` is one routed expert of one layer; `moe_layers` have `experts` of them, `experts_per_token` used.
   Empty for a dense model; where a model generates nothing, `shared_parameters` is empty too.
4. `kv_heads` and `head_size` give the keys and values kept per token and layer: 2 x kv_heads x head_size. Multi-head
   latent attention keeps one vector instead, `kv_latent_size`. `windowed_layers` see `window_tokens` back, no more.
5. `attention_size` is heads x head size, in most models the hidden size; the mean where keys and values differ in size.
6. Totals are counted from the configuration; active parameters are as published where the maker publishes them.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.errors import ChipledgerError
from warehouse.reference.fact_csv import Row, rows

TABLE = resources.files("warehouse") / "data" / "model.csv"
MODALITIES = ("text",)
ALIAS_SEPARATOR = "; "

MOE_COLUMNS = ("moe_layers", "experts", "experts_per_token", "expert_parameters")
ACTIVE_TOLERANCE = 0.05
"""Active parameters are published rounded, and makers differ on counting embeddings: what the shape gives may differ
by as much (DeepSeek-V3: 37 billion published, 36.6 without the input embedding)."""


class Model(NamedTuple):
    """The shape of one model, in the order of the columns of `core.model`."""

    model_name: str
    aliases: str
    parameters_total: int
    parameters_active: int
    shared_parameters: int | None
    layers: int
    hidden_size: int
    attention_size: int
    kv_heads: int | None
    head_size: int | None
    kv_latent_size: int | None
    windowed_layers: int
    window_tokens: int | None
    moe_layers: int | None
    experts: int | None
    experts_per_token: int | None
    expert_parameters: int | None
    max_context_tokens: int
    modality: str
    note: str | None
    source_url: str
    accessed_on: date

    @property
    def names(self) -> tuple[str, ...]:
        """Return the model's name and its aliases."""
        return self.model_name, *filter(None, self.aliases.split(ALIAS_SEPARATOR))

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


CORE_COLUMNS = (*Model._fields, "kv_values_per_layer", "kv_bytes_per_token")
"""The columns of core.model: those of the table, and two that follow from them."""


def read_table(path: Traversable = TABLE) -> list[Model]:
    """Return the models of a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    seen: dict[str, str] = {}
    models = []
    for row in rows(path, Model._fields, key="model_name", rules="warehouse/reference/models.py"):
        model = _model(row)
        for place, name in enumerate(model.names):
            if _normal(name) in seen:
                field = "aliases" if place else "model_name"
                raise row.error(field, f"{name} is {seen[_normal(name)]} already")
            seen[_normal(name)] = model.model_name
        models.append(model)
    return models


def core_rows(models: list[Model]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of core.model."""
    for model in models:
        yield (*model, model.kv_values_per_layer, model.kv_bytes_per_token)


def find(text: str) -> Model | None:
    """Return the model that a text names, None where none is named exactly so.

    Case, blanks, underscores and a maker before the last slash do not matter; nothing else is guessed.
    """
    return _by_name().get(_normal(text))


@cache
def _by_name() -> dict[str, Model]:
    return {_normal(name): model for model in read_table() for name in model.names}


def _normal(text: str) -> str:
    return re.sub(r"[\s_-]+", "-", text.rpartition("/")[2].strip().casefold()).strip("-")


def _model(row: Row) -> Model:
    if not row.cells["source_url"].startswith("https://"):
        raise row.error("source_url", "no public address to check the fact at")
    model = Model(
        model_name=row.text("model_name"),
        aliases=row.cells["aliases"],
        parameters_total=_count(row, "parameters_total"),
        parameters_active=_count(row, "parameters_active"),
        shared_parameters=_count_or_none(row, "shared_parameters"),
        layers=_count(row, "layers"),
        hidden_size=_count(row, "hidden_size"),
        attention_size=_count(row, "attention_size"),
        kv_heads=_count_or_none(row, "kv_heads"),
        head_size=_count_or_none(row, "head_size"),
        kv_latent_size=_count_or_none(row, "kv_latent_size"),
        windowed_layers=_count_or_none(row, "windowed_layers") or 0,
        window_tokens=_count_or_none(row, "window_tokens"),
        moe_layers=_count_or_none(row, "moe_layers"),
        experts=_count_or_none(row, "experts"),
        experts_per_token=_count_or_none(row, "experts_per_token"),
        expert_parameters=_count_or_none(row, "expert_parameters"),
        max_context_tokens=_count(row, "max_context_tokens"),
        modality=row.one_of("modality", MODALITIES),
        note=row.cells["note"] or None,
        source_url=row.cells["source_url"],
        accessed_on=row.day("accessed_on"),
    )
    for field, reason in _contradictions(model):
        raise row.error(field, reason)
    return model


def _contradictions(model: Model) -> Iterator[tuple[str, str]]:
    """Yield each field that contradicts another, with the reason."""
    if model.model_name != _normal(model.model_name):
        yield "model_name", "not in lower case with hyphens"
    if bool(model.windowed_layers) != (model.window_tokens is not None) or model.windowed_layers > model.layers:
        yield "windowed_layers", "without window_tokens, or more than layers"
    if model.kv_latent_size is not None and (model.kv_heads is not None or model.head_size is not None):
        yield "kv_latent_size", "beside kv_heads and head_size"
    moe = [getattr(model, column) for column in MOE_COLUMNS]
    if all(count is None for count in moe):
        if model.parameters_active != model.parameters_total:
            yield "parameters_active", "not all of a model without experts"
        if model.shared_parameters is not None and not model.shared_parameters <= model.parameters_total:
            yield "shared_parameters", "above parameters_total"
        return
    if None in moe or model.shared_parameters is None:
        yield "experts", f"one of {', '.join(MOE_COLUMNS)}, shared_parameters is missing"
        return
    moe_layers, experts, used, size = moe
    if moe_layers > model.layers or used > experts:
        yield "experts", "more moe_layers than layers, or more experts used than there are"
    if model.shared_parameters + moe_layers * experts * size > model.parameters_total * (1 + ACTIVE_TOLERANCE):
        yield "parameters_total", "below shared_parameters and all experts"
    through = model.shared_parameters + moe_layers * used * size
    if abs(through / model.parameters_active - 1) > ACTIVE_TOLERANCE:
        yield "parameters_active", f"the shape gives {through}"


def _count(row: Row, field: str) -> int:
    count = _count_or_none(row, field)
    if count is None:
        raise row.error(field, "empty")
    return count


def _count_or_none(row: Row, field: str) -> int | None:
    text = row.cells[field]
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise row.error(field, "not a whole number above 0")
    return int(text)


def unknown(text: str) -> ChipledgerError:
    """Return the refusal of a name that no model has, with the names that there are."""
    return ChipledgerError(
        "no such model",
        source=TABLE.name,
        field="model",
        value=text,
        hint=f"Known are {', '.join(sorted(model.model_name for model in read_table()))}",
    )
