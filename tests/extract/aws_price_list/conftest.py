"""What the tests of the AWS price list share: one way through both doors, and contexts for the stand-in."""

import pytest
from price_list_files import Line, Read, document, offer_csv, page_of, products_of

from extract.aws.price_list import parse
from extract.base import Parsed


@pytest.fixture(params=["bulk", "api"])
def read(request: pytest.FixtureRequest) -> Read:
    """Return a reader of lines through either door, so that each rule is shown to hold for both."""

    def through(*lines: Line, scope: str = "us-east-1") -> Parsed:
        body = offer_csv(lines) if request.param == "bulk" else page_of(products_of(lines))
        return parse(document(body, scope))

    return through
