"""Orchestration: the command line and the Prefect flows. Nothing imports this package."""

from importlib.util import find_spec
from pathlib import Path

OTHERS = ("extract", "transform", "reports", "warehouse")
"""Our other packages. Another distribution, or a folder that Python looks in first, may have the name of one."""


def refuse_strangers() -> None:
    """Raise ImportError where a package of ours is not the one beside this, before a stranger's code runs for it."""
    ours = Path(__file__).resolve().parent.parent
    for name in OTHERS:
        spec = find_spec(name)
        found = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if found != ours / name:
            raise ImportError(
                f"chipledger's package {name!r} should be {ours / name}, and Python finds {found or 'none'}: start it "
                "in another folder, or install it in an environment without the distribution that has this name"
            )


refuse_strangers()
