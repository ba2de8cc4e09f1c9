"""A site for each neocloud source on this machine, which answers as its case says, or as badly as it is told to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from standin.exchange import Answer
from standin.server import LoopbackServer

from neoclouds.case import HERE, Case

ROBOTS = "/robots.txt"
ALLOWED = b"User-agent: *\nDisallow: /admin\n"
FORBIDDEN = b"User-agent: *\nDisallow: /\n"
SETTINGS: Mapping[str, Mapping[str, object]] = {
    # The fixture is the answer of one of the scopes.
    "azure": {"regions": ["eastus"]},
    "ovh": {"regions": ["FR"]},
    "scaleway": {"regions": ["fr-par-2"]},
    "vast": {"gpu_names": ["H100 SXM"]},
}
OTHER_PATHS: Mapping[str, tuple[str, int, bytes]] = {
    # What a source asks for beside its fixture: the end of the path, the status and the answer.
    "scaleway": ("/availability", 200, b'{"servers": {}}'),
    "verda": ("/long-term/periods", 404, b"{}"),
    "voltagepark": ("/instant-deploy-presets/", 200, (HERE / "fixtures/voltagepark-presets.json").read_bytes()),
}
OTHER_SCOPES = {"voltagepark": "presets"}
"""Sources of which that answer is of a scope of its own."""
PAGES = {"azure": 2, "google_cloud": 2, "scaleway": 2, "spheron": 2, "verda": 2, "voltagepark": 2, "vultr": 3}
"""Requests of the sources that need more than one."""


@dataclass(kw_only=True)
class Site:
    """One provider's site: its answers, and the paths that were asked of it with their methods.

    `body` takes the place of the fixture; `drip` are seconds over which a body is spread.
    """

    case: Case
    robots: bytes = ALLOWED
    body: bytes | None = None
    drip: float = 0.0
    asked: list[tuple[str, str]] = field(default_factory=list)
    server: LoopbackServer = field(init=False)

    def __post_init__(self) -> None:
        self.server = LoopbackServer(self._handle)

    @property
    def name(self) -> str:
        """Return the name of the source."""
        return self.case.source.name

    @property
    def url(self) -> str:
        """Return the address that takes the place of the source's own."""
        return self.server.url + urlsplit(self.case.source.url).path

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings of the source that lead it here."""
        return {"enabled": True, "url": self.url, **SETTINGS.get(self.name, {})}

    def _handle(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Answer, Callable[[], None]]:
        self.asked.append((method, path))
        return self._answer(path), lambda: None

    def _answer(self, path: str) -> Answer:
        if path == ROBOTS:
            return Answer(body=self.robots, content_type="text/plain")
        ending, status, other = OTHER_PATHS.get(self.name, ("", 0, b""))
        if ending and urlsplit(path).path.endswith(ending):
            return Answer(status=status, body=other)
        answer = self.case.answers(path) if self.case.answers and self.body is None else self.body or self.case.body
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        is_json = not self.case.fixture.endswith(".html")
        return Answer(
            status=status, body=body, drip=self.drip, content_type="application/json" if is_json else "text/html",
        )  # fmt: skip


@contextmanager
def open_sites(cases: Sequence[Case]) -> Iterator[dict[str, Site]]:
    """Give a running site for each case, by the name of its source."""
    sites = {case.source.name: Site(case=case) for case in cases}
    for site in sites.values():
        site.server.start()
    try:
        yield sites
    finally:
        for site in sites.values():
            site.server.stop()


def keys(cases: Sequence[Case]) -> dict[str, str]:
    """Return a key for each source that reads one from an environment variable, by the variable."""
    modules = [import_module(case.source.parse.__module__) for case in cases]
    return {module.KEY: "sk-example-0001" for module in modules if isinstance(getattr(module, "KEY", None), str)}
