"""The maintenance flow: makes the published file from nothing, and keeps a shared warehouse small."""

from prefect import flow, get_run_logger

from flows.collect import publisher, steps
from flows.config import settings


@flow(name="maintain", persist_result=False, timeout_seconds=6 * 3600)
def maintain(days: int = 30) -> list[str]:
    """Do what `chipledger data maintain` does; return what was done.

    Args:
        days: What of a shared warehouse is older expires, if nothing that stays needs it.
    """
    chosen = settings.read()
    chosen = chosen.replace(wait_seconds=max(chosen.wait_seconds, 4 * 3600))  # a backfill takes hours
    done = publisher.maintain(chosen, days=days, clock=steps.utc_now)
    for line in done:
        get_run_logger().info("%s", line)
    return done
