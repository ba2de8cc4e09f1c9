"""The settings of this source as `extract.aws.places` reads them, and the choice of its door."""

from functools import partial

from extract.aws import places
from extract.aws.places import partition_of
from extract.aws.savings_plans.rates import SOURCE_NAME

__all__ = ["access", "bulk_url", "check_region", "partition_of", "wanted_regions"]

access = partial(places.access, source=SOURCE_NAME)
wanted_regions = partial(places.wanted_regions, source=SOURCE_NAME)
check_region = partial(places.check_region, source=SOURCE_NAME)
bulk_url = partial(places.bulk_url, source=SOURCE_NAME)
