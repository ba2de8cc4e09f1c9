"""What `chipledger doctor` checks: files, credentials, network, clock, servers; none of it writes a price."""

import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import duckdb

from flows.config.settings import Settings
from flows.doctor import aws, data_files, network, shared_warehouse
from flows.doctor.row import Row, ok, warn
from flows.private import fleet


def all_checks(
    settings: Settings,
    *,
    offline: bool = False,
    environ: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    progress: Callable[[str], None] = lambda message: None,
) -> list[Row]:
    """Return the results of all checks; `offline` leaves out those that need the network, and warns."""
    environ = os.environ if environ is None else environ
    progress("checking files")
    rows = [
        ok("versions", f"Python {sys.version.split()[0]}, DuckDB {duckdb.__version__}"),
        *data_files.checks(settings, clock()),
        *shared_warehouse.checks(settings, clock(), offline=offline),
        *fleet.doctor(settings),
        *network.alerts(settings),
        *network.heartbeat(settings),
    ]
    if offline:
        left_out = "network, clock, AWS credentials, mail server, Prefect: not checked"
        return [*rows, warn("network", left_out, "Leave out --offline to check them")]
    rows += network.checks(settings, clock=clock, progress=progress)
    progress("checking what credentials allow")
    rows += aws.checks(settings)
    progress("checking the mail server and Prefect")
    return rows + network.mails(settings) + network.prefect(environ)
