-- From which day on rows of a day may differ from the published file's: from its own day on, from that on which a price
-- or a kind of move differs or a price was held otherwise, and all where a provider has become a marketplace, or an
-- import was read: it may be a list of changes now, or none any more.
select
    least(
        (select built_at::DATE from former.meta.build),
        (select min(since)::DATE from differing_price),
        (select min(DATE '0001-01-01') from new_market),
        (
            select min(DATE '0001-01-01')
            from new_scope_fetch as f
            inner join core.source as s on f.source = s.source and s.kind = 'import'
        )
    ) as first_day
