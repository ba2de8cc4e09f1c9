"""The table [run] of the settings: where the scopes of a daily run are collected."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Whole

FanOut = Literal["threads", "dask", "workers"]


class RunSettings(BaseModel):
    """Where scopes are collected: in the run's own threads, in processes of a Dask cluster, or by Prefect's workers.

    `processes`: of the Dask cluster that the run starts, or groups of scopes that workers share. `dask_address`: of the
    scheduler of a cluster that is there; where there is none the run starts its own on this machine.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    fan_out: FanOut = Field(
        default="threads",
        description='where the daily flow collects: "threads" of the run, "dask", or "workers" of the work pool: '
        "docs/scheduling.md",
    )
    processes: Whole = Field(
        default=4, ge=1, le=64, description="processes of the run's own Dask cluster, or groups that workers share"
    )
    dask_address: str = Field(
        default="",
        description="scheduler of a Dask cluster, such as tcp://10.0.0.5:8786; empty: one of its own",
    )


def of(settings: Settings) -> RunSettings:
    """Return the table, or its defaults. Raises SettingsError."""
    return table.checked(RunSettings, settings.run, name="run")


def in_threads(settings: Settings) -> list[str]:
    """Return what a run without Prefect says where the settings want more than threads: one note, or none."""
    wanted = of(settings).fan_out
    if wanted == "threads":
        return []
    return [
        f'this command collects in its own threads, though run.fan_out is "{wanted}": the daily flow does that '
        "(`python flows/daily.py`, or the deployment that `chipledger deploy` makes)"
    ]
