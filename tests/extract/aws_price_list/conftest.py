"""What the tests of the AWS price list share: one way through both doors, and contexts for the stand-in."""

import pytest
from price_list_files import Line, Read, document, json_file, offer_csv, page_of, products_of

from extract.aws.price_list import parse
from extract.base import Parsed


@pytest.fixture(params=["bulk", "api", "json"])
def read(request: pytest.FixtureRequest) -> Read:
    """Return a reader of lines through each form of the list, so that each rule is shown to hold for all."""

    def through(*lines: Line, scope: str = "us-east-1") -> Parsed:
        if request.param == "json":
            return parse(document(json_file(lines), scope))
        body = offer_csv(lines) if request.param == "bulk" else page_of(products_of(lines))
        return parse(document(body, scope))

    return through
