"""The settings of this source as `extract.aws_places` reads them, and the choice of its door."""

from functools import partial

from extract import aws_places
from extract.aws_places import partition_of
from extract.aws_savings_plans.rates import SOURCE_NAME

__all__ = ["bulk_url", "check_region", "door", "partition_of", "wanted_regions"]

door = partial(aws_places.door, source=SOURCE_NAME)
wanted_regions = partial(aws_places.wanted_regions, source=SOURCE_NAME)
check_region = partial(aws_places.check_region, source=SOURCE_NAME)
bulk_url = partial(aws_places.bulk_url, source=SOURCE_NAME)
