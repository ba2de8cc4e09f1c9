"""Changes of XML and HTML by their structure: elements dropped, renamed, doubled, nested, entities put in."""

import random
import re
from collections.abc import Mapping

from fuzz.mutants import BLIND, ODD_NUMBERS, ODD_TEXTS, OTHER_WORDS, TWICE, Change, Mutant, tokens

TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)([^<>]*?)(/?)>")
TEXT = re.compile(r">([^<>]*[^<>\s][^<>]*)<")
LEAF = re.compile(r"<([A-Za-z][\w:.-]*)([^<>]*)>([^<>]*)</\1>")
ATTRIBUTE = re.compile(r"\s([\w:-]+)=(\"[^\"]*\"|'[^']*')")
NUMBER = re.compile(r"\s*[$\u20ac]?\d[\d.,]*\s*")
ENTITIES = ("&amp;", "&#48;", "&#x2e;", "&nbsp;", "&zzz;", "&", "&#0;", "&#xD800;", "&lt;", "&#x110000;")
DTD = (
    '<!DOCTYPE x [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;">'
    '<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;">]>',
    '<!DOCTYPE x SYSTEM "file:///etc/passwd">', '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
)  # fmt: skip
CODES = ("utf-16", "utf-7", "shift_jis", "gb18030", "zzz", "latin-1", "ascii", "cp037", "big5", "utf-8-sig", "")


