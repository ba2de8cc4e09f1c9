"""Tables of words and facts beside the answers: CSV files of this folder."""

import csv
from functools import cache
from importlib.resources import files


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """Return the lines of a table."""
    return tuple(csv.DictReader((files(__package__) / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def words_of(kind: str) -> dict[str, str]:
    """Return the words of one kind by what they stand for: column, evidence, sum, input, answer or bedrock."""
    return {line["name"]: line["words"] for line in table("words") if line["of"] == kind}
