-- Offers whose items may be others than in the published file though nothing touched them: those of an import whose
-- silence means something else now, and of a market, where moves of one day are judged beside one another, all of the
-- provider, chip and purchase option of one that is made anew.
with silent as (
    select coalesce(h.source, b.source) as source
    from core.silent_import as h
    full join former.core.silent_import as b on h.source = b.source
    where h.looked_on is distinct from b.looked_on
),

market as (
    select
        o.offer_id,
        o.service_provider_name,
        u.accelerator_name,
        o.purchase_option
    from core.offer as o
    semi join market_offer as m on o.offer_id = m.offer_id
    inner join core.offer_unit as u on o.offer_id = u.offer_id
),

cell as (
    select distinct
        m.service_provider_name,
        m.accelerator_name,
        m.purchase_option
    from market as m
    semi join touched_offer as t on m.offer_id = t.offer_id
)

select
    m.offer_id,
    true as is_anew
from market as m
semi join cell as c
    on
        m.service_provider_name = c.service_provider_name
        and m.accelerator_name = c.accelerator_name
        and m.purchase_option = c.purchase_option
union
select
    p.offer_id,
    true as is_anew
from core.sku_price as p
semi join silent as s on p.source = s.source
where p.source like 'import:%'
