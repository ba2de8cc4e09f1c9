"""The queries: which are asked, and every page of their answers kept as it came."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from extract.aws import CAPACITY_BLOCKS as NAME
from extract.aws.capacity_blocks import offerings
from extract.aws.client import BODY
from extract.aws.spot import ec2
from extract.base import Context
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SettingsError, SourceError

INSTANCE_TYPES = (
    "p4d.24xlarge",
    "p4de.24xlarge",
    "p5.4xlarge",
    "p5.48xlarge",
    "p5e.48xlarge",
    "p5en.48xlarge",
    "p6-b200.48xlarge",
    "p6-b300.48xlarge",
    "trn1.32xlarge",
    "trn2.3xlarge",
    "trn2.48xlarge",
    "u-p6e-gb200x36",
    "u-p6e-gb200x72",
    "u-trn2x64",
)
"""What AWS sold in blocks in 2026 (published rates of 2026-07-22, and u-trn2x64)."""
DURATIONS_H = (24,)
COUNTS = (1,)
ALLOWED_DURATIONS_H = (*range(24, 24 * 14 + 1, 24), *range(24 * 21, 24 * 182 + 1, 24 * 7))
ALLOWED_COUNTS = (1, 2, 4, 8, 16, 32, 64)
REFUSALS = ("not supported for Capacity Blocks", "when requesting an EC2 UltraServer")
"""What EC2 says (seen 2026-10-03) where it does not sell a type in blocks, or not to this account."""


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return the answers to all queries in one region."""
    call = ec2.Call(
        source=NAME,
        region=scope,
        operation="DescribeCapacityBlockOfferings",
        method="describe_capacity_block_offerings",
        result="CapacityBlockOfferings",
    )
    queries = list(_queries(ctx.settings))
    now = ctx.now()
    client = call.client()
    documents: list[Document] = []
    for query in queries:
        documents += _answer(ctx, client, call, query)
    unpriced = [offer for document in documents for offer in offerings.unpriced(document)]
    notes = (f"{len(unpriced)} offers of unknown rate, such as {unpriced[0]}",) if unpriced else ()
    # Of types that were not asked for the look says nothing, nor of prices that cannot be told.
    is_whole = not {"instance_types", "durations_hours", "counts"} & ctx.settings.keys()
    complete = is_whole and not unpriced
    return ScopeFetch(
        source=NAME, scope=scope, observed_at=now, complete=complete, documents=tuple(documents), notes=notes
    )


def _answer(ctx: Context, client: Any, call: ec2.Call, query: Mapping[str, str]) -> list[Document]:
    """Return the pages of one answer; of several, each says how many offers there are and which start first."""
    request: dict[str, object] = {"AllAvailabilityZones": True, "MaxResults": ec2.PAGE_SIZE}
    request |= {name: int(value) if value.isdecimal() else value for name, value in query.items()}
    pages: list[ec2.Page] = []
    try:
        for page in call.pages(client, request):
            pages.append(page)
    except SourceError as error:
        refusal = _refusal(error)
        if refusal is None or pages:
            raise
        pages = [refusal]
    documents = [call.document(ctx, page, {**query, "page": str(n)}) for n, page in enumerate(pages, start=1)]
    if len(documents) == 1:
        return documents
    first, count = offerings.starting_first(documents)
    whole = {"starting_first": ",".join(first), "offers": str(count)}
    return [replace(document, parameters={**document.parameters, **whole}) for document in documents]


def _refusal(error: SourceError) -> ec2.Page | None:
    """Return the answer behind an error that says what is sold, not that something is wrong; else None."""
    response: Any = getattr(error.__cause__, "response", None) or getattr(
        getattr(error.__cause__, "__cause__", None), "response", None
    )
    if not response or BODY not in response:
        return None
    message = str(response.get("Error", {}).get("Message", ""))
    return response if any(known in message for known in REFUSALS) else None


def _queries(settings: Mapping[str, object]) -> Iterator[dict[str, str]]:
    """Yield the parameters of each query, as text."""
    names = ec2.names_in(settings, "instance_types", source=NAME) or INSTANCE_TYPES
    for name in names:
        kind = "Ultraserver" if name.startswith(offerings.ULTRASERVER_PREFIX) else "Instance"
        for hours in _numbers(settings, "durations_hours", DURATIONS_H, ALLOWED_DURATIONS_H):
            for count in _numbers(settings, "counts", COUNTS, ALLOWED_COUNTS):
                yield {f"{kind}Type": name, f"{kind}Count": str(count), "CapacityDurationHours": str(hours)}


def _numbers(
    settings: Mapping[str, object], name: str, default: tuple[int, ...], allowed: tuple[int, ...]
) -> tuple[int, ...]:
    value = settings.get(name, list(default))
    if isinstance(value, list | tuple) and value and all(type(each) is int and each in allowed for each in value):
        return tuple(dict.fromkeys(value))
    hint = f"Allowed are lists of {', '.join(str(each) for each in allowed)}"
    raise SettingsError("not a list of allowed numbers", source=NAME, field=name, value=value, hint=hint)
