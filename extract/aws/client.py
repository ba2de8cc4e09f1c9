"""boto3 as our sources use it: clients whose answers carry their bytes, and every failure one of our errors."""

import functools
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from traceback import walk_tb
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from extract.aws.places import GLOBAL, has_credentials, names_in, own_regions, region_names
from extract.base import Context
from extract.web import strict_json, strict_xml
from warehouse.documents import Document
from warehouse.errors import CredentialsMissing, LayoutChanged, SourceError, Unavailable

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from botocore.loaders import Loader
    from botocore.session import Session

    from extract.web.http import HttpWeb

for name in ("credentials", "tokens"):  # they warn with a traceback of what our errors say
    logging.getLogger(f"botocore.{name}").setLevel(logging.ERROR)
ATTEMPTS = 5
"""Where AWS_MAX_ATTEMPTS does not say otherwise."""
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 10, 60
WHOLE_TIMEOUT_S = 120.0
"""For an answer as a whole; the read timeout is for each read of it."""
ANSWER_LIMIT_BYTES = 64 << 20
"""A page has one or two megabytes."""
QUERY_TIMEOUT_S = 1800.0
QUERY_LIMIT_BYTES = 256 << 20
"""For all pages of a query, which are held in memory: many times those of the largest region."""
BODY = "chipledger:body"
"""Where our hook leaves an answer's bytes; no member of a service model has a colon in its name."""
NETWORK_HINT = "Check the network, and that the region has this service"
TRY_AGAIN = "Try again later"

_REFUSED = """
AccessDenied AccessDeniedException AuthFailure Blocked ExpiredToken ExpiredTokenException IncompleteSignature
InvalidClientTokenId InvalidSignatureException MissingAuthenticationToken MissingAuthenticationTokenException
NotAuthorized OptInRequired RequestExpired SignatureDoesNotMatch UnauthorizedException
UnauthorizedOperation UnrecognizedClientException
"""
REFUSED = frozenset(_REFUSED.split())
EXPIRED = re.compile(r"ExpiredToken(Exception)?|RequestExpired|.*[Ss]ignature (expired|not yet current)")
EXPIRED_HINT = "The session expired, or this clock is wrong (`chipledger doctor`): log in again (`aws sso login`)"
FIRST_REFUSAL = 301
"""The first status that botocore takes for an error."""
XML_REFUSAL = (
    b"<Response><Errors><Error><Code>%d</Code><Message>no answer of the service</Message></Error></Errors></Response>"
)
JSON_REFUSAL = b'{"__type": "%d", "message": "no answer of the service"}'
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
"""What botocore's readers raise for an answer of another form, in addition to their own error."""
_PASSING = """
CapacityBlockDescribeLimitExceeded EC2ThrottledException ExpiredNextTokenException InternalError InternalErrorException
InternalFailure InternalServerException PendingVerification RequestLimitExceeded RequestThrottled
RequestThrottledException ServiceUnavailable Throttling ThrottlingException TooManyRequestsException Unavailable
"""
PASSING = frozenset(_PASSING.split())
PENDING = "AWS validates the account for this region, for minutes or up to four hours: try again then"
"""What PendingVerification means, in EC2's words (github.com/juju/juju/pull/12175, read 2026-11-23)."""

PAGE_SIZE = 1000
MAX_PAGES = 2000
"""Two million records: 90 days of a region's accelerators are a twentieth of it; more is a paging error."""
UNAUTHORIZED = "UnauthorizedOperation"
"""What EC2 answers to credentials that may not call an operation."""
NOT_ENABLED = frozenset({"AuthFailure", "OptInRequired"})
"""What EC2 answers in a region that the account has not enabled; the first also to wrong credentials."""

Page = Mapping[str, Any]
"""What boto3 returns for a page, with the bytes as received."""


def session(connect_timeout_s: float = 0.0, read_timeout_s: float = 0.0) -> "Session":
    """Return a session whose clients send through our own HTTP client, those that fetch credentials included.

    So they have its limits, proxies (SOCKS too) and certificates, which botocore lacks. Raises SettingsError where the
    environment names an unusable proxy.
    """
    # Imported here: the shell must not wait for boto3 where nothing is fetched.
    import botocore.session

    from extract.web.http import HttpWeb

    core = botocore.session.Session()
    core.register_component("data_loader", _loader())
    web = HttpWeb(
        connect_timeout_s=connect_timeout_s or CONNECT_TIMEOUT_S,
        read_timeout_s=read_timeout_s or READ_TIMEOUT_S,
        whole_timeout_s=WHOLE_TIMEOUT_S,
        get_limit_bytes=ANSWER_LIMIT_BYTES,
    )
    handler: Any = functools.partial(_send, web)
    core.register("before-send", handler)
    return core


@functools.cache
def _loader() -> "Loader":
    """Return the reader of botocore's service models: shared, it halves the price of a client for each region."""
    import botocore.session

    loader: Loader = botocore.session.Session().get_component("data_loader")
    return loader


