"""What a run did, as a value: printed, stored, shown in Prefect, and read by other programs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from flows.collect.offline import ARCHIVES
from flows.shared import output
from reports import wording
from warehouse.log.parsed import ScopeResult

STATUSES = {"ok": "read", "known": "known already"}
"""Statuses of fetches that have another word for people."""
SHOWN = ("notes", "file", "report", "unchanged", "week_faults", "page_faults", "private_file", "private_fault")
"""What `--json` prints as it is."""
MAX_HELD = 5
HELD = (
    "select source, reason, count(*) as n from core.quarantine where run_id = ? and decision is null and offer_id is "
    "not null and gate in ('history', 'band', 'batch') and not starts_with(source, 'import:') group by source, reason "
    "order by n desc, source, reason"
)


@dataclass(kw_only=True)
class Summary:
    """What a run did, as printed, stored and shown: fetches by status, events, the published file and report.

    `week_faults` are the parts of the week's page and mail that could not be made, `page_faults` those of other pages.
    `chips`: those of the last lines. `private_fault`: why the private file was not built, without any value of it.
    `known_truth`: checks and subjects that differed in the file before.
    `unchanged`: what was not made again, as nothing was new. `n_decided_events`: what decisions of a person stored.
    """

    run_id: str
    started_at: datetime
    finished_at: datetime | None = None
    results: list[ScopeResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    file: Path | None = None
    report: Path | None = None
    week_faults: tuple[str, ...] = ()
    page_faults: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    private_file: Path | None = None
    private_fault: str | None = None
    unchanged: list[str] = field(default_factory=list)
    n_decided_events: int = 0
    known_truth: frozenset[tuple[str, str]] = frozenset()

    @property
    def fresh(self) -> bool:
        """Return whether any fetch gave prices, or was known already."""
        return any(result.status in ("ok", "known") for result in self.results)

    @property
    def failed(self) -> list[ScopeResult]:
        """Return the fetches that gave nothing."""
        return [result for result in self.results if result.status in ("failed", "refused")]

    @property
    def faulty(self) -> bool:
        """Return whether something that was to be made is missing, so that the exit code is not 0."""
        return bool(self.private_fault or self.week_faults or self.page_faults)

    @property
    def is_archive(self) -> bool:
        """Return whether all that was fetched is in the package, so that none of it is a price of today."""
        return {result.source for result in self.results} <= {*ARCHIVES} and bool(self.results)

    @property
    def n_events(self) -> int:
        return sum(result.n_events for result in self.results) + self.n_decided_events

    @cached_property
    def truth(self) -> list[str]:
        """Return a line for each truth check that newly differs, and the number of those that are known.

        Known are those that did before, and those of the archive, which is the same for everybody.
        """
        if self.file is None or not self.file.exists():
            return []
        from flows.collect import truth

        found = truth.differing(self.file)
        news = [] if self.is_archive else [each for each in found if truth.key(each) not in self.known_truth]
        n_known = len(found) - len(news)
        where = "the report's page of sources" if self.is_archive else "`chipledger doctor`"
        return truth.lines(news) + ([f"{n_known:,} known: {where} says of each"] if n_known else [])

    def lines(self) -> Iterator[str]:
        """Yield the summary as lines for people: counts, what failed, what to know, and where the results are."""
        counts = Counter(result.status for result in self.results)
        counted = ", ".join(f"{n:,} {STATUSES.get(status, status)}" for status, n in sorted(counts.items()))
        fetches = wording.count(len(self.results), "fetch", "fetches") + (f": {counted}" if counted else "")
        rows = sum(result.n_rows for result in self.results)
        yield f"{fetches}; {wording.count(rows, 'row')} read; {wording.count(self.n_events, 'change')} stored"
        refused = sum(result.n_refused for result in self.results)
        if refused:
            yield f"{wording.count(refused, 'row')} refused: `chipledger quarantine list` says why"
            yield from self._held()
        alike: dict[tuple[str, str], list[str]] = {}
        for result in self.failed:
            error = (result.error or "").removeprefix(f"{result.source}: ").removeprefix(f"{result.scope}: ")
            alike.setdefault((result.source, error), []).append(result.scope)
        for (source, error), scopes in alike.items():
            yield f"no fresh prices: {source} {', '.join(sorted(scopes))}: {error}"
        for note in self.notes[:20]:
            yield f"note: {note}"
        if len(self.notes) > 20:
            yield f"note: and {len(self.notes) - 20} more"
        for line in self.truth:
            yield f"truth check differs: {line}"
        yield f"file: {self.file}" if self.file else "nothing was published; the last file is unchanged"
        if self.report:
            yield f"report: {self.report}"
        if self.unchanged:
            yield f"nothing new; unchanged: {', '.join(self.unchanged)}"
        for fault in self.week_faults:
            yield f"part of the week's page or mail could not be made: {fault}"
        for fault in self.page_faults:
            yield f"part of a page could not be made: {fault}"
        if self.private_file:
            yield f"private: {self.private_file}"
        if self.private_fault:
            yield f"private side not built: {self.private_fault}; `chipledger fleet check` says more"
        if self.report and self.file and self.file.exists():
            yield from self._front(self.file)

    def _held(self) -> Iterator[str]:
        """Yield which prices of this run wait, by source and reason, most first; of an import notes say so."""
        if self.file is None or not self.file.exists():
            return
        with duckdb.connect(str(self.file), read_only=True) as con:
            found = con.execute(HELD, [self.run_id]).fetchall()
        for source, reason, n in found[:MAX_HELD]:
            yield f"held: {source}, {wording.count(n, 'price')}: {reason}"
        if len(found) > MAX_HELD:
            others = wording.count(len(found) - MAX_HELD, "other reason")
            yield f"held: {sum(n for *_, n in found[MAX_HELD:]):,} more, for {others}"

    def _front(self, file: Path) -> Iterator[str]:
        """Yield what the chips cost and what to do next; nothing of a file that cannot say."""
        try:
            lines = list(price_lines(file, self.chips))
        except duckdb.Error as error:  # a file of another version
            lines = [f"prices by chip could not be read: {str(error).splitlines()[0]}"]
        yield ""
        if self.is_archive:
            yield "Prices of the archive in the package, none of today: `chipledger run` fetches those."
        yield from lines
        yield 'Open the report above. Ask: chipledger query "from mart.price_now". Decide: chipledger decide --help'

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as the object that `--json` prints."""
        return {
            "run_id": self.run_id,
            "started_at": self.started_at.isoformat(),
            "finished_at": self.finished_at.isoformat() if self.finished_at else None,
            "looks": [asdict(result) | {"observed_at": result.observed_at.isoformat()} for result in self.results],
            "events": self.n_events,
            "refused_rows": sum(result.n_refused for result in self.results),
            "truth_differs": self.truth,
            **{name: getattr(self, name) for name in SHOWN},
        }


