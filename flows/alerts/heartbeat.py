"""The address that is called after each good run, so that a dead schedule is noticed."""

import logging
from urllib.parse import urlsplit

from flows.config.settings import Settings
from flows.shared import redact
from warehouse.errors import SourceError

LOG = logging.getLogger(__name__)


def call(settings: Settings) -> None:
    """Call `heartbeat_url` after a good run; a failure is a warning."""
    if not settings.heartbeat_url:
        return
    from extract.web.http import HttpWeb

    try:
        HttpWeb().get(settings.heartbeat_url, accept="*/*")
    except SourceError as error:
        # Whoever has the address can say that a run was good.
        message = redact.hide(error.message, secrets=[settings.heartbeat_url])
        LOG.warning("heartbeat: %s refused it: %s", urlsplit(settings.heartbeat_url).hostname, message)
