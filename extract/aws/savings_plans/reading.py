"""Documents of either door as observations."""

from extract.aws.savings_plans import rates, rules
from extract.base import Parsed
from warehouse.documents import Document


def parse(document: Document) -> Parsed:
    """Return the prices in a document; raise LayoutChanged where any part of it is not as it should be."""
    return rules.observations(rates.read(document), scope=document.scope)
