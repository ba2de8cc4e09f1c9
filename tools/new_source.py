"""Write the module, fixture, case, expected rows and registry line of a new provider from one saved answer.

`chipledger new-source` runs it; docs/adding-a-provider.md explains it. A value that the answer does not give becomes
`todo("question")`, and the source refuses to work while one is left: nothing is guessed but names of fields, which
the written module shows and a person checks.
"""

import json
import keyword
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import jinja2

from extract.neoclouds import offers, pages
from extract.neoclouds.answers import MONEY_WORD, Digits
from extract.web import strict_json
from warehouse.documents import Document
from warehouse.errors import LayoutChanged, SettingsError

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 64 << 10
"""Of a fixture; a longer answer is shortened by hand first, as it stays in the repository."""
PLAIN_KEY = re.compile(r"[\w$@. -]{1,60}")
"""Names of JSON fields that are written into code; items with others are not read."""
UNSAFE = re.compile(r"[^\w `.,:;@$%()/+*#&=?~'-]")
"""Characters that a docstring could not hold as they are."""
NUMBER = re.compile(r"\d{1,12}(\.\d{1,20})?")
LABELS = (
    r"(gpu|accelerator|chip)_?(model|name|type)$",
    r"(gpu|accelerator|chip)$",
    r"model$",
    r"name$",
    r"instance_?type$|plan$|sku$|type$",
)
COUNTS = (
    r"(gpu|accelerator|chip)s?_?(count|num|number|quantity|qty)$|(count|num|n|number)_?(of_)?(gpu|accelerator|chip)s?$",
    r"(gpus|chips|accelerators)$",
    r"(count|quantity|qty)$",
)
MEMORIES = (r"vram(_?gb|_?gib)?$|gpu_?(memory|mem|ram)(_?gb|_?gib)?$",)
REGIONS = (r"region(_?(id|name|code))?$|location$|data_?cent(er|re)$",)
SPECIAL_PRICE = re.compile(r"spot|preempt|reserv|commit|month|year|annual|setup|storage|discount|min|max|total", re.I)
HOUR = re.compile(r"hour|hr|_h$|/ ?h\b", re.I)
CHIP = re.compile(r"(per|/)[ _]?(gpu|chip|accelerator)|(gpu|chip)[ _/-]?(price|cost|rate|hour|hr)", re.I)
MACHINE = re.compile(r"(per|/)[ _]?(instance|node|machine|server)|(instance|node|machine)[ _/-]?(price|hour|hr)", re.I)


Key = tuple[str, ...]
"""The path of a JSON field, or the one name of a column of a table."""
Columns = dict[Key, list[Any]]


@dataclass(kw_only=True)
class Draft:
    """What an answer shows: values for the templates, the questions left, and texts to edit in the case."""

    values: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    quirks: list[str] = field(default_factory=list)
    renamed: list[str] = field(default_factory=list)
    inserted: list[tuple[str, str]] = field(default_factory=list)
    swapped: list[tuple[str, str]] = field(default_factory=list)
    harmless: list[tuple[str, str]] = field(default_factory=list)


def make(
    name: str, answer: tuple[bytes, str] | None, *, url: str | None, provider: str | None, terms: str | None
) -> tuple[list[str], dict[str, str]]:
    """Write a source from an answer and its address; without one the expected rows of a source that exists.

    Returns the paths below the checkout, and what is left to fill in.
    """
    if answer is None:
        paths = [write_rows(name)]
    else:
        body, address = answer
        paths = write(name, body, url=url or address, provider=provider or "", terms=terms or "")
    return [str(path.relative_to(ROOT)) for path in paths], questions(name)


