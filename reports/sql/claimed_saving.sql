-- What a text says of chips per hour under each way to buy them: the text with a table of plans and spot prices.
select
    a.claim_id,
    a.subject,
    a.claimed,
    a.hedge,
    a.claim_conditions,
    a.standing_today,
    coalesce(c.purchase_option, 'on_demand')
    || case c.commitment_term_hours when 8760 then '_1y' when 26280 then '_3y' else '' end as claimed_way
from int.claim_audit as a
inner join ref.claim as c on a.claim_id = c.claim_id
where
    a.metric = 'price_per_chip'
    and a.article in (
        select t.article
        from ref.claim as t
        where t.place = 'Savings Plans and Spot Pricing'
    )
order by a.claim_id
