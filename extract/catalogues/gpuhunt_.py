"""The long tail: providers that chipledger does not read itself, as the library gpuhunt reads them.

What: https://github.com/dstackai/gpuhunt (MPL-2.0), an optional extra: `uv sync --extra gpuhunt`. A scope is one of its
providers: cloudrift and daytona without a key, seeweb with SEEWEB_API_TOKEN. Terms: those of each provider.
Setting: `enabled`. Written against gpuhunt 0.1.34 in November 2026.

1. Off unless a deployment says otherwise: gpuhunt minds no robots.txt and makes no pauses. Its client (requests) waits
   for as long as a byte comes now and then, takes bodies of any size, and follows redirects anywhere, with the key. So
   its providers are given another one for it: our own web, with its limits of time, size and redirects.
2. gpuhunt gives objects and no documents. The document that lands is what it gave, as JSON, with its version and its
   warnings: the provider's own bytes are not kept, and amounts have been binary fractions on their way. Every row is
   marked "via gpuhunt <version>" in `conditions`, and one of another version is another offer.
3. Each provider's class is asked directly. `gpuhunt.query` loads all published catalogues first, fails where one cannot
   be had, leaves out what lacks a key with a line in a log, and answers [] for an error. Here no offer with a chip is
   an error, with gpuhunt's own warnings in it.
4. What chipledger reads itself is never asked here, and with reason (`READ_HERE`): fractions of chips become whole ones
   of 4 GB (Vultr), a failed request moves region and tier of all that follow (RunPod), a whole disk is added to the
   price (Vast.ai), prices are constants in the code (Crusoe).
5. gpuhunt leaves out chips that it does not know, with a line in a log: that an offer is missing says nothing, so that
   a look is never complete.
6. It renames chips (RTX-PRO-6000 to RTXPRO6000). The provider's own name is the label where gpuhunt hands it on,
   followed by the memory of one chip.
7. It knows no currencies. Seeweb bills in euros, and its figures come as they are.
8. gpuhunt takes the first digits it finds in Seeweb's fields, so that -1.5 would be 1.5, and 1,98 and 0.00001 (whose
   text is 1e-05) would be 1: an answer with a negative number is refused, and one with such a price or count.
9. Daytona's prices are sums that gpuhunt makes for a sandbox of its own choice (1x-H100-8cpu-100gb-256gb), and its
   region, earth, is gpuhunt's: none. CloudRift's regions are its data centres.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from logging.handlers import BufferingHandler
from threading import Lock
from typing import Any, NamedTuple

from extract.base import Context, Source
from extract.neoclouds.answers import Fields, answer, errors_of, refusal
from extract.neoclouds.offers import Found, Unknown, each, offer, parser, plain, with_memory
from extract.web import strict_json
from extract.web.interface import Response, Web
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SourceError

NAME = "gpuhunt"
URL = "https://github.com/dstackai/gpuhunt"
OFF_BECAUSE = "gpuhunt minds no robots.txt; it needs the extra gpuhunt (`uv sync --extra gpuhunt`)"
INSTALL = "Install it with `uv sync --extra gpuhunt`"
SEEWEB_KEY = "SEEWEB_API_TOKEN"
SEARCHED = ("gpu", "hourly_price")
"""Fields of Seeweb's plans that a price per chip follows from."""
PLAIN = re.compile(r"\d+(\.\d+)?", re.ASCII)
PLACELESS = ("earth", "")


class Served(NamedTuple):
    """One provider that is asked: its name, its class in gpuhunt, the variable with its key, its currency."""

    provider: str
    class_name: str
    key: str = ""
    currency: str = "USD"


SERVED = {
    "cloudrift": Served("CloudRift", "CloudRiftProvider"),
    "daytona": Served("Daytona", "DaytonaProvider"),
    "seeweb": Served("Seeweb", "SeewebProvider", SEEWEB_KEY, "EUR"),
}
READ_HERE = (
    *("aws", "crusoe", "digitalocean", "hotaisle", "jarvislabs", "lambdalabs", "lium", "nebius", "runpod", "vastai"),
    *("verda", "vultr"),
)
"""Providers of gpuhunt that have a source of their own here, or that of AWS."""