def write(name: str, body: bytes, *, url: str = "", provider: str = "", terms: str = "") -> list[Path]:
    """Write the files of a new source, and return their paths; the expected rows only where nothing is left to fill in.

    Raises SettingsError where the name is not free or the answer has no list or table with a price.
    """
    paths = _paths(name)
    if not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise SettingsError("expected a name of small letters and digits", field="NAME", value=name)
    if paths["module"].exists():
        hint = "Choose another name, or add --rows to write its expected rows again"
        raise SettingsError("this source exists already", field="NAME", value=name, hint=hint)
    text = _text(body)
    is_json = not text.lstrip().startswith("<")
    draft = _json_draft(text) if is_json else _html_draft(text)
    fixture = paths["fixtures"] / f"{name}.{'json' if is_json else 'html'}"
    constants = {
        "PROVIDER": _or_todo(provider, "the provider's name, as its site writes it"),
        "URL": _or_todo(url, "the https address of this answer"),
        "TERMS_URL": _or_todo(terms, "the https address of the provider's terms: do they and robots.txt allow this?"),
    }
    _reorder_facts(draft)
    values = draft.values | {
        "name": name,
        "module": paths["module"].stem,
        "is_json": is_json,
        "constants": constants,
        "facts": draft.facts,
        "quirks": [UNSAFE.sub("", quirk) for quirk in draft.quirks],
        "provider_text": UNSAFE.sub("", provider) or name,
        "url": UNSAFE.sub("", url),
        "terms": UNSAFE.sub("", terms),
        "today": f"{datetime.now(UTC):%Y-%m-%d}",
        "fixture": fixture.name,
        "origin": json.dumps(f"{url or 'a saved answer'}, {datetime.now(UTC):%Y-%m-%d}"),
        "renamed": _tuple(draft.renamed),
        "inserted": _tuple(draft.inserted),
        "swapped": _tuple(draft.swapped),
        "harmless": _tuple(draft.harmless),
    }
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Python, not HTML
        keep_trailing_newline=True,
    )
    paths["module"].write_text(templates.get_template("source.py.jinja").render(values), encoding="utf-8")
    paths["case"].write_text(templates.get_template("case.py.jinja").render(values), encoding="utf-8")
    fixture.write_bytes(body)
    _register(paths["registry"], paths["module"].stem)
    _format(paths["module"], paths["case"])
    written = [paths["module"], fixture, paths["case"], paths["registry"]]
    return written if questions(name) else [*written, write_rows(name)]


def write_rows(name: str) -> Path:
    """Write the expected rows of a source as its `parse` gives them; raise LayoutChanged where it refuses."""
    paths = _paths(name)
    try:
        source = import_module(f"extract.neoclouds.{paths['module'].stem}").SOURCE
    except (ModuleNotFoundError, AttributeError):
        raise SettingsError("no such source", field="NAME", value=name, hint="Leave out --rows to write one") from None
    fixtures = [path for path in paths["fixtures"].glob(f"{name}.*") if ".expected" not in path.name]
    if len(fixtures) != 1:
        raise SettingsError("expected one fixture", field="NAME", value=[path.name for path in fixtures])
    document = Document(
        source=name, scope="all", url=source.url, body=fixtures[0].read_bytes(), fetched_at=datetime.now(UTC)
    )
    rows = [
        {column: value for column, value in row.items() if value is not None}
        for row in source.parse(document).rows.iter_rows(named=True)
    ]
    lines = ",\n".join(f" {json.dumps(row, ensure_ascii=False)}" for row in rows)
    _format(paths["module"], paths["case"])
    path = paths["fixtures"] / f"{name}.expected.json"
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return path


def questions(name: str) -> dict[str, str]:
    """Return what is left to fill in in the module of a source, by the name of the constant."""
    module = import_module(f"extract.neoclouds.{_paths(name)['module'].stem}")
    return {key: str(value) for key, value in vars(module).items() if type(value).__name__ == "Todo"}


def _paths(name: str) -> dict[str, Path]:
    module = f"{name}_" if keyword.iskeyword(name) else name
    return {
        "module": ROOT / "extract" / "neoclouds" / f"{module}.py",
        "registry": ROOT / "extract" / "neoclouds" / "__init__.py",
        "case": ROOT / "tests" / "neoclouds" / "cases" / f"{module}.py",
        "fixtures": ROOT / "tests" / "neoclouds" / "fixtures",
    }


