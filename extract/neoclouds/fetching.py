"""How the sources of this folder fetch their documents: one fetch of one scope, all pages of it or none."""

import functools
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from extract.base import Context, Parsed, Source, no_scope, url_in
from extract.neoclouds.answers import HINT, PAGES, Fields, content, errors_of, parts, refusal, unread_page
from extract.neoclouds.offers import Found, parser
from extract.web.interface import Response
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable

HTML = "text/html"
JSON = "application/json"
MAX_PAGES = 200
PAGES_LIMIT_BYTES = 64 << 20
"""For all pages of an answer together: as much as one page may have."""
PAGES_TIMEOUT_S = 1800.0

Scopes = Callable[[Context], tuple[str, ...]]
Pages = Callable[[Context, str, str], Iterable[Response]]
"""Gives the responses to one scope, in order, from a context, the address and the scope."""


class Todo(str):
    """A question in place of a value that a new source does not know yet; `todo` makes one."""


def todo(question: str) -> Any:
    """Return a question to put in place of any value. A source whose module has one refuses to fetch and to parse."""
    return Todo(question)


def web_source(
    read: Callable[[Document], Iterable[Found]],
    *,
    name: str,
    provider: str,
    title: str,
    url: str,
    terms_url: str = "",
    accept: str = JSON,
    pages: Pages | None = None,
    scopes: tuple[str, ...] | Scopes = ("all",),
    max_age: timedelta = timedelta(days=3),
    off_because: str = "",
    settings: tuple[str, ...] = (),
    key: str = "",
    credentials: str = "",
    other_urls: tuple[str, ...] = (),
    published_at: Callable[[bytes], datetime | None] = lambda body: None,
) -> Source:
    """Return a source that fetches one address, or all `pages` of an answer, as one document.

    `read` yields the offers of a document, its stock, and the reasons for what has no price. Where `url` gives nothing
    that it can read, `other_urls` are asked one after the other. The setting `url` replaces them all: the whole address
    without `pages`, else the one that they get. `published_at` finds when a document says that its prices held: a fetch
    is of that moment. Without the environment variable `key`, where one is named, its scopes raise CredentialsMissing.
    """
    fetch_pages = pages or (lambda ctx, address, scope: [ctx.web.get(address, accept=accept)])

    def fetch(ctx: Context, scope: str) -> ScopeFetch:
        """Return a fetch, complete unless its answer names more pages; raise SourceError, LayoutChanged among them."""
        if isinstance(scopes, tuple) and scope not in scopes:
            raise no_scope(name, scope, scopes)
        urls = (url_in(ctx.settings, "url", url, source=name),) if ctx.settings.get("url") else (url, *other_urls)
        documents, notes = _first_good(urls, lambda address: fetch_one(ctx, address, scope), parse, ctx)
        at = min(documents[0].published_at or documents[0].fetched_at, documents[0].fetched_at)
        unread = ""
        with suppress(LayoutChanged):  # no JSON: `parse` says what it is
            unread = unread_page(parts(documents[0]))
        notes += (f"{unread} says that there are more pages, so this answer ends no offer",) if unread else ()
        whole = not unread
        return ScopeFetch(source=name, scope=scope, observed_at=at, complete=whole, documents=documents, notes=notes)

    def fetch_one(ctx: Context, address: str, scope: str) -> Document:
        with errors_of(name):
            answers = _all(fetch_pages(ctx, address, scope))
            bodies = [answer.body for answer in answers]
            dated = published_at(bodies[0])
        whole = bodies[0] if len(bodies) == 1 else b'{"%s": [%s]}' % (PAGES.encode(), b", ".join(bodies))
        return answers[0].document(name, scope, ctx.now(), body=whole, published_at=dated)

    def scopes_of(ctx: Context) -> tuple[str, ...]:
        with errors_of(name):
            if key and not os.environ.get(key):
                raise no_key(key, "no key")
            return scopes(ctx) if callable(scopes) else scopes

    questions = {field: value for field, value in read.__globals__.items() if isinstance(value, Todo)}

    def refuse(*arguments: object) -> Any:
        """Raise LayoutChanged with the first question in the module of `read`."""
        field, question = next(iter(questions.items()))
        hint = f"Replace todo(...) by the value of {field} in the module of the source"
        raise LayoutChanged(f"TODO: {question}", source=name, field=field, value="", hint=hint)

    parse = parser(name, provider, functools.wraps(read)(refuse) if questions else read)
    if questions:
        off_because = f"its module is not finished: {', '.join(questions)}"
    return Source(
        name=name,
        provider=provider,
        title=title,
        url=url,
        terms_url=terms_url,
        max_age=max_age,
        scopes=scopes_of,
        fetch=functools.wraps(fetch)(refuse) if questions else fetch,
        parse=parse,
        settings=("url", *settings),
        polite=True,
        off_because=off_because,
        credentials=credentials or (f"`{key}`" if key else "none"),
        other_urls=other_urls,
    )


