"""What a benchmark found: a quantity beside its budget, and what others took for the same work in the same run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from bench import machine


@dataclass(frozen=True)
class Result:
    """One measured quantity.

    `measured`, `budget` and `peers` are in `unit`; without a budget the quantity is told, and neither met nor missed.
    `better` says whether less or more of it is good. `peers` are others doing the same work in the same run, by name,
    the machine's own limit (a raw read) among them; `note` says what was measured, and on what.
    """

    name: str
    measured: float
    unit: str
    budget: float | None
    better: Literal["less", "more"] = "less"
    peers: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the budget is kept; None where there is none. A measurement that is no number keeps none."""
        if self.budget is None:
            return None
        return self.measured <= self.budget if self.better == "less" else self.measured >= self.budget

    def ratios(self) -> dict[str, float]:
        """Return by peer how many times as good as it this is: above 1 better, below 1 worse, whatever the unit."""
        if self.better == "less":
            return {name: other / self.measured for name, other in self.peers.items() if self.measured}
        return {name: self.measured / other for name, other in self.peers.items() if other}

    def line(self) -> str:
        """Return the result in one line for people."""
        verdict = {None: "", True: ": kept", False: ": MISSED"}[self.met]
        least = "" if self.budget is None else f" (at {'most' if self.better == 'less' else 'least'} {self.budget:g})"
        beside = "".join(f"; {ratio:.2g} x {name}" for name, ratio in self.ratios().items())
        return f"{self.name}: {self.measured:.4g} {self.unit}{least}{verdict}{beside}"

    def as_json(self) -> dict[str, Any]:
        """Return the fields, with `met` and `ratios` beside them."""
        return asdict(self) | {"met": self.met, "ratios": self.ratios()}


def in_loops(
    name: str,
    seconds: float,
    budget: float,
    *,
    of: str = "processor",
    peers: Mapping[str, float] = MappingProxyType({}),
    note: str = "",
) -> Result:
    """Return seconds, and those of peers, as multiples of the machine's calibration loop (bench.machine)."""
    loop = machine.loop_seconds()
    told = f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
    beside = {peer: value / loop for peer, value in peers.items()}
    text = f"{told} of the {of}{'; ' if note else ''}{note}"
    return Result(name, seconds / loop, "loops", budget, peers=beside, note=text)
