"""Asking EC2: pages of types, cut down to those with an accelerator, and the zones of these."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from xml.parsers import expat

from extract.aws import client as aws_client
from extract.aws.instance_types.reading import DEVICES, QUERIED_TYPES, SOURCE_NAME, refusal
from extract.base import Context
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import SettingsError, SourceError
from warehouse.reference.instance_types import ACCELERATOR_TYPE

TYPES, OFFERINGS = "ec2.DescribeInstanceTypes", "ec2.DescribeInstanceTypeOfferings"
ROOT = "DescribeInstanceTypesResponse"
HOME_REGION = "us-east-1"
"""Where the list of regions comes from."""
TYPES_A_PAGE, OFFERINGS_A_PAGE = 100, 1000
NAMES_A_QUERY = 100
"""A filter takes 200 values."""
MAX_PAGES = 100
"""A region has about twelve; many times as many is a paging error."""
CREDENTIALS_HINT = (
    "Give credentials that may call ec2:DescribeRegions, ec2:DescribeInstanceTypes and "
    "ec2:DescribeInstanceTypeOfferings, and check that the account has opted in to the region"
)


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the account has."""
    wanted = ctx.settings.get("regions", "all")
    if wanted != "all":
        if isinstance(wanted, list | tuple) and wanted and all(isinstance(each, str) and each for each in wanted):
            return tuple(dict.fromkeys(wanted))
        hint = 'Expected is "all" or a list of regions, such as ["us-east-1", "eu-west-1"]'
        raise SettingsError("not a list of regions", source=SOURCE_NAME, field="regions", value=wanted, hint=hint)
    with aws_client.errors(SOURCE_NAME, "regions", hint=CREDENTIALS_HINT):
        regions = aws_client.client("ec2", region=HOME_REGION).describe_regions()["Regions"]
    return tuple(sorted(region["RegionName"] for region in regions))


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at all types with an accelerator in a region, and their zones; raise SourceError."""
    with aws_client.errors(SOURCE_NAME, scope, hint=CREDENTIALS_HINT):
        client = aws_client.client("ec2", region=scope)
        whole = list(_pages(ctx, client.describe_instance_types, TYPES, scope, {"MaxResults": TYPES_A_PAGE}))
        cut = [_excerpt(page) for page in whole]
        kept = [(page, names) for page, names in cut if names] or cut[:1]
        names = sorted({name for _, found in kept for name in found})
        documents = [page for page, _ in kept]
        for start in range(0, len(names), NAMES_A_QUERY):
            some = [{"Name": "instance-type", "Values": names[start : start + NAMES_A_QUERY]}]
            request = {"LocationType": "availability-zone-id", "Filters": some, "MaxResults": OFFERINGS_A_PAGE}
            queried = {QUERIED_TYPES: ",".join(names[start : start + NAMES_A_QUERY])}
            pages = _pages(ctx, client.describe_instance_type_offerings, OFFERINGS, scope, request)
            documents += [replace(page, parameters={**page.parameters, **queried}) for page in pages]
    if not any(b"instanceType>" in page.body for page in whole):
        raise SourceError("no instance types", source=SOURCE_NAME, field="region", value=scope, hint="Try again later")
    return ScopeFetch(source=SOURCE_NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=tuple(documents))


def _pages(ctx: Context, call: Any, operation: str, scope: str, request: Mapping[str, Any]) -> Iterator[Document]:
    tokens = aws_client.Tokens(SOURCE_NAME, scope, most=MAX_PAGES)
    token, number = "", 0
    while token or not number:
        number += 1
        page = call(**request, **({"NextToken": token} if token else {}))
        parameters = {"region": scope, "page": str(number)}
        yield aws_client.document(
            ctx, page, source=SOURCE_NAME, scope=scope, operation=operation, parameters=parameters
        )
        token = tokens.next(page, "NextToken")


def _excerpt(page: Document) -> tuple[Document, list[str]]:
    """Return a page with the types that have an accelerator only, as received, and their names."""
    kept: list[bytes] = []
    names: list[str] = []
    position = 0
    for item in _Items(page.body).found:
        if item.has_accelerator:
            names.append(item.name)
        else:
            kept.append(page.body[position : item.start])
            position = item.end
    whole = Whole(size=len(page.body), sha256=hashlib.sha256(page.body).hexdigest())
    return replace(page, body=b"".join((*kept, page.body[position:])), whole=whole), names


@dataclass(kw_only=True)
class _Item:
    """One type's place among the bytes of a page."""

    start: int
    end: int = 0
    name: str = ""
    has_accelerator: bool = False


class _Items:
    """Finds the items of instanceTypeSet, which is all that cutting takes; the content is read by `parse`."""

    def __init__(self, body: bytes) -> None:
        self.found: list[_Item] = []
        self._path: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._tags = {name[0].lower() + name[1:] for name in DEVICES}
        try:
            self._parser.Parse(body, True)
        except expat.ExpatError as error:
            raise refusal(f"not XML: {error}", "body", body[:80].decode("utf-8", "replace")) from error

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        if len(self._path) == 1 and name != ROOT:
            raise refusal(f"expected {ROOT}", "body", name)
        if self._path[1:] == ["instanceTypeSet", "item"]:
            self.found.append(_Item(start=self._parser.CurrentByteIndex))
        elif len(self._path) == 4 and self._path[1] == "instanceTypeSet" and name in self._tags:
            self.found[-1].has_accelerator = True

    def _end(self, name: str) -> None:
        if self._path[1:] == ["instanceTypeSet", "item"]:
            item = self.found[-1]
            item.end = self._parser.CurrentByteIndex + len(b"</item>")
            item.has_accelerator = item.has_accelerator or ACCELERATOR_TYPE.match(item.name) is not None
        self._path.pop()

    def _text(self, text: str) -> None:
        if self._path[1:] == ["instanceTypeSet", "item", "instanceType"]:
            self.found[-1].name += text