def _text(body: bytes) -> str:
    if len(body) > MAX_BYTES:
        hint = "Save it, keep a few items of each kind, and give the file"
        raise SettingsError(f"the answer has more than {MAX_BYTES} bytes", field="ANSWER", value=len(body), hint=hint)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"the answer is not UTF-8: {error.reason}", field="ANSWER", value=body[:40]) from error


def _or_todo(value: str, question: str) -> str:
    return json.dumps(value, ensure_ascii=False) if value else f"todo({json.dumps(question, ensure_ascii=False)})"


def _todo(question: str) -> str:
    return _or_todo("", question)


def _tuple(items: list[Any]) -> str:
    return repr(tuple(items))


def _reorder_facts(draft: Draft) -> None:
    """Put UNIT first: other constants are computed from it."""
    draft.facts = dict(sorted(draft.facts.items(), key=lambda fact: fact[0] != "UNIT"))


def _unit(text: str) -> str:
    """Return what a price is of, as far as a text names both chip or machine and the hour; empty where it does not."""
    if not HOUR.search(text):
        return ""
    of_chip, of_machine = CHIP.search(text), MACHINE.search(text)
    if bool(of_chip) == bool(of_machine):
        return ""
    return "chip-hour" if of_chip else "machine-hour"


def _option(text: str) -> str:
    found = [name for name, form in (("on_demand", r"on[ _-]?demand"), ("spot", "spot")) if re.search(form, text, re.I)]
    return found[0] if len(found) == 1 else ""


def _decide(draft: Draft, price: str, texts: str, *, has_count: bool, currency: str) -> None:
    """Add unit, option and currency: a value where the texts name it, else a question."""
    unit = _unit(texts)
    draft.values |= {"unit": unit, "currency": "CURRENCY"}
    question = f"is {price} of one chip or of the machine, and of an hour? chip-hour or machine-hour; convert another"
    draft.facts["UNIT"] = _or_todo(unit, question)
    if not has_count and unit != "chip-hour":
        draft.facts["CHIPS"] = _todo("no number of chips was found: 1 for a price of one chip, else read it in _rows")
    draft.facts["OPTION"] = _or_todo(_option(texts), "on_demand, spot or reserved? the answer does not say")
    draft.facts["CURRENCY"] = _or_todo(currency, "the ISO code, such as USD: the answer names no currency")


# --- JSON


