"""XML from outside, read so that what is damaged raises ValueError and nothing else.

The standard reader raises LookupError for an encoding that nobody knows, and finds the first of two values under one
name; here both are refused, and so is a document type, in which a small file can grow beyond all bounds.
"""

from xml.etree import ElementTree


def root(body: bytes) -> ElementTree.Element:
    """Return the root of an XML document; raise ValueError where it is none, or has a document type."""
    parser = ElementTree.XMLParser(target=_Builder())  # noqa: S314 -- a document type, where bombs lie, is refused
    try:
        parser.feed(body)
        found: ElementTree.Element = parser.close()
    except (ElementTree.ParseError, LookupError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return found


def check_names(whole: ElementTree.Element) -> None:
    """Raise ValueError where an element holds two of one name that are no items of a list."""
    for element in whole.iter():
        names = [child.tag.rpartition("}")[2] for child in element]
        twice = {name for name in names if names.count(name) > 1} - {"item"} if len(names) > len({*names}) else ()
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))} occurs twice")


class _Builder(ElementTree.TreeBuilder):
    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise ValueError("a document type, which no answer has")
