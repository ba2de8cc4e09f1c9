"""Documents of either door and any age, told apart by their content, as observations."""

import zlib

from extract.aws.price_list import offer_csv, offer_json
from extract.aws.price_list.rules import SOURCE_NAME, observations
from extract.base import Parsed
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

GZIP_MAGIC = b"\x1f\x8b"
MAX_BYTES = 1 << 30
"""No region's whole file is half as large."""


def parse(document: Document) -> Parsed:
    """Return the prices of a document; raise LayoutChanged where any part of it is not as it should be."""
    body = _plain(document.body)
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"<":
        raise _refusal("expected a price list, found HTML", body)
    if start == b"":
        raise _refusal("the document is empty", body)
    prices = offer_json.prices(body) if start in b"{[" else offer_csv.prices(body, url=document.url)
    return observations(prices, scope=document.scope)


def _plain(body: bytes) -> bytes:
    if not body.startswith(GZIP_MAGIC):
        return body
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        plain = inflate.decompress(body, MAX_BYTES)
    except zlib.error as error:
        raise _refusal(f"the gzip is damaged: {error}", body) from error
    if not inflate.eof or inflate.unused_data:
        raise _refusal(f"the gzip is cut short, goes on after its end, or exceeds {MAX_BYTES} bytes", body)
    return plain


def _refusal(message: str, body: bytes) -> LayoutChanged:
    value = body[:80].decode("utf-8", "replace")
    return LayoutChanged(message, source=SOURCE_NAME, field="body", value=value, hint="Check the landed document")
