"""One live fetch of each source, what came of it, and a bundle of all that was received: `chipledger check-live`.

Nothing is loaded or published. A bundle is a folder `captures/<source>/<moment>` below the data directory: documents as
received, and `bundle.json` with status, headers (without cookies), versions and what was read. It is a test: see
tests/extract/test_bundles.py. The last well one is what the next is compared with; before there is any, the shape is
that of the fixture, and prices are those of the published file. `captures/status.html` shows
the results of the last check.
"""

import json
import platform
import tarfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from extract.base import Source, failing_alone
from extract.neoclouds.offers import plain
from extract.web.interface import Response
from flows.collect.collector import Collector, LogState, check, compare, ended, threads, utc_now
from flows.collect.inspect_document import differences, known_shapes, shape_of
from flows.config.settings import Settings
from flows.shared import Progress, redact
from flows.shared.output import as_json, echo
from reports import files, wording
from reports.pages import frame
from reports.templating import render
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, CredentialsMissing, LayoutChanged, SourceError

if TYPE_CHECKING:
    from extract.web.interface import Web

VERDICTS = ("failed", "changed", "well", "left out")
FOLDER, MANIFEST, STATUS = "captures", "bundle.json", "status.html"
MAX_SHOWN = 12
ENDINGS = {b"<": "html", b"{": "json", b"[": "json", b"\x1f": "gz"}


@dataclass(kw_only=True)
class Check:
    """What came of one source: `verdict` is well, changed (read, in another shape), failed or left out."""

    source: str
    scope: str = ""
    verdict: str = "well"
    robots: str = "not needed"
    answers: list[dict[str, Any]] = field(default_factory=list)
    n_bytes: int = 0
    seconds: float = 0.0
    rows: int = 0
    facts: int = 0
    refused: int = 0
    lowest: str = ""
    highest: str = ""
    against_known: str = "no price known before"
    error: str = ""
    notes: list[str] = field(default_factory=list)
    compared_with: str = "the fixture that it was written for"
    differences: list[str] = field(default_factory=list)
    bundle: str = ""

    @property
    def found(self) -> dict[str, str]:
        """Return status, size, seconds and numbers of rows as texts, by the name that a person reads."""
        facts = wording.count(self.facts, "fact")
        prices = f", {self.lowest} to {self.highest} ({self.against_known})" if self.lowest else ""
        return {
            "robots.txt": self.robots,
            "status": ", ".join(dict.fromkeys(str(answer["status"]) for answer in self.answers)) or "no answer",
            "size": f"{self.n_bytes:,} bytes",
            "time": f"{self.seconds:.1f} s",
            "read": f"{wording.count(self.rows, 'row')}{prices}, {facts}, {self.refused} refused",
        }

    def lines(self) -> list[str]:
        """Return the check as a person reads it: one line, the error, and what differs."""
        found = f"robots.txt: {'; '.join(self.found.values())}"
        shown = self.differences[:MAX_SHOWN]
        more = len(self.differences) - len(shown)
        return [
            f"{self.verdict:8} {self.source:24} {'' if self.verdict == 'left out' else found}".rstrip(),
            *([f"    {self.error}"] if self.error else []),
            *(f"    note: {note}" for note in self.notes),
            *([f"    differs from {self.compared_with} (- gone, + new):"] if shown else []),
            *(f"      {line}" for line in shown),
            *([f"      and {more} more, in {self.bundle}/{MANIFEST}"] if more > 0 else []),
        ]


@dataclass
class Recorder:
    """A web that notes each answer to a request, and keeps the bodies of small ones."""

    web: "Web"
    answers: list[Response] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.web, name)
        if name not in ("get", "post"):
            return found

        def noted(*arguments: Any, **named: Any) -> Response:
            answer: Response = found(*arguments, **named)
            self.answers.append(answer)
            return answer

        return noted


def run(
    settings: Settings, source_names: Iterable[str], region: str, progress: Progress
) -> tuple[list[Check], Path | None]:
    """Fetch each source once, side by side: those named, or all that are on.

    Returns what came of them, and the archive of all bundles, if any.
    """
    collector = Collector(settings, settings.landing(), LogState(), utc_now, progress)
    sources = collector.sources(source_names)
    folder = settings.data_dir / FOLDER
    if text := collector.announcement([(source, region) for source in sources if source.downloads]):
        echo(text, err=True)
    with threads(settings.workers) as pool:
        futures = [pool.submit(one, collector, source, region, folder) for source in sources]
        for _ in ended(futures):
            pass
        checks = [future.result() for future in futures]
    worst = sorted(checks, key=lambda each: (VERDICTS.index(each.verdict), each.source))
    values = {"folder": str(folder), "checks": worst, "order": VERDICTS, "at": utc_now()}
    files.put(folder / STATUS, render("live.html.j2", **values, **frame.alone()))
    made = [Path(each.bundle) for each in checks if each.bundle]
    if not made:
        return checks, None
    archive = folder / f"bundles-{utc_now():%Y%m%dT%H%M%SZ}.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for path in (folder / STATUS, *made):
            packed.add(path, arcname=str(path.relative_to(folder)))
    return checks, archive


