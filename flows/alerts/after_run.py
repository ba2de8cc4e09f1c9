"""What follows a run: alerts, and the heartbeat, without which a dead schedule or undelivered alerts are noticed."""

import logging
from urllib.parse import urlsplit

from flows.config.settings import Settings
from flows.shared import Clock, redact
from warehouse.errors import ChipledgerError, SourceError

LOG = logging.getLogger(__name__)
HEARTBEAT_WAIT_S = 10.0  # of each attempt, as the next run waits


def alert(settings: Settings, *, clock: Clock) -> bool:
    """Send alerts, and return whether none failed; what is not set up costs nothing. A failure is a warning alone."""
    if not (settings.alerts.is_set or settings.chat_urls()) or not (settings.data_dir / "prices.duckdb").exists():
        return True
    import duckdb

    from flows.alerts import deliver

    try:
        outcome = deliver.send_due(settings, clock=clock)
    except (ChipledgerError, OSError, duckdb.Error) as error:
        LOG.warning("alerts: %s", error)
        return False
    for line in deliver.lines(outcome):
        LOG.log(logging.INFO if outcome.is_good else logging.WARNING, "alerts: %s", line)
    return not outcome.failed


def call_heartbeat(settings: Settings) -> None:
    """Call `heartbeat_url` after a good run; a failure is a warning."""
    if not settings.heartbeat_url:
        return
    from extract.web.http import HttpWeb

    try:
        HttpWeb(read_timeout_s=HEARTBEAT_WAIT_S).get(settings.heartbeat_url, accept="*/*")
    except SourceError as error:
        if error.field == "status" and str(error.value).startswith("2"):
            return  # taken; its answer has no content
        # Whoever has the address can say that a run was good.
        message = redact.hide(error.message, secrets=[settings.heartbeat_url])
        LOG.warning("heartbeat: %s refused it: %s", urlsplit(settings.heartbeat_url).hostname, message)
