"""Past prices out of SkyPilot's public catalogues: every version of a table of one provider's machines, since 2023.

Where: https://github.com/skypilot-org/skypilot-catalog , folders `catalogs/v<number>/<provider>/vms.csv`, written every
seven hours or so by SkyPilot's fetchers from the providers' interfaces, and committed where something changed.
Apache-2.0. It is read with git, a program of the machine: a clone with the folders of all commits and no files
(https://git-scm.com/docs/partial-clone), and each version of a table by itself. The clone stays in the folder that
CHIPLEDGER_CACHE_DIR names, else it is thrown away at the end. A scope is one provider's table. Settings: `enabled`,
`url` (https:// or file:///). Formats read in November 2026, of versions from 2024 on.

1. It has no present: `fetch` raises, its prices are never called current, and `chipledger backfill skypilot_catalog`
   reads it. A version is dated by its commit's committer, in UTC, some minutes after the fetch.
2. Several formats are kept up side by side (v7 and v8): of those that one commit changes the newest counts, and once
   there is a newer one the older are followed no more, as they say the same in other words.
3. A price is of the whole machine. It is dollars without saying so; Seeweb bills in euros and its figures come
   unchanged. Sums of binary fractions (0.36979999999999996) are rounded to the ten decimals that are kept, where that
   takes away less than 1e-12; any other amount of more decimals is left for the row gate to refuse.
4. SpotPrice is absent as "", 0, 0.00, 99999999 (Prime Intellect) or as the price itself, which is what fetchers write
   where there is none (RunPod, Verda): counted, no price.
5. `GpuInfo` is text of three kinds: JSON, JSON with ' for ", a bare name. Its SizeInMiB is of one chip, or of all of
   them (Vast, Prime Intellect), or in GB (RunPod and Shadeform until 2026), or 0 for unknown, or the machine's own
   memory for each chip (Nebius in v6 and v7: 204800 for an H100), which is read over. It follows in the label where the
   chip's name has no memory.
6. Machines are mislabelled: Denvr's A100 of 40 GB is A100_80G_SXM4 at Spheron, GpuInfo and all, and an SXM4 is a
   PCIE. A machine whose name, label and GpuInfo do not agree in count, memory or form is left out and counted, as is an
   A100 of 80 GB that Spheron has from Sesterce, whose own name has no 80G. Where it is more than a tenth of them, the
   version is refused.
7. Vast: since 2025 the price is the median of the asks for machines of one shape over all regions, rounded to a cent,
   in each region that has one at or below it; SpotPrice is the highest bid of several, and no price. Versions before
   list single asks, which make no price here.
8. RunPod and Lambda: the regions are SkyPilot's own list, the price the same in all of them; `conditions` says so.
   Cudo: the price is SkyPilot's sum for chips, vCPUs and memory; disk and address are extra.
9. Shadeform, Spheron and Prime Intellect resell: host_provider_name is whose machine it is.
10. On 2026-05-07 a copy of Lambda's table had a header and nothing else, for three hours. Such a version is an error.

Only the protocol of the repository's own address is let through, redirects are not followed and no password is prompted
for. git holds much of an answer in memory and waits for ever: each command has a time limit, after which all programs
that it started are ended, and each of these has limits of memory and of file size.
"""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from extract.base import Context, Source, no_scope, past_fetch, past_only
from extract.neoclouds.answers import refusal
from extract.neoclouds.offers import TEN_DECIMALS, Found, Strange, offer, parser, plain
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SettingsError, SourceError, Unavailable

