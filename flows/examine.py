"""What `chipledger doctor` looks at: files, credentials, network, clock, servers; none of it writes a price."""

import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import duckdb

from flows import examine_aws, examine_files, examine_net, examine_shared, examine_ways, fleet
from flows.examine_row import Row, ok, warn
from flows.settings import Settings


def all_checks(
    settings: Settings,
    *,
    offline: bool = False,
    environ: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    progress: Callable[[str], None] = lambda message: None,
) -> list[Row]:
    """Return the results of all checks; `offline` leaves out those that ask the network, and says so."""
    environ = os.environ if environ is None else environ
    progress("looking at files")
    rows = [
        ok("versions", f"Python {sys.version.split()[0]}, DuckDB {duckdb.__version__}"),
        *examine_files.checks(settings, clock()),
        *examine_shared.checks(settings, clock(), offline=offline),
        *fleet.doctor(settings),
        *examine_ways.alerts(settings, environ),
        *examine_ways.heartbeat(settings),
    ]
    if offline:
        left_out = "network, clock, AWS credentials, mail server, Prefect: not asked"
        return [*rows, warn("network", left_out, "Leave out --offline to ask them")]
    rows += examine_net.checks(settings, clock=clock, progress=progress)
    progress("asking what credentials allow")
    rows += examine_aws.checks(settings)
    progress("asking the mail server and Prefect")
    return rows + examine_ways.mails(settings, environ) + examine_ways.prefect(environ)
