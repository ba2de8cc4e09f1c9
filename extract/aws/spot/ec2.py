"""EC2's answers as our sources need them: each page with its bytes, to the very last; and what settings may choose."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from extract.aws import client as aws_client
from extract.base import Context
from warehouse.documents import Document
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError

PAGE_SIZE = 1000
MAX_PAGES = 2000
"""Two million records: 90 days of a region's accelerators are a twentieth of it; more is a paging error."""
HOME_REGION = "us-east-1"
"""Which region is asked for the list of regions, where neither AWS_REGION nor AWS_DEFAULT_REGION names one."""
NOT_ENABLED = frozenset({"AuthFailure", "OptInRequired"})
"""What EC2 answers in a region that the account has not enabled; the first also to wrong credentials."""

Page = Mapping[str, Any]
"""What boto3 returns for a page, with the bytes as received."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One operation in one region for one source: the method of boto3's client that does it, the list in its answer."""

    source: str
    region: str
    operation: str
    method: str
    result: str

    def client(self) -> Any:
        """Return a client for the region."""
        with self.errors():
            return aws_client.client("ec2", region=self.region)

    def pages(self, client: Any, request: Mapping[str, object]) -> Iterator[Page]:
        """Yield the pages of an answer until there is no token, or an empty one; raise what `errors` raises.

        Pages may be short or empty although more follow. A token that comes again is an error.
        """
        tokens = aws_client.Tokens(self.source, self.region, most=MAX_PAGES)
        token = ""
        while True:
            with self.errors():
                page = getattr(client, self.method)(**request, **({"NextToken": token} if token else {}))
            if self.result not in page:
                # botocore reads any XML, such as a page for people, as an answer that has nothing to say.
                start = page[aws_client.BODY][:80].decode("utf-8", "replace")
                message = f"{self.region}: an answer without {self.result}"
                raise LayoutChanged(message, source=self.source, field="body", value=start, hint="Try again later")
            yield page
            token = tokens.next(page, "NextToken")
            if not token:
                return

    def document(self, ctx: Context, page: Page, parameters: Mapping[str, str]) -> Document:
        """Return a page as a document."""
        operation = f"ec2.{self.operation}"
        return aws_client.document(
            ctx, page, source=self.source, scope=self.region, operation=operation, parameters=parameters
        )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn botocore's errors into ours; a region that is not enabled fails by its name."""
        hint = f"Give credentials that may call ec2:{self.operation}, or set enabled = false in [sources.{self.source}]"
        try:
            with aws_client.errors(self.source, self.region, hint=hint):
                yield
        except CredentialsMissing as error:
            if error.value not in NOT_ENABLED:
                raise
            enable = f"Enable {self.region} for the account or leave it out of the setting regions; else {hint.lower()}"
            raise SourceError(
                error.message, source=self.source, field="region", value=self.region, hint=enable
            ) from error


def regions(ctx: Context, source: str) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the account has; those not enabled are left out by EC2 itself."""
    chosen = names_in(ctx.settings, "regions", source=source)
    if chosen is not None:
        return chosen
    home = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or HOME_REGION
    call = Call(source=source, region=home, operation="DescribeRegions", method="describe_regions", result="Regions")
    listed = [each.get("RegionName", "") for page in call.pages(call.client(), {}) for each in page[call.result]]
    return tuple(sorted(filter(None, listed)))


def names_in(settings: Mapping[str, object], name: str, *, source: str) -> tuple[str, ...] | None:
    """Return the names that a setting lists, each once; None where it is absent or "all"."""
    value = settings.get(name, "all")
    if value == "all":
        return None
    if isinstance(value, list | tuple) and value and all(isinstance(each, str) and each.strip() for each in value):
        return tuple(dict.fromkeys(value))
    hint = 'Expected is "all" or a list of names'
    raise SettingsError("not a list of names", source=source, field=name, value=value, hint=hint)
