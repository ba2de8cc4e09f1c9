"""Settings: one file, `chipledger.toml`, and environment variables; a wrong one is named with its allowed values.

`Settings` is what the program uses, and light to make; `flows.config.model` is the typed model that reads it.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import ChipledgerError

if TYPE_CHECKING:
    from extract.base import Source
    from flows.config.model import Layers

FILE_NAME = "chipledger.toml"
PUBLISHED = "prices.duckdb"
OFFLINE = "offline"
"""The folder of a data directory in which the archive of the package is kept, apart from live prices."""
PREFIX = "CHIPLEDGER_"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a deployment can choose, as `read` found it, or as given.

    `data_dir`: where everything is kept. `workers`: scopes that are fetched side by side. `wait_seconds`: how long to
    wait for another run that is writing. `heartbeat_url`: called after each good run. `reporting_currency`: shown
    beside US dollars in pages and mail. `sources`: one table for each source, with `enabled` and the source's own
    settings. `mail`, `costs`, `alerts`, `private`, `decision`, `site`, `retention`, `ranking`, `network`, `run`,
    `warehouse`: tables that are read where they are used, each by its own module.
    """

    data_dir: Path = Path("data")
    workers: int = 8
    wait_seconds: float = 0.0
    heartbeat_url: str = ""
    reporting_currency: str = "USD"
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mail: Mapping[str, Any] = field(default_factory=dict)
    costs: Mapping[str, Any] = field(default_factory=dict)
    alerts: Mapping[str, Any] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    decision: Mapping[str, Any] = field(default_factory=dict)
    site: Mapping[str, Any] = field(default_factory=dict)
    retention: Mapping[str, Any] = field(default_factory=dict)
    ranking: Mapping[str, Any] = field(default_factory=dict)
    network: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    warehouse: Mapping[str, Any] = field(default_factory=dict)

    def published(self) -> Path:
        """Return the published file; of a shared warehouse the newest one, fetched if it is another than is here.

        Where only the archive of the package was read, it is that one's. Raises ChipledgerError where there is none.
        """
        if self.warehouse:
            from flows.config.warehouse_settings import place_of
            from warehouse.lake import publication

            place = place_of(self)
            if place.is_shared:
                return publication.current(place)
        file = self.shown().data_dir / PUBLISHED
        if not file.exists():
            raise ChipledgerError(
                "there is no published file yet",
                source=str(file),
                hint="`chipledger run` makes one; `chipledger run --offline` works without a network",
            )
        return file

    def offline(self) -> "Settings":
        """Return these settings for the archive of the package, which is kept apart from live prices."""
        folder = self.data_dir if self.data_dir.name == OFFLINE else self.data_dir / OFFLINE
        return replace(self, data_dir=folder, warehouse={})

    def shown(self) -> "Settings":
        """Return the settings of what readers see: of the archive where only that was published, saying so once."""
        kept = self.offline()
        if self.warehouse or (self.data_dir / PUBLISHED).exists() or not (kept.data_dir / PUBLISHED).exists():
            return self
        _say_so(kept.data_dir / PUBLISHED)
        return kept

    def is_on(self, source: "Source") -> bool:
        """Return whether runs collect from a source where none is named."""
        return bool(self.source(source.name).get("enabled", not source.off_because))

    def source(self, name: str) -> Mapping[str, Any]:
        """Return the settings of one source; empty where none are given."""
        return self.sources.get(name, {})


def read(
    path: Path | None = None, *, data_dir: Path | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings: `data_dir`, then the environment, then a file (`chipledger.toml` here, if there is one).

    Raises SettingsError for an unknown name, a value out of range, or a file that was named and does not exist. A file
    of certificates in [network] counts for all clients of this process from now on.
    """
    environ = os.environ if environ is None else environ
    if not path and not Path(FILE_NAME).exists() and not any(name.startswith(PREFIX) for name in environ):
        # Nothing to read: a question of the published file does not wait for what reads it.
        return Settings() if data_dir is None else Settings(data_dir=data_dir.expanduser())
    from flows.config import model

    found = model.settings_of(layers(path, data_dir=data_dir, environ=environ).model())
    if found.network.get("ca_bundle"):
        from extract.web import certificates

        certificates.share(str(found.network["ca_bundle"]))
    return found


def layers(
    path: Path | None = None, *, data_dir: Path | None = None, environ: Mapping[str, str] | None = None
) -> "Layers":
    """Return what was given and where. Raises SettingsError for what cannot be read."""
    from flows.config import model

    environ = os.environ if environ is None else environ
    named = path or (Path(environ[f"{PREFIX}SETTINGS"]) if environ.get(f"{PREFIX}SETTINGS") else None)
    return model.layers(
        named or Path(FILE_NAME),
        must_exist=named is not None,
        environ=environ,
        command_line={} if data_dir is None else {"data_dir": data_dir},
    )


@cache
def _say_so(file: Path) -> None:
    """Say once on stderr that answers come from the archive of the package, and as of which day."""
    import duckdb

    with duckdb.connect(str(file), read_only=True) as con:
        row = con.execute("select strftime(built_at, '%Y-%m-%d') from meta.build").fetchone()
    day = row[0] if row else "an unknown day"
    sys.stderr.write(f"prices of the archive in the package, as of {day}; `chipledger run` fetches today's\n")
