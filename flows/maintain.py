"""The maintenance flow: keeps a shared warehouse small. One file needs none, and the flow says so."""

from prefect import flow, get_run_logger

from flows.collect import steps
from flows.config import settings
from warehouse.lake import maintenance
from warehouse.log import db


@flow(name="maintain", persist_result=False, timeout_seconds=6 * 3600)
def maintain(days: int = 30) -> list[str]:
    """Merge a shared warehouse's little files, let old snapshots and publications expire; return what was done.

    Args:
        days: What is older expires, if nothing that stays needs it.
    """
    place = settings.read().place()
    if not place.is_shared:
        done = ["one file needs no maintenance"]
    else:
        with db.open_log(place) as con:
            done = list(maintenance.maintain(con, days=days, now=steps.utc_now()).lines())
    for line in done:
        get_run_logger().info("%s", line)
    return done
