-- Each truth check: what its value is, between which limits it holds, what to do where it does not, and why it may have
-- nothing to look at. The limits are wide on purpose: inside them nobody need look, outside somebody must.
select * replace (limit_low::DOUBLE as limit_low, limit_high::DOUBLE as limit_high) -- noqa: AM04
from (
    values
    (
        'two_sources', 'second source', 'One offer, told by two sources within a week of each other: price / price',
        0.999, 1.001, 'ratio', 'Read both documents; the source of the lower precedence number is believed meanwhile',
        'no offer is told by two sources within a week of each other'
    ),
    (
        'another_reading', 'second source',
        'Prices per chip that one source tells of a provider, with one of another source within 1 % of each: share',
        0.9, 1, 'share', 'Read the example at the provider: one source may have the wrong tier, size or column',
        'no provider''s list prices are told by two sources within a week of each other'
    ),
    (
        'two_doors', 'second source',
        'AWS prices that changed when a fetch came through the other door, API or bulk file: share', 0, 0.02, 'share',
        'Read the newest document of each door: they should say the same; set door to the right one meanwhile',
        'no scope was read through both doors within 30 days'
    ),
    (
        'resold', 'second source',
        'Price per chip at a reseller that names the host / the host''s own list price nearest to it', 0.5, 2, 'ratio',
        'Read the example at both: the reseller''s row may be another size, term or machine',
        'no reseller names a host whose own list prices are known at the same terms'
    ),
    (
        'came_back', 'continuity',
        'List prices that vanished and came back within a day, of those seen in 30 days: share', 0, 0.01, 'share',
        'Compare the fetch between with its document: a page that was read in part must be refused, not believed',
        'no complete fetches within 30 days, or a market, whose offers come and go by themselves'
    ),
    (
        'still_seen', 'continuity', 'List prices of the last complete fetch but one that the last one still had: share',
        0.9, 1, 'share', 'Read the last document: where the provider has not dropped them, the parser lost them',
        'fewer than two complete fetches within 30 days, or a market, whose offers come and go by themselves'
    ),
    (
        'daily_fetches', 'continuity', 'Longest time without a good fetch of a scope in 30 days', 0, 48, 'hours',
        'See the errors of that scope: chipledger sources, the page of sources, the log of the scheduler',
        'no scope had two good fetches within 30 days'
    ),
    (
        'rows_of_a_fetch', 'batch shape', 'Prices of the last good fetch / the median of those before it in 30 days',
        0.8, 1.25, 'ratio', 'Read the last document: part of it may not have been read, or was read twice',
        'no scope had four good fetches within 30 days'
    ),
    (
        'sizes_agree', 'units',
        'Price per chip of one size / that of the cheapest size of the family in the same place, on demand',
        0.1, 10, 'ratio',
        'Look at core.offer_unit of the example: the count of chips or the time that a price buys may be wrong',
        'no provider sells one chip in two sizes at the same terms'
    ),
    (
        'training_sizes_agree', 'units', 'The same for AWS''s P and Trn families, whose price goes by the chip',
        0.95, 1.05, 'ratio', 'Look at ref.instance_type of the example: its count of chips may be wrong',
        'no P or Trn family is sold in two sizes in one place'
    ),
    (
        'chip_count', 'units', 'Instance types of AWS with another number of chips in EC2''s answer than in the table',
        0, 0, 'types',
        'Correct ref.instance_type, or add an override with its reason; prices of the type are held until then',
        'EC2 answered no instance types: the source aws_instance_types needs credentials'
    ),
    (
        'regions_agree', 'units', 'Price of one machine in one region / the median of all regions, on demand',
        0.5, 2.5, 'ratio', 'Read the example''s document: a currency, unit or column may be another there',
        'no machine is sold in three regions'
    ),
    (
        'unit_factor', 'units',
        'Prices per chip that are exactly 8, 24, 60 or 730 times another at the same terms: pairs', 0, 0, 'pairs',
        'Read both documents: one may be per machine, per day, per minute or per month',
        'no two prices per chip are known at the same terms'
    ),
    (
        'month_and_hour', 'units', 'Price of a month / 730, over the price of an hour of the same machine',
        0.25, 1.05, 'ratio', 'Look at pricing_unit of the example',
        'no machine is sold both by the hour and by the month'
    ),
    (
        'told_twice', 'duplicates',
        'Prices equal to another of the same source in all but the words for the machine: share', 0, 0.05, 'share',
        'Look at the two labels: one price under two identities counts twice in medians',
        'no source tells two prices of one chip'
    ),
    (
        'spot_below_on_demand', 'order', 'Spot price / on-demand price of the same machine in the same place',
        0.02, 1.0001, 'ratio', 'Read both documents: the columns may be exchanged, or one price is old',
        'no machine has both a spot and an on-demand price'
    ),
    (
        'commitment_below_on_demand', 'order',
        'Effective hourly price of a commitment / on-demand price of the same machine in the same place',
        0.1, 1.0001, 'ratio', 'Read both documents: term, upfront fee or column may be wrong, or one price is old',
        'no machine has both a commitment and an on-demand price'
    ),
    (
        'longer_is_cheaper', 'order', 'Effective hourly price of the longer term / the shorter term, all else equal',
        0.2, 1.0001, 'ratio', 'Read both documents: terms may be exchanged', 'no machine has commitments of two lengths'
    ),
    (
        'paid_earlier_is_cheaper', 'order',
        'Partial or All Upfront: (hourly + upfront / hours of the term) / the hourly price of No Upfront',
        0.7, 1.0001, 'ratio',
        'Read the document: an upfront fee may be of another term, or its row of another rate code',
        'no commitment is sold with and without an upfront fee'
    ),
    (
        'plan_like_reserved', 'order',
        'EC2 Instance Savings Plan / standard Reserved, Compute plan / convertible, at equal term and payment',
        0.99, 1.01, 'ratio', 'Read both documents: AWS priced them alike to 0.6 % in June 2023, all 636 of 53 types',
        'no machine has both a Savings Plan and a Reserved price of one term and payment'
    ),
    (
        'generation', 'order',
        'Cost of a million output tokens on a chip / on the one before it, at one point and one price per chip-hour',
        0, 1.02, 'ratio',
        'Read the runs of both at its points (truth_generation): the newer one''s are few, old, or count otherwise',
        'no chip and the one before it were measured at one point'
    ),
    (
        'two_currencies', 'currency', 'Price in another currency, in dollars by the day''s rate / the same in dollars',
        0.7, 1.4, 'ratio', 'Read both documents: an amount may stand under the wrong currency',
        'no provider lists one machine in dollars and in another currency with a rate of the day'
    ),
    (
        'refused_rows_add_up', 'accounting',
        'Refused rows that a fetch counts, less those in the quarantine, of 30 days', 0, 0, 'rows',
        'chipledger data rebuild makes the log anew; where it differs again, it is a fault of chipledger',
        'no fetch within 30 days'
    ),
    (
        'accepted_rows_add_up', 'accounting',
        'Prices that the last complete fetch counts, less those that hold since it: share of them',
        -0.001, 0.001, 'share',
        'chipledger data rebuild makes the log anew; where it differs again, it is a fault of chipledger',
        'no complete fetch within 30 days'
    ),
    (
        'events_are_changes', 'accounting', 'Events of the last two days, less the changes of price that they make',
        0, 0, 'events',
        'chipledger data rebuild makes the log anew; where it differs again, it is a fault of chipledger',
        'no event of a live source within two days'
    ),
    (
        'plausible_price', 'range',
        'Dearest or cheapest price per chip-hour of a chip, where the limits are of its kind',
        null, null, 'USD per chip-hour', 'Read the example''s document: unit, count, currency or chip may be another',
        'no range is stated for this chip'
    )
) as rule (check_name, check_group, meaning, limit_low, limit_high, unit, advice, nothing_to_compare)