@errors_of(NAME)
def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the providers that can be asked: without a key, or with the one they need; raise CredentialsMissing."""
    _installed()
    return tuple(name for name, served in SERVED.items() if not served.key or os.environ.get(served.key))


@errors_of(NAME)
def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at what gpuhunt says of one provider; raise CredentialsMissing, Unavailable or SourceError."""
    if scope not in SERVED:
        reason = "chipledger reads it itself" if scope in READ_HERE else "not one that gpuhunt reads here"
        hint = f"Allowed: {', '.join(SERVED)}"
        raise SourceError(reason, field="scope", value=scope, hint=hint)
    _installed()
    provider = _provider(scope)
    with _warnings(f"gpuhunt.providers.{scope}") as warnings:
        items = _offers(scope, provider, ctx.web)
    fields = {
        "gpuhunt": metadata.version("gpuhunt"),
        "provider": scope,
        "warnings": sorted({record.getMessage() for record in warnings}),
        "items": items,
    }
    try:
        body = json.dumps(fields, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise refusal(f"gpuhunt gave what is no number: {error}", "items", scope) from error
    document = Document(
        source=NAME,
        scope=scope,
        url=f"gpuhunt:{scope}",
        body=body,
        fetched_at=ctx.now(),
        content_type="application/json",
    )
    at = document.fetched_at
    return ScopeFetch(source=NAME, scope=scope, observed_at=at, complete=False, documents=(document,))


def _installed() -> None:
    if find_spec("gpuhunt") is None:
        raise CredentialsMissing("gpuhunt is not installed", field="extra", value=NAME, hint=INSTALL)


def _provider(scope: str) -> Any:
    """Return gpuhunt's own object for a provider, made by its class; the key comes from the environment."""
    served = SERVED[scope]
    if served.key and not os.environ.get(served.key):
        raise CredentialsMissing(
            f"{served.provider} answers with a key only",
            field=served.key,
            value="not set",
            hint=f"Set {served.key}",
        )
    try:
        made = getattr(import_module(f"gpuhunt.providers.{scope}"), served.class_name)
    except (ImportError, AttributeError) as error:
        hint = "This release of gpuhunt has no such provider; see which one chipledger was tested with"
        raise SourceError(f"gpuhunt is another: {error}", field="scope", value=scope, hint=hint) from error
    return getattr(made, "from_env", made)()


class _Requests:
    """What gpuhunt's providers use of requests, over our own web; whatever else they might, it has not."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def get(self, url: str, *, headers: Mapping[str, str] | None = None, timeout: float = 0) -> "_Answer":
        return _Answer(self._web.get(url, headers=headers or {}))

    def request(self, method: str, url: str, *, json: object, timeout: float = 0) -> "_Answer":
        if method != "POST":
            raise ValueError(f"gpuhunt used {method}")
        return _Answer(self._web.post(url, json=json))


class _Answer:
    """A good answer; for any other one our web raises."""

    ok = True

    def __init__(self, answer: Response) -> None:
        self._answer = answer

    def raise_for_status(self) -> None:
        """Do nothing."""

    def json(self) -> Any:
        content = strict_json.loads(self._answer.body, numbers=partial(_number, float), whole=partial(_number, int))
        plans = content.get("plans") if isinstance(content, dict) else None
        for plan in plans if isinstance(plans, list) else ():
            if isinstance(plan, dict):
                _check_plan(plan)
        return content


def _check_plan(plan: dict[str, Any]) -> None:
    """Raise ValueError for an amount that gpuhunt would read in part."""
    for name in SEARCHED:
        value = plan.get(name)
        if value is not None and not PLAIN.fullmatch(str(value).strip()):
            raise ValueError(f"{name} is no plain number: {value!s:.20}")


def _number(kind: type[int] | type[float], text: str) -> int | float:
    if text.startswith("-"):
        raise ValueError(f"a negative number: {text:.20}")
    return kind(text)


_turn = Lock()


@contextmanager
def _calls_through(web: Web, scope: str) -> Iterator[None]:
    """Let a provider of gpuhunt ask through our web; one at a time."""
    module: Any = import_module(f"gpuhunt.providers.{scope}")
    with _turn:
        real, module.requests = module.requests, _Requests(web)
        try:
            yield
        finally:
            module.requests = real


def _offers(scope: str, provider: Any, web: Web) -> list[dict[str, Any]]:
    """Return what a provider of gpuhunt gives; each way in which it fails is an error of ours."""
    try:
        with _calls_through(web, scope):
            return [asdict(item) for item in provider.get()]
    except SourceError as error:
        if error.field == "status" and error.value in (401, 403):
            message = f"{SERVED[scope].provider} answered HTTP {error.value}"
            hint = f"Check {SERVED[scope].key}" if SERVED[scope].key else "It may want a key now"
            raise CredentialsMissing(message, field="status", value=error.value, hint=hint) from error
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        hint = "This release of gpuhunt does not read this answer; install a newer one"
        message = f"gpuhunt could not read the answer: {error!r}"
        raise LayoutChanged(message, field="items", value=scope, hint=hint) from error


@contextmanager
def _warnings(logger: str) -> Iterator[list[logging.LogRecord]]:
    """Give the list that gpuhunt's warnings go to: they are all that it says of what it leaves out."""
    handler = BufferingHandler(sys.maxsize)
    handler.setLevel(logging.WARNING)
    logging.getLogger(logger).addHandler(handler)
    try:
        yield handler.buffer
    finally:
        logging.getLogger(logger).removeHandler(handler)


def read(document: Document) -> Iterator[Found]:
    """Yield the offers with chips that gpuhunt gave, and its warnings."""
    fields = answer(document)
    scope, conditions = fields.one_of("provider", SERVED), f"via gpuhunt {fields.text('gpuhunt')}"
    warnings = [f"gpuhunt says: {warning}" for warning in fields.texts("warnings")]
    has_offer = False

    def read_item(item: Fields) -> Iterator[Found]:
        item.only_money("price")
        if item.text("provider") != scope:
            raise item.form_changed("provider", f"expected {scope}")
        yield _row(SERVED[scope], item, conditions) if item.whole("gpu_count") else "without accelerators"

    for one in each(fields.objects("items"), read_item):
        has_offer |= not isinstance(one, str)
        yield one
    if not has_offer:
        raise refusal("; ".join([f"expected offers of {scope}, found none with a chip", *warnings]), "items", scope)
    yield from map(Unknown, warnings)


def _row(served: Served, item: Fields, conditions: str) -> Found:
    place = item.any("location")
    data = item.inner("provider_data")
    name = data.text("gpu_type") if "gpu_type" in data else item.text("gpu_name")
    memory = item.number_or_none("gpu_memory")
    return offer(
        with_memory(name, plain(memory)) if memory else name,
        item.number("price"),
        count=item.whole("gpu_count"),
        instance_type=item.text("instance_name"),
        option="spot" if item.flag("spot") else "on_demand",
        currency=served.currency,
        conditions=conditions,
        region_id=None if place in PLACELESS else item.text("location"),
        service_provider_name=served.provider,
    )


SOURCE = Source(
    name=NAME,
    provider="several",
    title="Providers of the long tail, through gpuhunt",
    url=URL,
    terms_url=URL,
    max_age=timedelta(days=3),
    scopes=scopes,
    fetch=fetch,
    parse=parser(NAME, "several", read),
    off_because=OFF_BECAUSE,
    credentials=f"none, or `{SEEWEB_KEY}`",
)
