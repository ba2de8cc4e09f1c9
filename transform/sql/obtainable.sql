-- Whether one provider was ever seen to have one chip to sell under one purchase option: when last, and last asked.
-- Seen is a count above 0, or one of the words by which providers say so: available, scarce (Scaleway), low, medium,
-- high (RunPod); or an offer of a Capacity Block that AWS made when it was asked. A price is no such sight: what is
-- listed may be sold out. last_obtainable_at NULL: asked, and never seen; no row: nobody asked.
with answer as (
    select
        a.service_provider_name,
        t.accelerator_name,
        a.purchase_option,
        a.observed_at,
        coalesce(a.n_machines > 0, false)
        or coalesce(a.n_accelerators > 0, false)
        or coalesce(lower(a.stock_status) in ('available', 'scarce', 'low', 'medium', 'high'), false) as is_there
    from core.availability as a
    inner join core.offer as o
        on
            a.service_provider_name = o.service_provider_name and a.purchase_option = o.purchase_option
            and a.accelerator_label is not distinct from o.accelerator_label
            and a.instance_type is not distinct from o.instance_type
    inner join core.offer_unit as t on o.offer_id = t.offer_id
    union all
    select
        'AWS' as service_provider_name,
        i.accelerator_name,
        'capacity_block' as purchase_option,
        b.observed_at,
        b.capacity_block_offering_id <> '' as is_there
    from core.capacity_block_answer as b
    inner join ref.current_instance_type as i on b.instance_type = i.instance_type
    where b.answer_error is null
)

select
    service_provider_name,
    accelerator_name,
    purchase_option,
    max(observed_at) filter (where is_there) as last_obtainable_at,
    max(observed_at) as last_asked_at
from answer
where accelerator_name is not null
group by service_provider_name, accelerator_name, purchase_option