NAME = "skypilot_catalog"
URL = "https://github.com/skypilot-org/skypilot-catalog"
OWN_REGIONS = "region from SkyPilot's own list"
NEEDED = frozenset({"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "Region"})
KNOWN = NEEDED | {"vCPUs", "MemoryGiB", "GpuInfo", "AvailabilityZone", "UpstreamCloudId", "Provider", "OperatingSystem"}
KNOWN |= {"SpheronInstanceType", "StorageGiB", "HostingType", "Arch"}
"""Columns of all versions that were seen."""

NO_REGIONS = ("", "UNSPECIFIED", "default")
NO_PRICE = Decimal(99999999)
"""What Prime Intellect's table has for "no spot price"."""
NOISE = Decimal("1e-12")
"""What a sum of binary fractions may be off by, in dollars."""
MIN_MIB = 1024
"""No chip has less memory than this in MiB: below, the number is of GB."""
OFF_BY = Decimal("0.08")
"""How far two accounts of one memory may be apart: an H200 has 141 GB, or the 140 GiB that its driver shows."""
MAX_CONTRADICTING = Decimal("0.1")
"""Part of the machines that may contradict themselves before the table is taken to have changed."""

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?([eE]-?[0-9]{1,2})?")
_FORM = re.compile(r"(?<![a-z])(sxm|pcie|pci|nvl)(?=\d?(?:x\d{1,2})?(?:[^a-z0-9]|$))", re.IGNORECASE)
_MEMORY = re.compile(r"(?<![\d.])(\d{2,3}) ?GB?(?=x\d|[^a-z0-9]|$)", re.IGNORECASE)
_TIMES = r"x(\d{1,2})(?=[_-]|$)"
_SESTERCE_A100 = re.compile(r"A100(?!.*80G.*_[0-9a-f]{24}_).*_[0-9a-f]{24}_", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """What is particular to one provider's table.

    `count` finds the number of chips in a machine's name. `words` finds the chip in it, where that says more than
    AcceleratorName; with `info_names` GpuInfo does. `is_total`: GpuInfo counts the memory of all chips together.
    `names_form` and `names_memory`: what a machine's name says of the chip's form and memory is the provider's word.
    """

    provider: str
    currency: str = "USD"
    statistic: str = "price"
    conditions: str | None = None
    count: str = ""
    words: str = ""
    info_names: bool = False
    is_total: bool = False
    names_form: bool = False
    names_memory: bool = False


CATALOGUES = {
    "cudo": Catalogue(provider="CUDO Compute", conditions="without disk and address", count=r"_(\d+)x\d+v"),
    "do": Catalogue(provider="DigitalOcean", count=_TIMES),
    "fluidstack": Catalogue(provider="FluidStack"),
    "hyperbolic": Catalogue(provider="Hyperbolic", count=r"^(\d+)x-", info_names=True),
    "lambda": Catalogue(
        provider="Lambda", conditions=OWN_REGIONS, count=r"^gpu_(\d+)x_", names_form=True, names_memory=True
    ),
    "nebius": Catalogue(provider="Nebius", count=r"_(\d+)gpu-", names_form=True),
    "paperspace": Catalogue(provider="Paperspace", count=_TIMES),
    "primeintellect": Catalogue(
        provider="Prime Intellect", count=r"__(\d+)x", words=r"__\d+x(.+?)__\d+__\d+$", is_total=True
    ),
    "runpod": Catalogue(provider="RunPod", conditions=OWN_REGIONS, count=r"^(\d+)x_", info_names=True),
    "seeweb": Catalogue(provider="Seeweb", currency="EUR"),
    "shadeform": Catalogue(provider="Shadeform", count=_TIMES, names_memory=True),
    "spheron": Catalogue(provider="Spheron", count=_TIMES, names_memory=True),
    "vast": Catalogue(
        provider="Vast.ai",
        statistic="median",
        conditions="median over all regions",
        count=r"^(\d+)x-",
        words=r"^\d+x-(.+)-\d+-\d+$",
        is_total=True,
    ),
    "verda": Catalogue(provider="Verda", count=r"^(\d+)[A-Z]"),
}
"""The tables that are read, by the name of their folder."""


class Info(NamedTuple):
    """What GpuInfo says: the chip's name, how many, and SizeInMiB; None each where it does not."""

    name: str | None = None
    chips: Decimal | None = None
    size: Decimal | None = None


class Machine(NamedTuple):
    """One line of a table: the machine's name, the cells by column, and the chips in it."""

    name: str
    cells: dict[str, str]
    chips: Decimal

    def cell(self, column: str) -> str:
        """Return the text of a cell, empty where the table has no such column."""
        return self.cells.get(column, "").strip()


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of a table, the document's scope being its provider."""
    scope, catalogue = document.scope, _catalogue(document.scope)
    contradicting = swapped = priced_twice = machines = lines = 0
    for lines, cells in enumerate(_lines(document.body), start=1):
        machine = _machine(cells, lines + 1)
        if machine is None:
            yield "without accelerators"
            continue
        machines += 1
        price, spot = (_amount(cells[column], f"line {lines + 1}, {column}") for column in ("Price", "SpotPrice"))
        label, reason = _label(scope, catalogue, machine)
        if label is None:
            contradicting += isinstance(reason, Strange)
            yield reason
            continue
        yield from _without(price, spot, scope)
        if scope == "vast" or spot == NO_PRICE:
            spot = None
        if price and spot:
            priced_twice += 1
            swapped += spot > price
        if price:
            yield _row(scope, catalogue, machine, label, price, "on_demand")
        if spot and (not price or spot < price):
            yield _row(scope, catalogue, machine, label, spot, "spot")
    if not lines:
        raise refusal("expected machines, found only a header", "InstanceType", None)
    if contradicting > machines * MAX_CONTRADICTING:
        raise refusal("machines contradict their names", "InstanceType", f"{contradicting} of {machines}")
    if swapped * 2 > priced_twice:
        raise refusal("spot prices above the prices", "SpotPrice", f"{swapped} of {priced_twice}")


def _catalogue(scope: str) -> Catalogue:
    if scope not in CATALOGUES:
        raise no_scope(NAME, scope, CATALOGUES)
    return CATALOGUES[scope]


def _without(price: Decimal | None, spot: Decimal | None, scope: str) -> Iterator[str]:
    """Yield why a machine has no price, and why no spot price, where its cells are not simply empty."""
    if price == 0:
        yield "a price of zero"
    if spot and scope == "vast":
        yield "the highest bid of several"
    elif spot == NO_PRICE:
        yield "a spot price that means none"
    elif spot and price and spot >= price:
        yield f"a spot price {'equal to' if spot == price else 'above'} the price"


def _lines(body: bytes) -> Iterator[dict[str, str]]:
    """Yield the lines of a table by column; raise LayoutChanged where it is cut short or has another column."""
    try:
        text = body.decode("utf-8")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = next(reader, [])
        unknown, missing = sorted(set(header) - KNOWN), sorted(NEEDED - set(header))
        if unknown or missing or len(set(header)) < len(header):
            message = f"expected the columns {', '.join(sorted(NEEDED))}, and no other than {', '.join(sorted(KNOWN))}"
            raise refusal(message, "header", ", ".join(header))
        if not text.endswith("\n"):
            raise refusal("expected an end of line, found a table that is cut short", "body", text[-80:])
        for cells in reader:
            if len(cells) != len(header):
                message = f"expected {len(header)} cells, found {len(cells)}"
                raise refusal(message, f"line {reader.line_num}", ",".join(cells))
            yield dict(zip(header, cells, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise refusal(f"expected a table of UTF-8: {error}", "body", repr(body[:60])) from error


def _machine(cells: dict[str, str], number: int) -> Machine | None:
    """Return a machine, None where it has no chips; raise LayoutChanged where it has half of them."""
    if not (name := cells["InstanceType"].strip()):
        raise refusal("expected the name of a machine", f"line {number}, InstanceType", "")
    chips = _amount(cells["AcceleratorCount"], f"line {number}, AcceleratorCount")
    if bool(chips) != bool(cells["AcceleratorName"].strip()):
        found = f"{cells['AcceleratorName']!r} and {cells['AcceleratorCount']!r}"
        raise refusal("expected both a chip and a count", f"line {number}, AcceleratorName", found)
    return Machine(name, cells, chips) if chips else None


def _amount(text: str, field: str) -> Decimal | None:
    """Return a number that is not negative, None for an empty cell, without the noise of binary fractions."""
    if not text.strip():
        return None
    if not _NUMBER.fullmatch(text.strip()):
        raise refusal("expected a number that is not negative", field, text)
    exact = Decimal(text.strip())
    short = exact.quantize(TEN_DECIMALS)
    return short if abs(short - exact) <= NOISE else exact


def _label(scope: str, catalogue: Catalogue, machine: Machine) -> tuple[str | None, str]:
    """Return the chip in the most telling words that the line has, or why there are none to be trusted."""
    info = _info(machine.cells.get("GpuInfo", ""))
    words, reason = _words(scope, catalogue, machine, info)
    if words is None:
        return None, reason
    counted = re.search(catalogue.count, machine.name) if catalogue.count else None
    if counted and Decimal(counted[1]) != machine.chips:
        return None, Strange("another count than its name")
    if info.chips is not None and info.chips != machine.chips:
        return None, Strange("another count than GpuInfo")
    form, own_form = _form(words), _form(machine.name)
    if form and own_form and form != own_form:
        return None, Strange("another form than its name")
    if own_form and not form and catalogue.names_form:
        words += f" {own_form}"
    memory, own_memory, info_memory = _memory(words), _memory(machine.name), _info_memory(catalogue, machine, info)
    if memory and info_memory and not _is_near(memory, info_memory):
        return None, Strange("another memory than GpuInfo")
    if not memory and info_memory:
        memory = info_memory
        words += f" {plain(memory)}GB"
    if catalogue.names_memory and own_memory and memory and not _is_near(memory, own_memory):
        return None, Strange("another memory than its name")
    if scope == "spheron" and machine.cells.get("Provider") == "sesterce" and _SESTERCE_A100.match(machine.name):
        return None, "an A100 labelled 80 GB whose machine does not say so"
    return words, ""


def _words(scope: str, catalogue: Catalogue, machine: Machine, info: Info) -> tuple[str | None, str]:
    """Return the chip's name where this table has it best, or why it has none."""
    name = machine.cell("AcceleratorName")
    upstream = machine.cell("UpstreamCloudId")
    if scope == "primeintellect" and upstream.startswith(("NVIDIA ", "AMD ")):
        return upstream, ""
    if scope == "shadeform" and not machine.name.partition("_")[2].lower().startswith(
        re.split("[-_ ]", name)[0].lower()
    ):
        return None, Strange("another chip than its name")
    if catalogue.words:
        found = re.search(catalogue.words, machine.name)
        return (found[1].replace("_", " "), "") if found else (None, "an ask for a single machine")
    return (info.name if catalogue.info_names and info.name else name), ""


def _form(text: str) -> str | None:
    found = _FORM.search(text)
    return {"sxm": "SXM", "nvl": "NVL"}.get(found[1].lower(), "PCIe") if found else None


def _memory(text: str) -> Decimal | None:
    found = _MEMORY.search(text)
    return Decimal(found[1]) if found else None


def _info_memory(catalogue: Catalogue, machine: Machine, info: Info) -> Decimal | None:
    """Return the memory of one chip in whole GiB, None where GpuInfo does not say it."""
    if not info.size:
        return None
    gib = info.size if info.size < MIN_MIB else info.size / MIN_MIB
    if catalogue.provider == "Nebius" and gib * machine.chips == _amount(machine.cell("MemoryGiB"), "MemoryGiB"):
        return None
    return (gib / (machine.chips if catalogue.is_total else 1)).quantize(Decimal(1), ROUND_HALF_UP)


def _is_near(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= other * OFF_BY


@lru_cache(maxsize=4096)
def _info(text: str) -> Info:
    """Return what GpuInfo says, in any of its spellings; raise LayoutChanged where it is of another form."""
    if not text.lstrip().startswith("{"):
        return Info()
    try:
        content = _lower(json.loads(text if '"' in text else text.replace("'", '"'), parse_float=str, parse_int=str))
        (gpu,) = content["gpus"]
        size = gpu.get("memoryinfo", {}).get("sizeinmib")
        return Info(
            name=str(gpu["name"]),
            chips=_amount(str(gpu["count"]), "GpuInfo, Count"),
            size=None if size is None else _amount(str(size), "GpuInfo, SizeInMiB"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise refusal(f"another form: {error!r}", "GpuInfo", text[:120]) from error


def _lower(value: Any) -> Any:
    """Return the objects of GpuInfo with their names in lower case; DigitalOcean's table has them so."""
    if isinstance(value, dict):
        return {str(name).lower(): _lower(inner) for name, inner in value.items()}
    return [_lower(inner) for inner in value] if isinstance(value, list) else value


def _row(scope: str, catalogue: Catalogue, machine: Machine, label: str, price: Decimal, option: str) -> Found:
    others = {"host_provider_name": "", "tier": "", "conditions": catalogue.conditions}
    match scope:
        case "shadeform":
            others["host_provider_name"] = machine.name.partition("_")[0]
        case "primeintellect":
            others["host_provider_name"] = machine.name.partition("__")[0]
            others["conditions"] = machine.cell("UpstreamCloudId")
        case "spheron":
            others["host_provider_name"] = machine.cell("Provider")
            others["tier"] = machine.cell("SpheronInstanceType")
        case "runpod":
            others["tier"] = machine.name.rpartition("_")[2].lower()
        case "vast" if hosting := machine.cell("HostingType"):
            others["tier"] = f"hosting type {hosting}"
    region = machine.cell("Region")
    others |= {
        "region_id": "" if region in NO_REGIONS else region,
        "availability_zone": machine.cell("AvailabilityZone"),
    }
    return offer(
        label,
        price,
        count=machine.chips,
        instance_type=machine.name,
        option=option,
        currency=catalogue.currency,
        statistic=catalogue.statistic,
        service_provider_name=catalogue.provider,
        **{name: text or None for name, text in others.items()},
    )


# --- versions of a table, by git

CACHE = "CHIPLEDGER_CACHE_DIR"
"""Environment variable with the folder where the clone stays."""
FOLDER = "skypilot-catalog.git"
BRANCH = "refs/remotes/origin/HEAD"
CLONE_S, READ_S = 3600, 300
"""Seconds that a clone and any other command of git may take."""
SILENT_S = 120
"""Seconds after which a server that sends nothing is given up."""
CLONE_BYTES, READ_BYTES = 8 << 30, 64 << 20
"""Size of the largest file that these may write; what a command prints is one."""
MEMORY_BYTES = 2 << 30
"""For each program of git: dozens of times what a clone takes."""
LAST_BYTES = 4096
"""Of what git complains of, in whose last line it says why it gave up."""
BOUNDED = """
import os, resource, sys
for kind, most in ((resource.RLIMIT_DATA, sys.argv[1]), (resource.RLIMIT_FSIZE, sys.argv[2])):
    try:
        resource.setrlimit(kind, (int(most), int(most)))
    except (OSError, ValueError):  # a system without it, or with a lower limit
        pass
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Becomes git, within limits of memory and file size: set before it starts, and not in a copy of this process."""
OF_A_REPOSITORY = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
    *("GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"),
)
"""Variables that lead git to another repository; a hook has them."""

_COMMIT = re.compile(r"\x01([0-9a-f]{40,64}) (\d+)")
_CHANGE = re.compile(r":\d{6} \d{6} [0-9a-f]+ ([0-9a-f]+) ([A-Z])\d*\t(catalogs/v(\d+)/[a-z]+/vms\.csv)")
_kept: dict[str, tempfile.TemporaryDirectory[str]] = {}
_lock = Lock()


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a table: its commit, its moment (UTC), path and format, and git's name of its bytes."""

    commit: str
    at: datetime
    path: str
    format: int
    blob: str

    @property
    def key(self) -> str:
        """Return what git calls this version of this path."""
        return f"{self.commit}:{self.path}"


@dataclass(frozen=True, kw_only=True)
class History:
    """A clone of the repository at `url`."""

    url: str
    clone: Path

    @classmethod
    def of(cls, ctx: Context) -> "History":
        """Return a clone that is up to date; raise SettingsError, SourceError (no git) or Unavailable."""
        url = ctx.settings.get("url") or URL
        parts = urlsplit(url) if isinstance(url, str) else None
        if parts is None or parts.scheme not in ("https", "file") or "@" in parts.netloc:
            hint = "An address that begins with https:// or file:///, without a name or password"
            raise SettingsError("git is not let near this address", source=NAME, field="url", value=url, hint=hint)
        address = str(url).rstrip("/")
        with _lock:
            clone = _folder(address) / FOLDER
            if (clone / "HEAD").exists() or (clone / ".git").exists():
                _same_origin(clone, address)
                ctx.progress(f"{NAME}: fetching new commits from {address}")
                _git("fetch", "--quiet", "--no-tags", "origin", at=clone, url=address, is_clone=True)
            else:
                ctx.progress(f"{NAME}: cloning {address} without its files, which takes some minutes")
                _clone(clone, address)
                ctx.progress(f"{NAME}: cloned")
        return cls(url=address, clone=clone)

    def versions(self, scope: str) -> list[Version]:
        """Return the versions of a provider's table, oldest first and one for each moment.

        Raises SourceError where there never was one.
        """
        options = ("--reverse", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--raw", "--no-abbrev")
        tables = f":(glob)catalogs/v*/{scope}/vms.csv"
        output = self._git("log", *options, "--format=%x01%H %ct", BRANCH, "--", tables).decode("utf-8", "replace")
        found: list[Version] = []
        commit, moment = "", datetime.min.replace(tzinfo=UTC)
        for line in output.splitlines():
            if head := _COMMIT.fullmatch(line):
                commit, moment = head[1], datetime.fromtimestamp(int(head[2]), UTC)
            elif (change := _CHANGE.fullmatch(line)) and change[2] != "D":
                found.append(Version(commit=commit, at=moment, path=change[3], format=int(change[4]), blob=change[1]))
        if not found:
            hint = f"See catalogs/ of {self.url}"
            raise SourceError("the repository has no such table", source=NAME, field="scope", value=scope, hint=hint)
        versions: dict[datetime, Version] = {}
        newest = 0
        for version in sorted(found, key=lambda one: one.at):
            if version.format >= newest:  # none of a format once there is a newer one
                newest = version.format
                versions[version.at] = version
        return list(versions.values())

    def read(self, version: Version) -> bytes:
        """Return the bytes of a version, fetched where the clone has none; raise Unavailable."""
        return self._git("cat-file", "blob", version.blob)

    def _git(self, *words: str) -> bytes:
        return _git(*words, at=self.clone, url=self.url)


def _folder(address: str) -> Path:
    """Return the folder that clones stay in, or one that lasts as long as this process."""
    if named := os.environ.get(CACHE):
        folder = Path(named).expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    if address not in _kept:
        _kept[address] = tempfile.TemporaryDirectory(prefix="chipledger-")
    return Path(_kept[address].name)


def _clone(clone: Path, address: str) -> None:
    """Clone next to its place and move it there whole, so that an unfinished clone is never used."""
    with tempfile.TemporaryDirectory(dir=clone.parent, prefix="clone-") as folder:
        made = Path(folder) / FOLDER
        options = ("--quiet", "--filter=blob:none", "--no-checkout", "--sparse", "--single-branch", "--no-tags")
        _git("clone", *options, "--", address, str(made), at=clone.parent, url=address, is_clone=True)
        made.rename(clone)


def _same_origin(clone: Path, address: str) -> None:
    origin = _git("config", "--get", "remote.origin.url", at=clone, url=address).decode("utf-8", "replace").strip()
    if origin != address:
        hint = f"Remove {clone}, or let {CACHE} name another folder"
        raise SettingsError("a clone of another repository", source=NAME, field="url", value=origin, hint=hint)


def _git(*words: str, at: Path, url: str, is_clone: bool = False) -> bytes:
    """Return what a command of git prints; raise Unavailable where it fails, SourceError for no git or too much."""
    program = shutil.which("git")
    if program is None:
        hint = "Install git (https://git-scm.com/downloads); only this source needs it"
        raise SourceError("git is not installed", source=NAME, field="git", value="not on PATH", hint=hint)
    environment = {name: value for name, value in os.environ.items() if name not in OF_A_REPOSITORY}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "LC_ALL": "C"}
    environment |= {"GIT_ALLOW_PROTOCOL": urlsplit(url).scheme}
    settings = (
        *("core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "credential.helper="),
        *("http.followRedirects=false", "http.lowSpeedLimit=1", f"http.lowSpeedTime={SILENT_S}"),
    )
    options = [word for setting in settings for word in ("-c", setting)]
    seconds, most = (CLONE_S, CLONE_BYTES) if is_clone else (READ_S, READ_BYTES)
    bounded = (sys.executable, "-I", "-S", "-c", BOUNDED, str(MEMORY_BYTES), str(most))
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        git = subprocess.Popen(  # noqa: S603 - a list of words, no shell; the address is checked and stands after --
            [*bounded, program, *options, *words],
            cwd=at,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            status = git.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise Unavailable(
                f"git took more than {seconds} s", source=NAME, field="git", value=words[0], hint="Try again later"
            ) from error
        finally:
            # With it the programs that it started, which would go on to fetch.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(git.pid, signal.SIGKILL)
            git.wait()
        if output.seek(0, os.SEEK_END) >= most:
            hint = "It is another repository than expected, or a table that swells"
            message = f"git {words[0]} prints more than {most} bytes"
            raise SourceError(message, source=NAME, field="size", value=most, hint=hint)
        if status:
            complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = complaints.read().decode("utf-8", "replace").strip().splitlines() or [f"exit status {status}"]
            raise Unavailable(
                f"git {words[0]} failed: {lines[-1]}", source=NAME, field="git", value=url, hint="Try again later"
            )
        output.seek(0)
        return output.read()


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield a fetch of each version of a provider's table between two dates, oldest first.

    A version that was landed before is not read again, so that a backfill that broke off goes on where it stopped.
    Raises SourceError for a provider without a table, or without git; Unavailable where git cannot reach it.
    """
    _catalogue(scope)
    history = History.of(ctx)
    for version in history.versions(scope):
        if (since is None or since <= version.at) and (until is None or version.at <= until):
            document = ctx.landed(version.key) or _read(ctx, history, scope, version)
            yield past_fetch(NAME, scope, version.at, (document,))


def _read(ctx: Context, history: History, scope: str, version: Version) -> Document:
    return Document(
        source=NAME,
        scope=scope,
        url=f"{history.url}/blob/{version.commit}/{version.path}",
        body=history.read(version),
        fetched_at=ctx.now(),
        content_type="text/csv",
        version_key=version.key,
        published_at=version.at,
    )


SOURCE = Source(
    name=NAME,
    provider="several",
    title="SkyPilot's catalogues of the past, by provider",
    url=URL,
    terms_url=URL,
    max_age=None,
    scopes=lambda ctx: tuple(CATALOGUES),
    fetch=past_only(NAME, f"chipledger backfill {NAME}"),
    parse=parser(NAME, "several", read),
    backfill=backfill,
    kind="archive",
    settings=("url",),
)
