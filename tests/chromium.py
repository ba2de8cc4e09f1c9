"""The browser of the tests: the machine's own Chromium."""

import os
import shutil

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ALONE = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking"]
"""Flags of a browser that reaches no host."""


def executable() -> str:
    """Return the path of Chromium. Without one the test is skipped; on CI, which has one, it fails."""
    if BROWSER is None:
        message = "no Chromium"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return BROWSER