def one(collector: Collector, source: Source, region: str, folder: Path) -> Check:
    """Return what came of one source, and write its bundle."""
    found = Check(source=source.name)
    context = collector.context(source)
    recorder = Recorder(context.web)
    ctx = replace(context, web=recorder)
    documents: tuple[Document, ...] = ()
    begun = time.monotonic()
    if last := _last_well(folder / source.name):
        found.compared_with = "the last good answer"
    try:
        if source.polite:
            found.robots = context.web.verdict(str(ctx.settings.get("url") or source.url))  # type: ignore[attr-defined]  # it is a PoliteWeb
        with failing_alone(source.name, found.scope):
            is_regional = source.provider == "AWS" and "regions" in source.settings
            scopes = (region,) if is_regional else source.scopes(ctx)
            found.scope = region if region in scopes else scopes[0]
            fetched = source.fetch(ctx, found.scope)
            documents, found.notes = fetched.documents, list(map(redact.hide, fetched.notes))
            rows = _read(source, documents, found)
        before = None if last else collector.known_prices(source)
        if last:
            with suppress(ChipledgerError, OSError, ValueError, KeyError):
                before = read_bundle(source, last, Check(source=source.name))
        found.against_known = compare(rows, before) or found.against_known
    except CredentialsMissing as error:
        found.verdict, found.error = "left out", redact.hide(f"{error.message}. {error.hint}")
    except SourceError as error:
        found.verdict, found.error = "failed", redact.hide(str(error))
    found.seconds = round(time.monotonic() - begun, 1)
    bodies = [document.body for document in documents] or [answer.body for answer in recorder.answers]
    found.n_bytes = sum(map(len, bodies))
    found.answers = [{"url": each.url, "status": each.status, "headers": {**each.headers}} for each in recorder.answers]
    found.answers += [{"url": each.url, "status": each.status} for each in documents if not recorder.answers]
    if bodies:
        lines = sorted({line for body in bodies for line in shape_of(body)})
        shape = _manifest(last)["shape"] if last else known_shapes().get(source.name, lines)
        found.differences = differences(shape, lines)
        if found.differences and found.verdict == "well" and last:
            found.verdict = "changed"
        found.bundle = str(_write(folder, found, documents, bodies, lines))
    return found


def _read(source: Source, documents: Sequence[Document], found: Check) -> pl.DataFrame:
    """Return the rows of the documents; raise LayoutChanged where the gates refuse too many, or nothing is there."""
    parsed = [source.parse(document) for document in documents[: 1 if source.other_urls else None]]
    rows = pl.concat([check(each) for each in parsed], how="diagonal")
    texts = [f"not known: {text}" for each in parsed for text in each.unknown]
    texts += [f"row refused: {one.reason} ({one.field}: {one.value})" for each in parsed for one in each.refused]
    found.notes += [redact.hide(text) for text in dict.fromkeys(texts)]
    found.rows, found.facts = len(rows), sum(len(frame) for each in parsed for frame in each.facts.values())
    found.refused = sum(len(each.rows) + len(each.refused) for each in parsed) - len(rows)
    if not found.rows and not found.facts and source.name not in MAY_BE_EMPTY:
        raise LayoutChanged("neither prices nor facts", source=source.name, field="rows", value=0)
    prices = rows.filter(pl.col("unit_price") > 0)["unit_price"].sort()  # 0 is the hour of what is paid upfront
    found.lowest, found.highest = (plain(prices[at]) if len(prices) else "" for at in (0, -1))
    return rows


MAY_BE_EMPTY = ("aws_capacity_blocks", "aws_spot")  # of what a region may not sell


# --- bundles


def _write(folder: Path, found: Check, documents: Iterable[Document], bodies: list[bytes], lines: list[str]) -> Path:
    place = folder / found.source / f"{utc_now():%Y%m%dT%H%M%S%fZ}"
    place.mkdir(parents=True)
    names = [f"document-{n}.{ENDINGS.get(body.lstrip()[:1], 'txt')}" for n, body in enumerate(bodies, start=1)]
    for name, body in zip(names, bodies, strict=True):
        (place / name).write_bytes(body)
    kept = [
        {"file": name, "url": each.url, "parameters": {**each.parameters}, "fetched_at": each.fetched_at}
        for name, each in zip(names, documents, strict=False)
    ]
    versions = {"chipledger": version("chipledger"), "python": platform.python_version()}
    content = asdict(found) | {"documents": kept, "files": names, "shape": lines, "versions": versions}
    (place / MANIFEST).write_text(redact.hide(as_json(content, indent=1)) + "\n", encoding="utf-8")
    return place


def _manifest(bundle: Path) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
    return content


def _documents(source: Source, bundle: Path) -> list[Document]:
    content = _manifest(bundle)
    listed = content["documents"] or [
        {"file": name, "url": source.url, "parameters": {}, "fetched_at": datetime.now(UTC).isoformat()}
        for name in content["files"]
    ]
    return [
        Document(
            source=source.name, scope=content["scope"], url=each["url"], parameters=each["parameters"],
            body=(bundle / each["file"]).read_bytes(), fetched_at=datetime.fromisoformat(each["fetched_at"]),
        )
        for each in listed
    ]  # fmt: skip


def _last_well(folder: Path) -> Path | None:
    """Return the newest bundle of a source that was well or changed; None where there is none that can be read."""
    for bundle in sorted(folder.glob("*"), reverse=True):
        try:
            if _manifest(bundle)["verdict"] in ("well", "changed"):
                return bundle
        except (OSError, ValueError, KeyError):
            continue
    return None


def read_bundle(source: Source, bundle: Path, found: Check) -> pl.DataFrame:
    """Return the rows of a bundle, and count them; raise LayoutChanged where they cannot be read."""
    return _read(source, _documents(source, bundle), found)