CHIPS = ("H100", "H200", "B200", "MI300X", "L40S", "Trainium1")
"""The chips that are shown where the settings name none."""
MAX_CHIPS = 6

PRICES = """
select
    concat_ws(' ', accelerator_name, form_factor), aws_on_demand_usd, aws_1y_usd, aws_3y_usd, aws_spot_lowest_usd,
    aws_spot_highest_usd, elsewhere_usd, elsewhere_provider_name, token_on_demand_usd
from int.front_chip
where list_contains($1, accelerator_name)
order by list_position($1, accelerator_name)
"""
MOVE = """
select concat_ws(' ', accelerator_name, form_factor), service_provider_name, change_ratio
from int.front_move where size_rank = 1
"""
POINT = "select model_name, scenario from int.headline_point"


def price_lines(file: Path, chips: Sequence[str] = ()) -> Iterator[str]:
    """Yield the prices of the first chips as lines of at most a hundred columns, and the biggest move of 90 days."""
    wanted = list(chips or CHIPS)[:MAX_CHIPS]
    with duckdb.connect(str(file), read_only=True) as con:
        (built_at,) = con.execute("select built_at from meta.build").fetchall()[0]
        rows = con.execute(PRICES, [wanted]).fetchall()
        move = con.execute(MOVE).fetchone()
        point = con.execute(POINT).fetchone()
    yield f"As of {built_at.day} {built_at:%b %Y}, USD per chip-hour; tokens in USD per million output tokens:"
    tokens = f"tokens ({point[0]})" if point and point[0] else "tokens"
    yield from output.text_table([_cells(row, tokens) for row in rows], width=output.WIDTH).splitlines()
    if move and move[2] is not None:
        chip, provider, ratio = move
        way, percent = "rose" if ratio > 0 else "fell", abs(ratio) * 100
        yield f"Biggest on-demand move in 90 days: {chip} {way} {percent:.{0 if percent >= 1 else 2}f} % at {provider}."
    else:
        yield "No on-demand price was seen to move in 90 days."


def _cells(row: Sequence[Any], tokens: str) -> dict[str, str | None]:
    """Return the cells of a chip by the heads of their columns; None where a price is not known."""
    chip, *prices, whose, per_token = row
    on_demand, one_year, three_years, low, high, other = (value and wording.price(value) for value in prices)
    return {
        "": chip,
        "AWS": on_demand,
        "1 year": one_year,
        "3 years": three_years,
        "spot": low if low == high else f"{low}-{high}",
        "elsewhere": other and f"{other} {whose}",
        tokens: per_token and f"{per_token:.3g}",
    }
