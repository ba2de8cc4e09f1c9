"""Settings of a deployment: `settings` has the typed model, `types` its types, `show` prints and documents it.

This module is what the command line needs before it knows whether there is anything to read: the model takes longer
to import than a query of the published file takes to answer.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flows.shared.folders import DATA_DIR, is_anything_set, published_in, visible_folder

if TYPE_CHECKING:
    from flows.config.settings import Settings


@dataclass(frozen=True)
class Reader:
    """The settings of one command: read when the command calls this, from its options, the environment and the file."""

    file: Path | None = None
    data_dir: Path | None = None

    def __call__(self) -> "Settings":
        """Return the settings. Raises SettingsError."""
        from flows.config import settings

        return settings.read(self.file, data_dir=self.data_dir)

    def published(self) -> Path:
        """Return the published file. The model is not imported where only `--data-dir` is set."""
        if self.file or is_anything_set(os.environ):
            return self().published()
        return published_in(visible_folder((self.data_dir or DATA_DIR).expanduser()))