def _send(web: "HttpWeb", *, request: "AWSPreparedRequest", **_: object) -> "AWSResponse":
    """Send what botocore has signed; raise what it retries, or SourceError."""
    from botocore import exceptions
    from botocore.awsrequest import AWSResponse

    # http.client, which botocore sends with, has no other encoding either; what is signed must stay as it is.
    headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()}
    body: Any = request.body.encode() if isinstance(request.body, str) else request.body
    try:
        answer, content = web.exchange(request.method, request.url, headers | {"Accept-Encoding": "identity"}, body)
    except Unavailable as error:
        kind = {
            "ConnectTimeout": exceptions.ConnectTimeoutError,
            "ConnectError": exceptions.EndpointConnectionError,
            "ReadTimeout": exceptions.ReadTimeoutError,
        }.get(type(error.__cause__).__name__, exceptions.ConnectionClosedError)
        raise kind(endpoint_url=request.url, error=error.message) from error
    raw, received = SimpleNamespace(stream=lambda: [content]), dict(answer.headers)
    return AWSResponse(request.url, answer.status_code, received, raw)  # type: ignore[arg-type]  # a mapping will do


def _check_body(
    *, operation_model: Any, response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Add the bytes to the answer; botocore updates its own reading of them with what a hook puts here.

    A refusal whose body is not the service's, as from a proxy or a load balancer, counts by its status alone.
    """
    body, status = response_dict["body"], response_dict["status_code"]
    customized_response_dict[BODY] = body
    if status < FIRST_REFUSAL:
        return
    is_xml = operation_model.service_model.metadata["protocol"] in ("ec2", "query")
    try:
        is_own = (
            strict_xml.root(body).find(".//Code") is not None if is_xml else isinstance(strict_json.loads(body), dict)
        )
    except ValueError:
        is_own = False
    if not is_own:
        response_dict["body"] = (XML_REFUSAL if is_xml else JSON_REFUSAL) % status


# --- operations


@dataclass(frozen=True, kw_only=True)
class Call:
    """One operation, such as ec2.DescribeRegions, as one source calls it for one scope, and the list in its answer.

    `region` is that of the endpoint where it is not the scope. `hint` says which permissions are needed; without one a
    region that EC2 has not enabled is an error of its name.
    """

    source: str
    scope: str
    operation: str
    result: str
    region: str = ""
    token_name: str = "NextToken"  # noqa: S105 -- the name of a field
    max_pages: int = 0
    hint: str = ""

    def client(self) -> Any:
        """Return botocore's client for the region; each of its answers carries the bytes that it was read from."""
        from botocore.config import Config

        from extract.web.http import user_agent

        service = self.operation.partition(".")[0]
        retries: dict[str, Any] = {"mode": "adaptive"}
        if "AWS_MAX_ATTEMPTS" not in os.environ:
            retries["total_max_attempts"] = ATTEMPTS
        config = Config(retries=retries, user_agent_extra=user_agent().split(" ")[0])  # type: ignore[arg-type]  # a plain dict of what the TypedDict has
        with self.errors():
            made = session().create_client(service, region_name=self.region or self.scope, config=config)
        made.meta.events.register(f"before-parse.{service}", _check_body)
        return made

    def pages(self, made: Any, request: Mapping[str, object]) -> Iterator[Page]:
        """Yield the pages of an answer until there is no token, or an empty one; raise what `errors` raises.

        Pages may be short or empty although more follow. SourceError is raised too where a token comes again, none ends
        the paging, or the pages are too many bytes in all, and Unavailable where they take too long.
        """
        from botocore import xform_name

        ends_at, size, seen = time.monotonic() + QUERY_TIMEOUT_S, 0, set[str]()
        method = getattr(made, xform_name(self.operation.partition(".")[2]))
        token = ""
        while True:
            with self.errors():
                page = method(**request, **({self.token_name: token} if token else {}))
            if self.result not in page:
                # botocore reads any XML, such as a page for people, as an answer that has nothing to say.
                start = page[BODY][:80].decode("utf-8", "replace")
                raise self._error(LayoutChanged, f"an answer without {self.result}", "body", start, TRY_AGAIN)
            yield page
            token = str(page.get(self.token_name) or "")
            if token in seen or len(seen) >= (self.max_pages or MAX_PAGES):
                message = f"the answer has no end, after {len(seen) + 1} pages"
                raise self._error(SourceError, message, self.token_name, token, TRY_AGAIN)
            size += len(page[BODY])
            if size > QUERY_LIMIT_BYTES:
                message = f"the pages of the answer exceed {QUERY_LIMIT_BYTES} bytes"
                raise self._error(SourceError, message, "size", size, TRY_AGAIN)
            if not token:
                return
            if time.monotonic() > ends_at:
                message = f"the answer did not end within {QUERY_TIMEOUT_S:g} s, after {len(seen)} pages"
                raise self._error(Unavailable, message, self.token_name, token, TRY_AGAIN)
            seen.add(token)

    def documents(
        self, ctx: Context, made: Any, request: Mapping[str, object], parameters: Mapping[str, str]
    ) -> Iterator[tuple[Page, Document]]:
        """Yield the pages of an answer, each with its document."""
        for number, page in enumerate(self.pages(made, request), start=1):
            yield page, self.document(ctx, page, {**parameters, "page": str(number)})

    def document(self, ctx: Context, page: Page, parameters: Mapping[str, str]) -> Document:
        """Return a page as a document: its bytes as received, the operation, the parameters."""
        metadata = page.get("ResponseMetadata", {})
        return Document(
            source=self.source,
            scope=self.scope,
            url=self.operation,
            parameters=parameters,
            body=page[BODY],
            fetched_at=ctx.now(),
            status=metadata.get("HTTPStatusCode", 200),
            content_type=metadata.get("HTTPHeaders", {}).get("content-type", ""),
        )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn botocore's errors into ours."""
        from botocore import exceptions, parsers

        try:
            yield
        except exceptions.ClientError as error:
            raise self._refused(error.response, str(error)) from error
        except parsers.ResponseParserError as error:
            raise self._unreadable(error) from error
        except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
            cause = error.__cause__ if isinstance(error.__cause__, SourceError) else error
            value = getattr(cause, "message", str(error))
            raise self._error(Unavailable, value, "endpoint", value, NETWORK_HINT) from error
        except (exceptions.InvalidRegionError, exceptions.EndpointProviderError) as error:
            known = "Check the name of the region"
            raise self._error(SourceError, str(error), "region", self.scope, known) from error
        except exceptions.ParamValidationError as error:
            ours = "This is an error of the source, not of its settings"
            raise self._error(SourceError, str(error), "parameters", str(error), ours) from error
        except exceptions.BotoCoreError as error:
            # What remains is configuration: no credentials or half of them, a profile or an SSO session not there.
            kind = type(error).__name__
            hint = EXPIRED_HINT if "Token" in kind else self._rights
            raise self._error(CredentialsMissing, str(error), "credentials", kind, hint) from error
        except UNREADABLE as error:
            modules = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]
            if modules[-1].startswith("extract.") or not any(name.startswith("botocore.") for name in modules):
                raise
            raise self._unreadable(error) from error

    def _error(self, kind: type[SourceError], message: str, field: str, value: object, hint: str) -> SourceError:
        named = f"{self.scope}: {message}".removesuffix(".")
        return kind(named, source=self.source, field=field, value=value, hint=hint)

    def _unreadable(self, error: Exception) -> SourceError:
        update = f"The source {self.source} has to be updated for the new layout"
        return self._error(LayoutChanged, str(error), "body", str(error), update)

    def _refused(self, response: Any, message: str) -> SourceError:
        code = response.get("Error", {}).get("Code", "")
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in PASSING or status == 429 or status >= 500:
            hint = f"{TRY_AGAIN}; each time, it may be a quota of 0" if "Limit" in code else TRY_AGAIN
            hint = PENDING if code == "PendingVerification" else hint
            return self._error(Unavailable, message, "code", code, hint)
        if code in NOT_ENABLED and not self.hint:
            rights = f"else {self._rights[:1].lower()}{self._rights[1:]}"
            enable = f"Enable {self.scope} for the account or leave it out of the setting regions; {rights}"
            return self._error(SourceError, message, "region", self.scope, enable)
        if code in REFUSED or status in (401, 403):
            hint = EXPIRED_HINT if EXPIRED.match(code) or EXPIRED.match(message) else self._rights
            return self._error(CredentialsMissing, message, "credentials", code, hint)
        return self._error(SourceError, message, "code", code, "Check the region and the settings")

    @property
    def _rights(self) -> str:
        rights = f"Give credentials that may call {self.operation.replace('.', ':')}"
        return self.hint or f"{rights}, or set enabled = false in [sources.{self.source}]"


