"""What boto3 leaves unbounded: the size of an answer, the time of it as a whole, the form of its body.

botocore reads a body to its end, however long it is and however slowly it comes, does not compare it with its
Content-Length, and its readers raise what the standard library raises.
"""

from typing import Any

from botocore import awsrequest, exceptions, parsers

from extract.web.http_body import BrokenOff, decoded
from extract.web.http_head import Answer
from warehouse.errors import Unavailable

FIRST_REFUSAL = 301
"""The first status that botocore takes for an error."""


class _Plain(awsrequest.AWSHTTPConnection):
    response_class = Answer  # type: ignore[assignment]  # its own is for uploads, and never made here


class _Secure(awsrequest.AWSHTTPSConnection):
    response_class = Answer  # type: ignore[assignment]  # its own is for uploads, and never made here


class _PlainPool(awsrequest.AWSHTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(awsrequest.AWSHTTPSConnectionPool):
    ConnectionCls = _Secure


class _Session:
    """botocore's way of sending, with bounds; raises SourceError for an answer beyond the limit."""

    def __init__(self, session: Any, *, limit_bytes: int, within_s: float) -> None:
        self._session, self._limit_bytes, self._within_s = session, limit_bytes, within_s

    def send(self, request: Any) -> Any:
        """Return the answer to a request with its body read; raise botocore's own errors, which it tries again."""
        request.stream_output = True  # so that the body is read here
        answer = self._session.send(request)
        try:
            blocks = decoded(answer.raw, request.url, limit=self._limit_bytes, within_s=self._within_s)
            answer._content = b"".join(blocks)
        except BrokenOff as error:
            answer.raw.close()
            raise exceptions.ResponseStreamingError(error=error) from error
        except Unavailable as error:
            answer.raw.close()
            raise exceptions.ReadTimeoutError(endpoint_url=request.url, error=error) from error
        except BaseException:
            answer.raw.close()
            raise
        answer.raw.release_conn()
        return answer

    def close(self) -> None:
        self._session.close()


class _Parser:
    """botocore's reader of answers, whose every failure is a ResponseParserError."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def parse(self, response: Any, shape: Any) -> Any:
        """Return what an answer says."""
        try:
            said = self._parser.parse(response, shape)
            if not isinstance(said, dict):
                raise ValueError(f"expected an object, found {said!r:.80}")
            return said
        except (
            parsers.ResponseParserError,
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            status = response["status_code"]
            if status >= FIRST_REFUSAL:
                return _refusal(response)
            if isinstance(error, parsers.ResponseParserError):
                raise
            raise parsers.ResponseParserError(f"an answer of another form: {error!r:.200}") from error


def _refusal(response: Any) -> dict[str, Any]:
    """Return a refusal whose body is none of the service's, as from a proxy or a load balancer, by its status alone."""
    status = response["status_code"]
    told = {"Code": str(status), "Message": f"HTTP {status}, with a body that is not the service's"}
    return {"Error": told, "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": dict(response["headers"])}}


class _Parsers:
    """botocore's maker of readers."""

    def __init__(self, made_by: Any) -> None:
        self._made_by = made_by

    def create_parser(self, protocol: str) -> _Parser:
        """Return a reader of a protocol."""
        return _Parser(self._made_by.create_parser(protocol))


def bind(client: Any, *, limit_bytes: int, within_s: float) -> None:
    """Give a client of boto3 the bounds."""
    # botocore has no public place for any of these; the tests of faults fail where a release moves them.
    endpoint = client._endpoint
    session = endpoint.http_session
    session._pool_classes_by_scheme.update(http=_PlainPool, https=_SecurePool)
    endpoint.http_session = _Session(session, limit_bytes=limit_bytes, within_s=within_s)
    endpoint._response_parser_factory = _Parsers(endpoint._response_parser_factory)