def _json_draft(text: str) -> Draft:
    try:
        content = strict_json.loads(text.encode(), numbers=Digits)
    except ValueError as error:
        raise SettingsError(f"neither JSON nor HTML: {error}", field="ANSWER", value=text[:60]) from error
    path, items = max(_lists(content, ()), key=lambda found: len(found[1]), default=((), []))
    columns = _columns(items)
    amounts = {key: values for key, values in columns.items() if _is_amount(key, values)}
    if not amounts:
        raise SettingsError("found no list of objects with a price", field="ANSWER", value=text[:60])
    draft = Draft()
    plain = [key for key in amounts if not SPECIAL_PRICE.search("_".join(key))]
    hourly = [key for key in plain if HOUR.search("_".join(key))]
    price = (hourly or plain or list(amounts))[0]
    used = [price]
    label, count, memory, region = (
        _pick(columns, forms, test, used)
        for forms, test in (
            (LABELS, _is_name),
            (COUNTS, _is_whole),
            (MEMORIES, _is_memory),
            (REGIONS, _is_name),
        )
    )
    draft.values |= {
        "path": path,
        "price": _amount(price, columns[price]),
        "price_name": ".".join(price),
        "nullable": any(value is None for value in columns[price]),
        "count": _get(count, "whole"),
        "count_name": ".".join(count),
        "region": _get(region, "text"),
        "memory": "",
        "heading": "",
        "cents": bool(re.search("cents?$|_cents?_", price[-1], re.I)),
        "label": "LABEL",
        "total": "",
        "top_known": [],
        "item_currency": "",
    }
    if label:
        draft.values["label"] = _get(label, "text")
        if memory:
            is_number = isinstance(columns[memory][0], Digits)
            name, size = _get(label, "text", quote="'"), _get(memory, "whole" if is_number else "text", quote="'")
            draft.values["label"] = f'f"{{{name}}} {{{size}}}{"GB" if is_number else ""}"'
    else:
        draft.facts["LABEL"] = _todo("no field with the name of the chip was found: read it in _rows")
    top = {key: value for key, value in content.items() if PLAIN_KEY.fullmatch(key)} if path else {}
    _json_currency(draft, columns, top, price)
    draft.values["money"] = _money(columns, price, draft)
    totals = [key for key, value in top.items() if re.search(r"total|count", key, re.I) and value == str(len(items))]
    draft.values["total"] = totals[0] if totals and isinstance(top[totals[0]], Digits) else ""
    if more := [key for key in top if re.search(r"next|page|cursor|has_more|offset", key, re.I)]:
        draft.facts["PAGES"] = _todo(f"is this one page of several? see {', '.join(more)}; then use pages=")
    read = [key for key in (price, label, count, memory, region) if key]
    used_names = {key[-1] for key in read} | set(path) | {draft.values["total"], draft.values["item_currency"]}
    draft.quirks = [f"The offers are the items of `{'.'.join(path) or 'the answer'}`; a price is `{'.'.join(price)}`."]
    unread = [".".join(key) for key in columns if key[-1] not in used_names]
    draft.quirks += [f"Not read: {', '.join(f'`{name}`' for name in unread)}."] if unread else []
    _ambiguous(
        draft,
        [tuple(columns[key][row] for key in (label, count, memory, region) if key) for row in range(len(items))],
        columns[price],
        unread,
    )
    draft.renamed = [f'"{key}"' for key in dict.fromkeys([*path, *(part for key in read for part in key)])]
    draft.renamed += [f'"{key}"' for key in (draft.values["total"], draft.values["item_currency"]) if key]
    first = _key_text(text, price[0])
    draft.inserted = [(first, f'"zz_price_usd": "0.01", {first}')]
    draft.harmless = [(first, f'"zz_note": "x", {first}')]
    draft.swapped = [(f'"{price[-1]}"', f'"{label[-1]}"')] if label else []
    return draft


