"""What the sources of AWS share in `parse`: values of a document or LayoutChanged, and prices as observations."""

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from extract.base import Parsed, observation_frame
from extract.web import strict_json, strict_xml
from warehouse.errors import LayoutChanged
from warehouse.schema.tables import IDENTITY, OBSERVATION

if TYPE_CHECKING:
    import polars as pl

MAX_BYTES = 1 << 30
"""Of a document after decompression; no region's whole file is half as large."""
BLANK = b"\xef\xbb\xbf \t\r\n"
REGION = r"^([a-z]+(?:-[a-z]+)+?-\d)"
"""The region in the name of a zone, for saved answers that are read without their scope."""
GZIP_MAGIC = b"\x1f\x8b"
ULTRASERVER_PREFIX = "u-"
NO_KNOWN_PRICES = "the prices of earlier fetches cannot be read"
"""Said where a source has such fetches: whether an answer lacks some of their offers nobody can tell then."""
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?")


@dataclass(frozen=True)
class Layout:
    """Reads the values of one source's documents; each method raises LayoutChanged where one is of another kind."""

    source: str

    def refusal(self, message: str, value: object, field: str = "body") -> LayoutChanged:
        """Return the error for a document that is not as it should be; of bytes it shows the start."""
        shown = value[:80].decode("utf-8", "replace") if isinstance(value, bytes) else value
        hint = f"Check the document; a new layout needs a new version of the source {self.source}"
        return LayoutChanged(message, source=self.source, field=field, value=shown, hint=hint)

    def plain(self, body: bytes) -> tuple[bytes, bytes]:
        """Return a document after decompression, and its first character; neither HTML nor nothing."""
        if body.startswith(GZIP_MAGIC):
            inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                body = inflate.decompress(body, MAX_BYTES)
            except zlib.error as error:
                raise self.refusal(f"the gzip is damaged: {error}", body) from error
            if not inflate.eof or inflate.unused_data:
                raise self.refusal(f"the gzip is cut short, goes on after its end or exceeds {MAX_BYTES} bytes", body)
        start = body[:1024].lstrip(BLANK)[:1]
        if start in (b"", b"<"):
            raise self.refusal(f"expected prices, found {'HTML' if start else 'nothing'}", body)
        return body, start

    def json(
        self, raw: bytes | str, name: str = "the document", *, numbers: Callable[[str], Any] | None = None
    ) -> object:
        """Return JSON; `name` is what an error calls it, `numbers` makes values of numbers."""
        try:
            return strict_json.loads(raw, numbers=numbers)
        except ValueError as error:
            raise self.refusal(f"{name} is not JSON: {error}", raw[:80]) from error

    def answer(self, body: bytes, name: str, *, numbers: Callable[[str], Any] | None = None) -> Mapping[str, object]:
        """Return an answer of AWS; a list alone, as the CLI's `--query` of a name leaves it, under that name."""
        content = self.json(body, numbers=numbers)
        return self.mapping({name: content} if content and isinstance(content, list) else content, "body")

    def xml(self, body: bytes) -> Element:
        """Return the root of an XML document, its tags without namespaces."""
        try:
            root = strict_xml.root(body)
        except ValueError as error:
            raise self.refusal(f"the XML is damaged: {error}", body) from error
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        return root

    def child(self, item: Element, name: str) -> str | None:
        """Return the text of a child of an XML element; None where there is none."""
        found = item.findall(name)
        if len(found) > 1 or any(map(len, found)):
            raise self.refusal(f"{name} occurs twice, or is no text", name)
        return found[0].text or "" if found else None

    def mapping(self, value: object, field: str) -> Mapping[str, object]:
        """Return an object."""
        if not isinstance(value, dict):
            raise self.refusal("expected an object", value, field)
        return value

    def listed(self, value: object, field: str) -> Sequence[Mapping[str, object]]:
        """Return a list of objects."""
        if not isinstance(value, list):
            raise self.refusal("expected a list", value, field)
        return [self.mapping(each, field) for each in value]

    def text(self, entry: Mapping[str, object], name: str) -> str:
        """Return a text that is there and not empty."""
        return self.optional(entry, name) or self._no_text(entry, name)

    def optional(self, entry: Mapping[str, object], name: str) -> str | None:
        """Return a text; None where there is none or an empty one."""
        value = entry.get(name)
        return value or None if value is None or isinstance(value, str) else self._no_text(entry, name)

    def _no_text(self, entry: Mapping[str, object], name: str) -> str:
        raise self.refusal("expected text", entry.get(name), name)


def plain_number(text: str) -> str:
    """Return a number without exponent or needless zeros; any other text as it is, for the row gate to refuse."""
    if not _NUMBER.fullmatch(text):
        return text
    plain = format(Decimal(text), "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain


def offer(instance_type: str | None, purchase_option: str, **others: object) -> dict[str, object]:
    """Return one price of a machine or UltraServer as an observation; `others` are further columns of it."""
    return {
        "service_provider_name": "AWS",
        "instance_type": instance_type,
        "capacity_unit": "UltraServer" if (instance_type or "").startswith(ULTRASERVER_PREFIX) else "instance",
        "purchase_option": purchase_option,
        "statistic": "price",
        "unit_price_type": "List",
    } | others


def parsed(
    rows: Iterable[Mapping[str, object]] = (),
    *,
    doubtful: Iterable[Mapping[str, object]] = (),
    sort: Iterable[str] = OBSERVATION,
    ignored: Mapping[str, int] | None = None,
    unknown: Iterable[str] = (),
    facts: "Mapping[str, pl.DataFrame] | None" = None,
) -> Parsed:
    """Return what a document says: its observations in the order of some columns, the rest in that of their names.

    `doubtful` ones have values that no rule covers: of an offer without another row the row gate refuses them, so that
    the offer does not end.
    """
    found, others = list(rows), list(doubtful)
    if others:
        sure = {tuple(row.get(name) for name in IDENTITY) for row in found}
        found += [row for row in others if tuple(row.get(name) for name in IDENTITY) not in sure]
    return Parsed(
        rows=observation_frame(found).sort(sort, nulls_last=True),
        ignored={name: count for name, count in sorted((ignored or {}).items()) if count},
        unknown=tuple(sorted(unknown)),
        facts=facts or {},
    )