def of_markup(text: str) -> Mapping[str, Change]:
    """Return the changes of a page, or of an answer in XML."""
    tags = list(TAG.finditer(text))
    texts = list(TEXT.finditer(text))
    leaves = list(LEAF.finditer(text))
    numbers = [match for match in texts if NUMBER.fullmatch(match[1])]
    attributes = list(ATTRIBUTE.finditer(text))
    units = [match for match in texts if match[1].strip().casefold() in OTHER_WORDS]

    def made(kind: str, start: int, end: int, new: str, *, put: tuple[str, ...] | None = None, judged: str = "plain",
             taken: tuple[str, ...] | None = None) -> Mutant:  # fmt: skip
        whole = (text[:start] + new + text[end:]).encode("utf-8", "surrogatepass")
        at = len(text[:start].encode("utf-8", "surrogatepass"))
        size = len(new.encode("utf-8", "surrogatepass"))
        before = text.encode("utf-8", "surrogatepass")
        return Mutant(
            kind=f"markup: {kind}", body=whole, judged=judged,
            put=(new, *tokens(whole, at, at + size)) if put is None else put,
            taken=tokens(before, at, at + len(text[start:end].encode("utf-8", "surrogatepass"))) if taken is None else taken,  # noqa: E501
        )  # fmt: skip

    def drop_tag(rng: random.Random) -> Mutant | None:
        if not tags:
            return None
        match = rng.choice(tags)
        after = text[match.end() : match.end() + 200]
        joined = tuple(
            tokens(
                (text[: match.start()] + text[match.end() :]).encode(),
                len(text[: match.start()].encode()),
                len(text[: match.start()].encode()),
            )
        )
        return made(
            "a tag dropped",
            match.start(),
            match.end(),
            "",
            put=joined,
            taken=tokens(after.encode(), 0, len(after.encode())),
        )

    def drop_leaf(rng: random.Random) -> Mutant | None:
        if not leaves:
            return None
        match = rng.choice(leaves)
        return made("an element dropped", match.start(), match.end(), "")

    def twice(rng: random.Random) -> Mutant | None:
        if not leaves:
            return None
        match = rng.choice(leaves)
        new = rng.choice(["1.11", "zz", ""])
        if new == match[3]:
            return None
        other = f"<{match[1]}{match[2]}>{new}</{match[1]}>"
        place = rng.choice([match.start(), match.end()])
        return made("an element twice", place, place, other, put=(), judged=TWICE)

    def rename(rng: random.Random) -> Mutant | None:
        if not leaves:
            return None
        match = rng.choice(leaves)
        name = rng.choice(["zzz", match[1].upper(), match[1] + "2"])
        taken = (match[3], match[1])
        return made(
            "an element renamed",
            match.start(),
            match.end(),
            f"<{name}{match[2]}>{match[3]}</{name}>",
            put=(),
            taken=taken,
        )

    def nest(rng: random.Random) -> Mutant | None:
        if not texts:
            return None
        match = rng.choice(texts)
        n = rng.choice([1, 1, 60, 3000, 100_000])
        name = rng.choice(["b", "div", "span", "i"])
        return made("deep", match.start(1), match.end(1), f"<{name}>" * n + match[1] + f"</{name}>" * n, put=(),
                    taken=(match[1],))  # fmt: skip

    def entity(rng: random.Random) -> Mutant | None:
        if not texts:
            return None
        match = rng.choice(texts)
        at = rng.randint(match.start(1), match.end(1))
        new = rng.choice(ENTITIES)
        told = text[match.start(1) : at] + new + text[at : match.end(1)]
        import html

        return made("an entity", at, at, new, put=(told, *re.split(r"[\s/]", html.unescape(told)), html.unescape(told)))

    def comment(rng: random.Random) -> Mutant | None:
        if not texts:
            return None
        match = rng.choice(texts)
        at = rng.randint(match.start(1), match.end(1))
        new = rng.choice(["<!-- 1.11 -->", "<![CDATA[1]]>", "<?x 1?>", "<!--", "<![CDATA["])
        parts = (text[match.start(1) : at], text[at : match.end(1)])
        return made("a comment", at, at, new, put=(*parts, parts[0] + "1" + parts[1], "1"), taken=(match[1],))

    def odd_number(rng: random.Random) -> Mutant | None:
        if not numbers:
            return None
        match = rng.choice(numbers)
        new = rng.choice(ODD_NUMBERS)
        return made("odd number", match.start(1), match.end(1), new, put=(new, "EUR") if "\u20ac" in new else None)

    def odd_text(rng: random.Random) -> Mutant | None:
        if not texts:
            return None
        match = rng.choice(texts)
        return made("odd text", match.start(1), match.end(1), rng.choice(ODD_TEXTS))

    def unit(rng: random.Random) -> Mutant | None:
        if not units:
            return None
        match = rng.choice(units)
        old = match[1].strip()
        new = rng.choice(OTHER_WORDS[old.casefold()])
        return None if new == old else made("unit", match.start(1), match.end(1), new)

    def attribute(rng: random.Random) -> Mutant | None:
        if not attributes:
            return None
        match = rng.choice(attributes)
        new = rng.choice(["", "1.11", rng.choice(ODD_TEXTS[:12]), rng.choice(ODD_NUMBERS)])
        whole = rng.choice(["", f' {match[1]}="{new}"', f" z{match[1]}={match[2]}", f"{match[0]}{match[0]}"])
        return made("an attribute", match.start(), match.end(), whole, put=(new,), taken=(match[2][1:-1], match[1]))

    def exchange(rng: random.Random) -> Mutant | None:
        if len(texts) < 2:
            return None
        one, other = sorted(rng.sample(texts, 2), key=lambda match: match.start())
        new = other[1] + text[one.end(1) : other.start(1)] + one[1]
        return made("exchange", one.start(1), other.end(1), new, put=(one[1], other[1]), judged=BLIND)

    def again(rng: random.Random) -> Mutant | None:
        items = list(re.finditer(r"<(item|tr|li)\b[^<>]*>.*?</\1>", text, re.DOTALL))
        if not items:
            return None
        match = rng.choice(items)
        return made("an item again", match.end(), match.end(), match[0], put=(), taken=())

    def doctype(rng: random.Random) -> Mutant:
        new = rng.choice(DTD)
        whole = re.sub(r"^\s*<\?xml[^>]*>", "", text)
        if "ENTITY" in new and texts:
            match = rng.choice(list(TEXT.finditer(whole)))
            whole = whole[: match.start(1)] + rng.choice(["&a;", "&e;"]) + whole[match.end(1) :]
            return Mutant(kind="markup: a DTD", body=(new + whole).encode(), put=("1", "11111"), taken=(match[1],))
        return Mutant(kind="markup: a DTD", body=(new + whole).encode())

    def declared(rng: random.Random) -> Mutant:
        whole = re.sub(r"^\s*<\?xml[^>]*>", "", text)
        code = rng.choice(CODES)
        return Mutant(kind="markup: another encoding", body=f'<?xml version="1.0" encoding="{code}"?>{whole}'.encode())

    return {
        "drop tag": drop_tag, "drop leaf": drop_leaf, "twice": twice, "rename": rename, "nest": nest, "entity": entity,
        "comment": comment, "odd number": odd_number, "odd text": odd_text, "unit": unit, "attribute": attribute,
        "exchange": exchange, "again": again, "doctype": doctype, "declared": declared,
    }  # fmt: skip
