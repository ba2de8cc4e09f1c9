"""How often Prefect tries a task again whose source was unavailable, for all flows; nothing of Prefect is imported."""

from typing import Any

from warehouse.errors import Unavailable

LONGEST_PAUSE_S = 30.0
"""A source that asks for a longer pause than any of ours is asked again by the next run."""


def passes(error: object) -> bool:
    """Return whether a failure may pass within our pauses: the source was unavailable, and asks for no longer one."""
    return isinstance(error, Unavailable) and (error.retry_after or 0.0) <= LONGEST_PAUSE_S


def is_passing(_task: object, _task_run: object, state: Any) -> bool:
    """Return whether a task's failure, the result of its state, may pass within our pauses."""
    return passes(state.result(raise_on_failure=False))


RETRIES: dict[str, Any] = {
    "retries": 2,
    # Each attempt has its own short retries inside (extract.web.http); these are for a source that is down for minutes.
    "retry_delay_seconds": 60.0,
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": is_passing,
}
"""What `prefect.task` takes."""
