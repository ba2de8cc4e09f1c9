"""The table [run] of the settings: which of Prefect's task runners fetches the scopes of a daily flow."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Whole


class RunSettings(BaseModel):
    """Where scopes are fetched: in threads of the run, or in processes of a Dask cluster.

    `processes`: of the Dask cluster that the run starts. `dask_address`: of the scheduler of an existing cluster;
    empty: the run starts its own on this machine. `fan_out` is the deprecated name of `task_runner`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task_runner: Literal["threads", "dask"] = Field(
        default="threads", description='where the daily flow fetches: "threads" of the run, or "dask"'
    )
    processes: Whole = Field(default=4, ge=1, le=64, description="processes of the run's own Dask cluster")
    dask_address: str = Field(
        default="",
        description="scheduler of a Dask cluster, such as tcp://10.0.0.5:8786; empty: one of its own",
    )
    fan_out: Literal["", "threads", "dask", "workers"] = Field(
        default="", description='deprecated: `task_runner`; "workers" means threads'
    )

    @property
    def runner(self) -> str:
        """Return the task runner, also where the deprecated setting names it."""
        return "dask" if "dask" in (self.task_runner, self.fan_out) else "threads"


def of(settings: Settings) -> RunSettings:
    """Return the table, or its defaults. Raises SettingsError."""
    return table.checked(RunSettings, settings.run, name="run")


def warnings(settings: Settings) -> list[str]:
    """Return a note for each deprecated setting in use, for the summary of a run."""
    found = []
    if fan_out := of(settings).fan_out:
        found.append(
            f'run.fan_out = "{fan_out}" is deprecated: write task_runner = "{of(settings).runner}" under [run]'
            + ('; Prefect workers no longer fetch for a run, and "workers" means threads' * (fan_out == "workers"))
        )
    if "compact_after_days" in settings.retention:
        found.append("retention.compact_after_days is deprecated and has no effect: remove it")
    return found


def notes(settings: Settings) -> list[str]:
    """Return the warnings, and a note where a run without Prefect cannot use the task runner of the settings."""
    found = warnings(settings)
    if of(settings).runner == "dask":
        found.append(
            'this command fetches in threads, though run.task_runner is "dask": the daily flow uses it '
            "(`python flows/daily.py`, or the deployment that `chipledger deploy` makes)"
        )
    return found
