"""How the sources of this folder come by their documents: one look at one scope, all pages of it or none."""

import functools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from extract.base import Context, Parsed, Source
from extract.web.interface import Response
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged, SettingsError, SourceError, Unavailable

HTML = "text/html"
JSON = "application/json"
PAGES = "chipledger_pages"
"""Key under which the pages of one answer stand in one document, each as received."""
MAX_PAGES = 200
PAGES_LIMIT_BYTES = 64 << 20
"""For all pages of an answer together: as much as one page may have."""
PAGES_TIMEOUT_S = 1800.0
HINT = "Check the landed answer; the source may have a new layout"

Pages = Callable[[Context, str], Iterator[Response]]


class Todo(str):
    """A question in place of a value that a new source does not know yet; `todo` makes one."""


def todo(question: str) -> Any:
    """Return a question to put in place of any value. A source whose module has one refuses to fetch and to parse."""
    return Todo(question)


def web_source(
    *,
    name: str,
    provider: str,
    title: str,
    url: str,
    terms_url: str,
    parse: Callable[[Document], Parsed],
    accept: str = JSON,
    pages: Pages | None = None,
    scopes: tuple[str, ...] = ("all",),
    max_age: timedelta = timedelta(days=3),
    off_because: str = "",
    settings: tuple[str, ...] = (),
    credentials: str = "none",
) -> Source:
    """Return a source that asks one address, or all `pages` of an answer, and keeps what came as one document.

    `pages` gives the responses of one scope, in order; without it the one address is asked. The setting `url` puts
    another address in place of `url`: the whole of it without `pages`, else what `base_url` returns.
    """

    def fetch(ctx: Context, scope: str) -> ScopeFetch:
        """Return a complete look; raise Unavailable, SourceError or LayoutChanged."""
        if pages is None:
            answer = ctx.web.get(base_url(ctx, name, url), accept=accept)
            body, address, content_type, status = answer.body, answer.url, answer.content_type, answer.status
        else:
            answers = _all(pages(ctx, scope), name)
            body = answers[0].body if len(answers) == 1 else joined([answer.body for answer in answers])
            address, content_type, status = answers[0].url, answers[0].content_type, answers[0].status
        document = Document(
            source=name,
            scope=scope,
            url=address,
            body=body,
            fetched_at=ctx.now(),
            status=status,
            content_type=content_type,
        )
        return ScopeFetch(
            source=name, scope=scope, observed_at=document.fetched_at, complete=True, documents=(document,)
        )

    if questions := [field for field, value in parse.__globals__.items() if isinstance(value, Todo)]:
        off_because = f"its module is not finished: {', '.join(questions)}"
        fetch, parse = (
            functools.wraps(fetch)(_unfinished(name, parse)),
            functools.wraps(parse)(_unfinished(name, parse)),
        )
    return Source(
        name=name,
        provider=provider,
        title=title,
        url=url,
        terms_url=terms_url,
        max_age=max_age,
        scopes=lambda ctx: scopes,
        fetch=fetch,
        parse=parse,
        settings=("url", *settings),
        polite=True,
        off_because=off_because,
        credentials=credentials,
    )


def _unfinished(name: str, parse: Callable[[Document], Parsed]) -> Callable[..., Any]:
    """Return a function that raises LayoutChanged with the first question in the module of `parse`."""

    def refuse(*arguments: object) -> None:
        field, question = next((k, v) for k, v in parse.__globals__.items() if isinstance(v, Todo))
        hint = f"Replace todo(...) by the value of {field} in the module of the source"
        raise LayoutChanged(f"TODO: {question}", source=name, field=field, value="", hint=hint)

    return refuse


def _all(pages: Iterator[Response], source: str) -> list[Response]:
    """Return all pages; raise where there is none, or where they are too many bytes or take too long together."""
    answers: list[Response] = []
    size, ends_at = 0, time.monotonic() + PAGES_TIMEOUT_S
    for answer in pages:
        answers.append(answer)
        size += len(answer.body)
        if size > PAGES_LIMIT_BYTES:
            message = f"the pages exceed {PAGES_LIMIT_BYTES} bytes"
            raise SourceError(message, source=source, field="size", value=size, hint=HINT)
        if time.monotonic() > ends_at:
            message = f"the pages did not end within {PAGES_TIMEOUT_S:g} s"
            raise Unavailable(message, source=source, field="pages", value=len(answers), hint="Try again later")
    if not answers:
        raise LayoutChanged("no page at all", source=source, field="pages", value=0, hint=HINT)
    return answers


def base_url(ctx: Context, name: str, default: str) -> str:
    """Return the address that the deployment chose, or the default; raise SettingsError where it is none."""
    url = ctx.settings.get("url") or default
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
        raise SettingsError(
            "expected an http address", source=name, field="url", value=url, hint="Begin it with https://"
        )
    return url


def numbered_pages(
    get: Callable[[int], Response], is_last: Callable[[Any, int], bool], *, source: str
) -> Iterator[Response]:
    """Yield pages 1, 2, ... as `get` gives them, up to the one whose content `is_last` calls the last.

    Raises LayoutChanged where a page is no JSON, where one repeats the page before it, or where they do not end.
    """
    before: bytes | None = None
    for number in range(1, MAX_PAGES + 1):
        answer = get(number)
        if answer.body == before:
            raise LayoutChanged(
                "a page repeats the one before it", source=source, field="page", value=number, hint=HINT
            )
        before = answer.body
        try:
            content = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            message = f"no JSON: {error}"
            raise LayoutChanged(message, source=source, field="page", value=number, hint=HINT) from error
        yield answer
        if is_last(content, number):
            return
    raise LayoutChanged("the pages do not end", source=source, field="page", value=MAX_PAGES, hint=HINT)


def joined(bodies: list[bytes]) -> bytes:
    """Return several JSON pages as one JSON document, in which each stands as it was received."""
    return b'{"%s": [' % PAGES.encode() + b", ".join(bodies) + b"]}"


def pages_of(content: object) -> list[Any]:
    """Return the pages of a document that was read as JSON: its parts where it was joined, else itself."""
    if isinstance(content, Mapping) and set(content) == {PAGES} and isinstance(content[PAGES], list):
        return list(content[PAGES])
    return [content]
