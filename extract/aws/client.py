"""boto3 as our sources use it: clients whose answers carry their bytes, and every failure one of our errors."""

import functools
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from extract.base import Context
from warehouse.documents import Document
from warehouse.errors import CredentialsMissing, LayoutChanged, SourceError, Unavailable

if TYPE_CHECKING:
    from botocore.loaders import Loader

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

UNTRUSTED = ("CERTIFICATE_VERIFY_FAILED", "doesn't match")
"""What OpenSSL says of a certificate that it refuses, and urllib3 of one for another name."""
NETWORK_HINT = "Check the network, and that the region has this service"
SETTINGS_HINT = "Check the region and the settings"

REFUSED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "Blocked",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "NotAuthorized",
        "OptInRequired",
        "PendingVerification",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnauthorizedException",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)
PASSING = frozenset(
    {
        "EC2ThrottledException",
        "ExpiredNextTokenException",
        "InternalError",
        "InternalErrorException",
        "InternalFailure",
        "InternalServerException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ServiceUnavailable",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "Unavailable",
    }
)


def client(service: str, *, region: str) -> Any:
    """Return boto3's client of a service; each of its answers carries the bytes that it was read from."""
    # Imported here: the shell must not wait for boto3 where nothing is fetched.
    import boto3.session
    import botocore.session
    from botocore.config import Config

    from extract.aws import session as aws_session
    from extract.web.http import user_agent

    core = botocore.session.Session()
    core.register_component("data_loader", _loader())
    session: Any = boto3.session.Session(botocore_session=core)
    retries: dict[str, Any] = {"mode": "adaptive"}
    if "AWS_MAX_ATTEMPTS" not in os.environ:
        retries["total_max_attempts"] = ATTEMPTS
    made = session.client(
        service,
        region_name=region,
        config=Config(
            retries=retries,  # type: ignore[arg-type]  # a plain dict of what the TypedDict has
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            user_agent_extra=user_agent().split(" ")[0],
        ),
    )
    made.meta.events.register(f"before-parse.{service}", _keep_body)
    aws_session.bind(made, limit_bytes=ANSWER_LIMIT_BYTES, within_s=WHOLE_TIMEOUT_S)
    return made


def document(
    ctx: Context, page: Mapping[str, Any], *, source: str, scope: str, operation: str, parameters: Mapping[str, str]
) -> Document:
    """Return an answer as a document: its bytes as received, the operation, the parameters."""
    metadata = page.get("ResponseMetadata", {})
    return Document(
        source=source,
        scope=scope,
        url=operation,
        parameters=parameters,
        body=page[BODY],
        fetched_at=ctx.now(),
        status=metadata.get("HTTPStatusCode", 200),
        content_type=metadata.get("HTTPHeaders", {}).get("content-type", ""),
    )


@contextmanager
def errors(
    source: str, scope: str, *, hint: str, network: str = NETWORK_HINT, settings: str = SETTINGS_HINT
) -> Iterator[None]:
    """Turn botocore's errors into ours; `hint` says which permissions the calls need.

    `network` is the hint where no answer came, `settings` the one where the question was refused.
    """
    from botocore import exceptions, parsers

    def told(error: Exception) -> str:
        return f"{scope}: {error}"

    try:
        yield
    except exceptions.ClientError as error:
        raise _client_error(error.response, told(error), source, hint, settings) from error
    except parsers.ResponseParserError as error:
        taught = f"The source {source} has to be taught the new layout"
        raise LayoutChanged(told(error), source=source, field="body", value=str(error), hint=taught) from error
    except exceptions.SSLError as error:
        if not any(words in str(error) for words in UNTRUSTED):
            raise Unavailable(told(error), source=source, field="endpoint", value=str(error), hint=network) from error
        signed = "If a proxy of yours signs the traffic, name its certificate in AWS_CA_BUNDLE"
        message = f"{scope}: the server's certificate is not trusted"
        raise SourceError(message, source=source, field="endpoint", value=str(error), hint=signed) from error
    except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
        raise Unavailable(told(error), source=source, field="endpoint", value=str(error), hint=network) from error
    except exceptions.PaginationError as error:
        again = "Try again later"
        raise SourceError(told(error), source=source, field="NextToken", value=str(error), hint=again) from error
    except (exceptions.InvalidRegionError, exceptions.EndpointProviderError) as error:
        known = "Check the name of the region"
        raise SourceError(told(error), source=source, field="region", value=scope, hint=known) from error
    except exceptions.ParamValidationError as error:
        ours = "This is an error of the source, not of its settings"
        raise SourceError(told(error), source=source, field="parameters", value=str(error), hint=ours) from error
    except exceptions.BotoCoreError as error:
        # What remains is configuration: no credentials, half of them, a profile or an SSO session that is not there.
        kind = type(error).__name__
        raise CredentialsMissing(told(error), source=source, field="credentials", value=kind, hint=hint) from error


class Tokens:
    """Watches the pages of one query, so that a paging error ends; an empty token, or none, ends the paging."""

    def __init__(self, source: str, scope: str, *, most: int) -> None:
        self._source, self._scope, self._most = source, scope, most
        self._seen: set[str] = set()
        self._size = 0
        self._ends_at = time.monotonic() + QUERY_TIMEOUT_S

    def next(self, page: Mapping[str, Any], name: str) -> str:
        """Return the token of the next page, "" after the last.

        Raises SourceError where a token repeats, none ends the paging, or the pages are too many bytes in all, and
        Unavailable where they take too long.
        """
        token = str(page.get(name) or "")
        again = "Try again later"
        if token in self._seen or len(self._seen) >= self._most:
            message = f"{self._scope}: the answer has no end, after {len(self._seen) + 1} pages"
            raise SourceError(message, source=self._source, field=name, value=token, hint=again)
        self._size += len(page.get(BODY, b""))
        if self._size > QUERY_LIMIT_BYTES:
            message = f"{self._scope}: the pages of the answer exceed {QUERY_LIMIT_BYTES} bytes"
            raise SourceError(message, source=self._source, field="size", value=self._size, hint=again)
        if token and time.monotonic() > self._ends_at:
            message = (
                f"{self._scope}: the answer did not end within {QUERY_TIMEOUT_S:g} s, after {len(self._seen)} pages"
            )
            raise Unavailable(message, source=self._source, field=name, value=token, hint=again)
        if token:
            self._seen.add(token)
        return token


@functools.cache
def _loader() -> "Loader":
    """Return the reader of botocore's service models: shared, it halves the price of a client for each region."""
    import botocore.session

    loader: Loader = botocore.session.Session().get_component("data_loader")
    return loader


def _keep_body(*, response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object) -> None:
    """Add the bytes to the answer; botocore updates its own reading of them with what a hook puts here."""
    customized_response_dict[BODY] = response_dict["body"]


def _client_error(response: Any, message: str, source: str, hint: str, settings: str) -> SourceError:
    code = response.get("Error", {}).get("Code", "")
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in PASSING or status == 429 or status >= 500:
        return Unavailable(message, source=source, field="code", value=code, hint="Try again later")
    if code in REFUSED or status in (401, 403):
        return CredentialsMissing(message, source=source, field="credentials", value=code, hint=hint)
    return SourceError(message, source=source, field="code", value=code, hint=settings)
