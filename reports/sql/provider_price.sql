-- What providers ask for chips, for each purchase option: what is within the limit of age, and AWS whatever its date,
-- to compare with. Within one chip and the same terms row_rank follows price_rank of int.provider_price; what has no
-- rank (medians, floors, what is sold out) comes last; AWS's own rows have none. Options are never mixed.
with dated as (
    select
        p.*,
        s.kind,
        b.built_at - to_days(b.ranked_days) as since_at
    from int.provider_price as p
    inner join core.source as s on p.source = s.source
    cross join meta.build as b
),

recent as (
    select *
    from dated
    where service_provider_name = 'AWS' or is_ranked or (is_floor and last_observed_at >= since_at)
),

sold as (
    select
        purchase_option,
        accelerator_name,
        count(distinct service_provider_name) as n_providers,
        count(distinct form_factor) as n_forms
    from recent
    group by purchase_option, accelerator_name
)

select
    r.*, -- noqa: AM04
    s.n_forms > 1 as has_forms,
    count(distinct r.service_provider_name) over (
        partition by
            r.purchase_option, r.accelerator_name, r.capacity_class, case when s.n_forms > 1 then r.form_factor end
    ) as n_alike,
    dense_rank() over (
        partition by r.purchase_option
        order by -s.n_providers, r.accelerator_name
    ) as chip_rank,
    case
        when r.service_provider_name <> 'AWS'
            then row_number() over (
                partition by
                    r.purchase_option,
                    r.accelerator_name,
                    r.commitment_class,
                    r.capacity_class,
                    r.service_provider_name = 'AWS',
                    case when s.n_forms > 1 then r.form_factor end
                order by r.price_rank nulls last, r.is_floor, r.service_provider_name, r.offer_id
            )
    end as row_rank,
    array_position(['single', 'several', 'node', 'cluster', 'rack', 'fraction'], r.capacity_class) as capacity_rank,
    array_position(['under_a_year', 'one_year', 'two_years', 'three_years', 'longer'], r.commitment_class) as term_rank
from recent as r
inner join sold as s on r.purchase_option = s.purchase_option and r.accelerator_name = s.accelerator_name
order by
    r.purchase_option asc,
    chip_rank asc,
    case when has_forms then r.form_factor end desc nulls last,
    capacity_rank asc nulls last,
    term_rank asc nulls last,
    r.price_rank asc nulls last,
    r.is_floor asc,
    r.service_provider_name asc,
    r.offer_id asc