def _first_good(
    urls: Sequence[str], fetch: Callable[[str], Document], parse: Callable[[Document], Parsed], ctx: Context
) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the document of the first address that can be read and passes the gates, before those that could not be.

    With notes that say why another address than the first holds. Where none can be read, the documents stay in their
    order; where none was got, the first error is raised. A single address is not tried: what it gives is kept.
    """
    if len(urls) == 1:
        return (fetch(urls[0]),), ()
    spoiled: list[Document] = []
    errors: list[SourceError] = []
    for address in urls:
        try:
            document = fetch(address)
        except SourceError as error:
            errors.append(error)
            continue
        try:
            ctx.check(parse(document))
        except SourceError as error:
            errors.append(error)
            spoiled.append(document)
            continue
        reasons = [f"read from {address}, as another address failed: {error}" for error in errors]
        return (document, *spoiled), tuple(reasons)
    if not spoiled:
        raise errors[0]
    return tuple(spoiled), tuple(map(str, errors))


def chosen(setting: str, known: Sequence[str], form: str = "") -> Scopes:
    """Return the scopes by a setting: "all" of those known, or a list of some; with `form` of any names of that form.

    Its result raises SettingsError.
    """

    def scopes(ctx: Context) -> tuple[str, ...]:
        wanted = ctx.settings.get(setting, "all")
        if wanted == "all":
            return tuple(known)
        names = wanted if isinstance(wanted, list | tuple) else []
        if names and all(isinstance(one, str) and (re.fullmatch(form, one) if form else one in known) for one in names):
            return tuple(dict.fromkeys(names))
        hint = f"Known: {', '.join(known)}"
        raise SettingsError('expected "all" or a list of names', field=setting, value=wanted, hint=hint)

    return scopes


def no_key(variable: str, message: str, value: str = "") -> CredentialsMissing:
    """Return the error of a key that is missing or was refused."""
    hint = f"Put an API key into the environment variable {variable}"
    return CredentialsMissing(message, field=variable, value=value, hint=hint)


@contextmanager
def key_checked(variable: str, refused: str = "refused", statuses: Sequence[int] = (401, 403)) -> Iterator[None]:
    """Raise CredentialsMissing with this message where a server refuses the key in an environment variable."""
    try:
        yield
    except SourceError as error:
        if error.field == "status" and error.value in statuses:
            raise no_key(variable, refused, "(hidden)") from error
        raise


def _all(pages: Iterable[Response]) -> list[Response]:
    """Return all pages; raise where there is none, or where they are too many bytes or take too long together."""
    answers: list[Response] = []
    size, ends_at = 0, time.monotonic() + PAGES_TIMEOUT_S
    for answer in pages:
        answers.append(answer)
        size += len(answer.body)
        if size > PAGES_LIMIT_BYTES:
            message = f"the pages exceed {PAGES_LIMIT_BYTES} bytes"
            raise SourceError(message, field="size", value=size, hint=HINT)
        if time.monotonic() > ends_at:
            message = f"the pages did not end within {PAGES_TIMEOUT_S:g} s"
            raise Unavailable(message, field="pages", value=len(answers), hint="Try again later")
    if not answers:
        raise refusal("no page at all", "pages", 0)
    return answers


def numbered(
    ctx: Context, address: str, has_more: Callable[[Fields, int], bool], headers: Mapping[str, str] | None = None
) -> Iterator[Response]:
    """Yield the pages of an address that ends in "page=", from 1 on, while `has_more` says of one that more follow."""

    def following(page: object, number: int) -> int | None:
        return number + 1 if has_more(Fields("page", page), number) else None

    return paged(lambda number: ctx.web.get(f"{address}{number}", headers=headers or {}), following)


def paged(get: Callable[[Any], Response], following: Callable[[Any, Any], Any], first: Any = 1) -> Iterator[Response]:
    """Yield pages as `get` gives them by number, cursor or address, from the first one on.

    `following` returns what leads on from the content of a page and what led to it, or nothing where it is the last.
    Raises LayoutChanged where a page is no JSON, where one repeats the page before it, or where they do not end.
    """
    place, before = first, None
    for number in range(1, MAX_PAGES + 1):
        answer = get(place)
        if answer.body == before:
            raise refusal("a page repeats the one before it", "page", number)
        before = answer.body
        found = content(answer.body)
        yield answer
        place = following(found, place)
        if not place:
            return
    raise refusal("the pages do not end", "page", MAX_PAGES)
