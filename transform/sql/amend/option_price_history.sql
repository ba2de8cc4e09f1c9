-- From which day on the cheapest prices may differ from those of the published file: from its own day on, from the day
-- on which a price differs or was held otherwise, and all where a provider has become a marketplace.
select
    least(
        (select built_at::DATE from former.meta.build),
        (select min(since)::DATE from differing_price),
        (select min(DATE '0001-01-01') from new_market)
    ) as first_day