def regions(ctx: Context, source: str, hint: str = "") -> tuple[str, ...]:
    """Return the regions of the settings, or the user's own of those that the account has, which EC2 lists alone.

    Where EC2 may not list them the user's own are. Raises CredentialsMissing where there are none, and SourceError.
    """
    chosen = names_in(ctx.settings, "regions", source=source)
    if chosen is not None and has_credentials():
        return chosen
    rights = "may call ec2:DescribeRegions and the others of the policy"
    hint = hint or f"Give credentials that {rights}, or set enabled = false in [sources.{source}]"
    call = Call(source=source, scope=home_region(), operation="ec2.DescribeRegions", result="Regions", hint=hint)
    try:
        names = [each.get("RegionName", "") for page in call.pages(call.client(), {}) for each in page[call.result]]
    except CredentialsMissing as error:
        names = [each for each in ctx.regions if each in region_names()]
        if error.value != UNAUTHORIZED or not names or ctx.settings.get("regions") == "all":
            raise
    return own_regions(names, ctx) if chosen is None else chosen


def home_region() -> str:
    """Return the region of the environment or of boto3's profile, as a company may forbid all others; else Virginia."""
    import botocore.exceptions
    import botocore.session

    with suppress(botocore.exceptions.BotoCoreError):  # a profile that is not there: the first call says so
        configured = botocore.session.Session().get_config_variable("region")
        return str(os.environ.get("AWS_REGION") or configured or GLOBAL.api_region)
    return GLOBAL.api_region