def _lists(value: object, path: Key) -> Iterator[tuple[Key, list[dict[str, Any]]]]:
    """Yield each list of objects in which a field is about money, with its path; lists in lists are left out."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        if any(_is_amount(key, values) for key, values in _columns(value).items()):
            yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if PLAIN_KEY.fullmatch(key):
                yield from _lists(inner, (*path, key))


def _columns(items: list[dict[str, Any]]) -> Columns:
    """Return the values of each field that every item has, by its path."""
    flat = [dict(_flat(item, ())) for item in items]
    return {key: [one[key] for one in flat] for key in (flat[0] if flat else {}) if all(key in one for one in flat)}


def _flat(item: dict[str, Any], path: Key) -> Iterator[tuple[Key, Any]]:
    for key, value in item.items():
        if not PLAIN_KEY.fullmatch(key):
            continue  # it would become code
        if isinstance(value, dict):
            yield from _flat(value, (*path, key))
        else:
            yield (*path, key), value


def _is_amount(key: Key, values: list[Any]) -> bool:
    """Return whether a field is about money and has numbers of one form, or null."""
    found = [value for value in values if value is not None]
    forms = {type(value) for value in found}
    return (
        any(MONEY_WORD.search(part) for part in key)
        and forms in ({Digits}, {str})
        and all(NUMBER.fullmatch(value) for value in found)
        and (forms == {Digits} or len(found) == len(values))
    )


def _is_name(values: list[Any]) -> bool:
    return all(isinstance(value, str) and not isinstance(value, Digits) and value.strip() for value in values)


def _is_whole(values: list[Any]) -> bool:
    return all(isinstance(value, Digits) and re.fullmatch(r"[1-9]\d{0,3}", value) for value in values)


def _is_memory(values: list[Any]) -> bool:
    return _is_whole(values) or (_is_name(values) and all(re.fullmatch(r"\d+ ?Gi?B", value) for value in values))


def _pick(columns: Columns, forms: tuple[str, ...], test: Any, used: list[Any]) -> Key:
    """Return the first field whose name fits one of the forms, the first forms first; empty where none does."""
    for form in forms:
        for key, values in columns.items():
            if key not in used and re.search(form, "_".join(key), re.I) and test(values):
                used.append(key)
                return key
    return ()


def _get(key: Key, method: str, *, quote: str = '"') -> str:
    inner = "".join(f".inner({quote}{part}{quote})" for part in key[:-1])
    return f"item{inner}.{method}({quote}{key[-1]}{quote})" if key else ""


def _amount(key: Key, values: list[Any]) -> str:
    is_text = not any(isinstance(value, Digits) for value in values)
    return _get(key, "in_text" if is_text else "number_or_none" if None in values else "number")


def _money(columns: Columns, price: Key, draft: Draft) -> list[tuple[str, list[str]]]:
    """Return the fields about money that are known, by the object that has them; ask what the others are of."""
    others = [key for key in columns if key != price and any(MONEY_WORD.search(part) for part in key)]
    others = [key for key in others if not any(isinstance(value, list | bool) for value in columns[key])]
    others = [key for key in others if key[-1] != draft.values["item_currency"].rpartition(".")[2]]
    if others:
        names = ", ".join(".".join(key) for key in others)
        draft.facts["OTHER_MONEY"] = _todo(
            f"read {names} in _rows too, or put their names here as a tuple: what are they of?"
        )
    known = []
    for depth in range(len(price)):
        inner = "".join(f'.inner("{part}")' for part in price[:depth])
        known.append((inner, [price[depth]] if MONEY_WORD.search(price[depth]) else []))
    return known


def _json_currency(draft: Draft, columns: Columns, top: dict[str, Any], price: Key) -> None:
    """Find the currency: in a field of the items, of the answer, or in the name of the price; else ask."""
    name = "_".join(price)
    named = next((code for code in ("USD", "EUR") if re.search(rf"(^|_){code}(_|$)", name, re.I)), "")
    here = [key for key in columns if len(key) == 1 and key[0].lower() == "currency" and _is_name(columns[key])]
    above = [key for key in top if key.lower() == "currency" and isinstance(top[key], str)]
    texts = " ".join(price)
    _decide(
        draft,
        ".".join(price),
        texts,
        has_count=bool(draft.values["count"]),
        currency=top[above[0]].upper() if above else named,
    )
    draft.values["top_known"] = above
    if here:
        draft.values |= {"item_currency": here[0][0], "currency": "currency"}
        del draft.facts["CURRENCY"]
        draft.facts["CURRENCIES"] = _tuple(sorted({value.upper() for value in columns[here[0]]}))


def _key_text(text: str, key: str) -> str:
    found = re.search(rf'"{re.escape(key)}"\s*:', text)
    return found[0] if found else f'"{key}"'


def _ambiguous(draft: Draft, offers: list[tuple[Any, ...]], prices: list[Any], unread: list[str]) -> None:
    """Ask what distinguishes two offers where all that is read of them is equal, and their prices differ."""
    seen: dict[tuple[Any, ...], Any] = {}
    for offer, price in zip(offers, prices, strict=True):
        if seen.setdefault(offer, price) != price:
            names = ", ".join(unread) or "nothing else"
            draft.facts["OFFERS"] = _todo(
                f"{' '.join(map(str, offer))} has two prices: which of {names} distinguishes them?"
            )
            return


# --- HTML


class _AnyUnit(tuple[str, ...]):
    """Units of a price before they are known."""

    def __contains__(self, unit: object) -> bool:
        return True


def _html_draft(text: str) -> Draft:
    document = Document(source="ANSWER", scope="all", url="", body=text.encode(), fetched_at=datetime.now(UTC))
    page = pages.Page(document)
    for node in page.whole().css("table"):
        rows = [[pages.text_of(cell) for cell in row.css("th, td")] for row in node.css("tr")]
        rows = [row for row in rows if row]
        if len(rows) > 1 and len(set(rows[0])) == len(rows[0]) and all(len(row) == len(rows[0]) for row in rows):
            columns = {(name,): [row[place] for row in rows[1:]] for place, name in enumerate(rows[0])}
            priced = [key for key, cells in columns.items() if _prices(cells)]
            if priced:
                return _table_draft(text, page, node, columns, priced)
    raise SettingsError("found no table with a header row and a column of prices", field="ANSWER", value=text[:60])


def _prices(cells: list[str]) -> list[offers.ShownPrice]:
    """Return the prices of a column; empty where a cell is neither a price nor a text for none, or none has a price."""
    try:
        found = [offers.shown_price(cell, "", units=_AnyUnit(), symbol=False) for cell in cells]
    except LayoutChanged:
        return []
    is_money = any(
        price.amount is not None and (price.currency or price.unit or "." in cell)
        for price, cell in zip(found, cells, strict=True)
    )
    return found if is_money else []


def _table_draft(text: str, page: pages.Page, node: Any, columns: Columns, priced: list[Key]) -> Draft:
    draft = Draft()
    plain = [key for key in priced if not SPECIAL_PRICE.search(key[0])]
    price = (plain or priced)[0]
    prices = [one for one in _prices(columns[price]) if one.amount is not None]
    used = [*priced]
    table = {(re.sub(r"\W+", "_", key[0].lower()).strip("_"),): values for key, values in columns.items()}
    original = dict(zip(table, columns, strict=True))
    used = [key for key, name in original.items() if name in priced]
    label, count, memory, region = (
        original.get(_pick(table, forms, test, used), ())
        for forms, test in (
            (LABELS, _has_letters),
            (COUNTS, _is_count),
            (MEMORIES, _is_memory),
            (REGIONS, _is_name),
        )
    )
    heading = _heading(page, node)
    units = sorted({one.unit for one in prices})
    currencies = {one.currency for one in prices}
    code = re.search(r"USD|EUR|\$|\N{EURO SIGN}", price[0])
    named = offers.CURRENCIES[code[0]] if code else ""
    has_symbol = "" not in currencies
    texts = " ".join([price[0], heading, *re.findall(r"(?:/|per ).*", " ".join(columns[price]))])
    draft.values |= {
        "heading": heading,
        "has_symbol": has_symbol,
        "price": "",
        "price_name": price[0],
        "nullable": True,
        "cents": False,
        "count": count[0] if count else "",
        "count_name": "",
        "memory": memory[0] if memory else "",
        "region": "item[REGION]" if region else "",
        "path": (),
        "total": "",
        "top_known": [],
        "item_currency": "",
        "money": [],
        "label": 'f"{item[LABEL]} {item[MEMORY]}"' if memory else "item[LABEL]",
    }
    draft.facts |= {"HEADING": json.dumps(heading)} if heading else {}
    draft.facts["COLUMNS"] = _tuple([key[0] for key in columns])
    draft.facts["LABEL"] = _or_todo(label[0] if label else "", "which column names the chip?")
    draft.facts["PRICE"] = json.dumps(price[0], ensure_ascii=False)
    draft.facts |= {
        name: json.dumps(key[0]) for name, key in (("COUNT", count), ("MEMORY", memory), ("REGION", region)) if key
    }
    _decide(draft, f"the column {price[0]}", texts, has_count=bool(count), currency=named if not has_symbol else "-")
    if has_symbol:
        draft.values["currency"] = "price.currency"
        del draft.facts["CURRENCY"]
    draft.facts["UNITS"] = _tuple(units)
    if not heading and len(page.whole().css("table")) != 1:
        draft.facts["TABLE"] = _todo(
            "the page has several tables, and no heading for this one alone: choose it in parse"
        )
    if others := [key[0] for key in priced if key != price]:
        draft.facts["OTHER_PRICES"] = _todo(
            f"read {', '.join(others)} in _rows too, or delete this line: what are they of?"
        )
    if any(cell.rstrip().endswith("*") for cell in columns[price]):
        draft.facts["FOOTNOTE"] = _todo("prices have footnote marks: read the note, then drop noted=False")
    read = [key[0] for key in (price, label, count, memory, region) if key]
    unread = [key[0] for key in columns if key[0] not in read]
    draft.quirks = [
        f"The offers are the rows of the table{f' below {heading!r}' if heading else ''}; a price is in {price[0]!r}."
    ]
    draft.quirks += [f"Not read: {', '.join(unread)}."] if unread else []
    keys = [key for key in (label, count, memory, region) if key]
    priced_rows = list(zip(*(columns[key] for key in keys), strict=True)) if keys else [() for _ in columns[price]]
    _ambiguous(draft, priced_rows, columns[price], unread)
    _table_edits(draft, text, read, heading)
    return draft


def _table_edits(draft: Draft, text: str, read: list[str], heading: str) -> None:
    """Add the edits of the case, each by the page's own text."""
    shown = {name: found[0] for name in (*read, heading) if name and (found := _shown(text, name))}
    draft.renamed = list(shown.values())
    cell = re.search(rf"<t[hd][^>]*>\s*{re.escape(read[0])}\s*</t[hd]>", text)
    draft.inserted = [(cell[0], f"<th>Other price</th>{cell[0]}")] if cell else [("<tr>", "<tr><td>$0.01</td>")]
    if len(read) > 1 and read[0] in shown and read[1] in shown:
        draft.swapped = [(shown[read[0]], shown[read[1]])]
    draft.harmless = [("</tr>", "</tr>\n  ")]


