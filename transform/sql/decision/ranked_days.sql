-- ranked_days(is_of_market, option_name, term_hours, listed_days, market_days): Days after its last confirmation for
-- which a price may be ranked. What marketplaces have, and offers of Capacity Blocks, comes and goes within days; a
-- published rate of a block, which names no length, does not.
select if(is_of_market or (option_name = 'capacity_block' and term_hours is not null), market_days, listed_days) as days
