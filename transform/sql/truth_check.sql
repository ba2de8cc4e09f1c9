-- Every truth check of every subject: what was compared, what differed, by how much, with the worst pair in words. A
-- check that found nothing to compare stands here too, as not checked, with the reason.
with found as (
    from int.truth_second
    union all by name
    from int.truth_continuity
    union all by name
    from int.truth_factor
    union all by name
    from int.truth_twice
    union all by name
    from int.truth_count
    union all by name
    from int.truth_account
    union all by name
    from int.truth_range
    union all by name
    from int.truth_ratio
),

judged as materialized (
    select
        r.* replace (
            coalesce(f.limit_low, r.limit_low) as limit_low, coalesce(f.limit_high, r.limit_high) as limit_high
        ),
        coalesce(f.subject, 'all') as subject,
        coalesce(f.n_compared, 0)::BIGINT as n_compared,
        coalesce(f.n_differing, 0)::BIGINT as n_differing,
        f.checked_value,
        case
            when coalesce(f.n_compared, 0) = 0 or f.checked_value is null then 'not_checked'
            when
                f.checked_value between coalesce(f.limit_low, r.limit_low)
                and coalesce(f.limit_high, r.limit_high)
                then 'holds'
            else 'differs'
        end as result,
        f.example,
        f.offer_id,
        f.other_offer_id,
        f.newest_differing_at
    from ref.truth_rule as r
    left join found as f on r.check_name = f.check_name
),

observed as (
    select
        a.offer_id,
        concat_ws(
            ' ', a.service_provider_name, coalesce(a.instance_type, a.accelerator_label), a.region_id,
            a.availability_zone_id, a.purchase_option, a.commitment_discount_type, a.commitment_term_hours,
            a.purchase_payment_model, a.tier, a.statistic
        ) || ': ' || a.unit_price::DOUBLE || coalesce(' + ' || a.upfront_price::DOUBLE || ' upfront', '') || ' '
        || a.pricing_currency || ', per chip-hour ' || coalesce(round(a.price_per_accelerator_hour, 6)::VARCHAR, '-')
        || ' (' || a.source || ', document ' || coalesce(a.document_sha256[:12], '-') || ', seen '
        || strftime(a.last_observed_at, '%Y-%m-%d') || ')' as words
    from int.accelerator_hour_price as a
    where a.offer_id in (
        select unnest([j.offer_id, j.other_offer_id]) from judged as j
        where j.result = 'differs'
    )
)

select
    j.check_name,
    j.check_group,
    j.meaning,
    j.subject,
    j.n_compared,
    j.n_differing,
    j.checked_value,
    j.limit_low,
    j.limit_high,
    j.unit,
    j.result,
    case when j.result = 'not_checked' then j.nothing_to_compare end as reason,
    case when j.result = 'differs' then coalesce(
        case when j.offer_id <> j.other_offer_id then o.words || '; beside ' || q.words end,
        case when j.example is not null then concat_ws('; ', o.words, j.example) end,
        o.words
    ) end as example,
    case when j.result = 'differs' then j.newest_differing_at end as newest_differing_at,
    case when j.result = 'differs' then j.advice end as advice,
    meta.built_at() as checked_at
from judged as j
left join observed as o on j.offer_id = o.offer_id
left join observed as q on j.other_offer_id = q.offer_id
order by j.check_group, j.check_name, j.subject