def _shown(text: str, name: str) -> re.Match[str] | None:
    """Return where a page shows a text as the whole text of an element."""
    return re.search(rf">\s*{re.escape(name)}\s*<", text)


def _heading(page: pages.Page, node: Any) -> str:
    """Return the nearest heading above a table that is unique and has no other table below it; empty: none."""
    nodes = page.whole().nodes
    place = next(at for at, one in enumerate(nodes) if one.mem_id == node.mem_id)
    for one in reversed(nodes[:place]):
        text = pages.text_of(one)
        if one.tag in pages.HEADINGS and text:
            try:
                found = page.part(text).css("table")
            except LayoutChanged:
                continue
            if [each.mem_id for each in found] == [node.mem_id]:
                return text
    return ""


def _has_letters(values: list[Any]) -> bool:
    return all(re.search("[A-Za-z]", value) for value in values)


def _is_count(values: list[Any]) -> bool:
    return all(re.fullmatch(r"[1-9]\d{0,3} ?[x\N{MULTIPLICATION SIGN}]?", value) for value in values)


# --- files


def _register(path: Path, module: str) -> None:
    """Add a module to the end of MODULES: the last precedence among the providers."""
    text = path.read_text(encoding="utf-8")
    end = text.index('\n"""\n', text.index("MODULES = "))
    path.write_text(f"{text[:end]}\n{module}{text[end:]}", encoding="utf-8")


def _format(*paths: Path) -> None:
    """Format the files, without the imports that they do not need."""
    ruff = [sys.executable, "-m", "ruff"]
    files = [str(path) for path in paths]
    subprocess.run([*ruff, "check", "--quiet", "--fix", "--select", "F401,I", *files], check=True, cwd=ROOT)
    subprocess.run([*ruff, "format", "--quiet", *files], check=True, cwd=ROOT)
