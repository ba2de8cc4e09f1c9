-- What moved in a week and was no spot or market price: one row for each piece of news, which may be of several places
-- and sizes. Amounts are per chip-hour, an upfront fee spread over the term; of what has no known chips, as sold.
-- Where several sources saw the same thing move, and the windows in which they place it overlap, it happened once, when
-- the earliest of them saw it: event_at; and after event_from, the latest moment before it at which any of them still
-- saw the old price. Each one's own window stands in windows. Sources of which one is a year behind are not compared.
with move as (
    select
        c.* replace (decision.sold_tier(c.tier) as tier),
        u.form_factor,
        coalesce(u.accelerator_count > 0, false) as is_per_chip,
        case when u.accelerator_count > 0 then u.accelerator_count else 1 end::DOUBLE as units,
        coalesce(c.instance_type, c.accelerator_name, o.accelerator_label) as offered,
        c.last_observed_before_at as seen_from,
        c.effective_hourly_price_before / units as price_before,
        c.effective_hourly_price_after / units as price_after,
        decision.same_move(c, u.form_factor, o.accelerator_label) as thing_id, -- noqa: RF02
        coalesce(
            seen_from >= lag(c.observed_at) over (partition by thing_id order by c.observed_at, c.offer_id), true
        ) as is_first
    from int.price_change as c
    inner join core.offer as o on c.offer_id = o.offer_id
    inner join core.offer_unit as u on c.offer_id = u.offer_id
    where
        c.change_kind in ('list_change', 'correction', 'suspected_error')
        and c.reason is null
        and c.observed_at >= $since::TIMESTAMP - interval 1 year
),

numbered as (
    select
        *,
        count(*) filter (where is_first) over (partition by thing_id order by observed_at, offer_id) as event_number
    from move
),

dated as (
    select
        *,
        min(observed_at) over (partition by thing_id, event_number) as event_at
    from numbered
),

narrowed as (
    select
        *,
        max(case when seen_from < event_at then seen_from end) over (
            partition by thing_id, event_number
        ) as event_from
    from dated
),

sold as (
    select
        accelerator_name,
        count(distinct service_provider_name) as n_providers,
        count(distinct form_factor) as n_forms
    from int.provider_price
    group by accelerator_name
),

news as (
    select
        n.* replace (
            case when s.n_forms > 1 then n.form_factor end as form_factor,
            case when n.service_provider_name = 'AWS' or n.accelerator_name is null then n.offered end as offered
        ),
        coalesce(s.n_providers, 0) as n_providers
    from narrowed as n
    left join sold as s on n.accelerator_name = s.accelerator_name
    where n.event_at >= $since and n.event_at < $until
)

select
    service_provider_name,
    accelerator_name,
    form_factor,
    offered,
    is_per_chip,
    purchase_option,
    commitment_term_hours,
    purchase_payment_model,
    offering_class,
    tier,
    pricing_currency,
    change_kind,
    arg_min(price_before, (price_after, offer_id)) as price_before,
    min(price_after) as price_after,
    arg_min(change_ratio, (price_after, offer_id)) as change_ratio,
    case when min(units) = max(units) then min(units) end as units,
    count(distinct offer_id) as n_offers,
    list_sort(list(distinct offer_id)) as offer_ids,
    list_sort(list(distinct region_id) filter (where region_id is not null)) as regions,
    arg_min(event_from, (event_at, offer_id)) as event_from,
    min(event_at) as event_at,
    list_sort(list(distinct { 'observed_at': observed_at, 'seen_from': seen_from, 'source': source })) as windows,
    arg_min(document_sha256, (observed_at, offer_id)) as document_sha256,
    arg_min(offer_id, (price_after, offer_id)) as offer_id,
    any_value(n_providers) as n_providers
from news
group by
    service_provider_name, accelerator_name, form_factor, offered, is_per_chip, purchase_option, commitment_term_hours,
    purchase_payment_model, offering_class, tier, pricing_currency, change_kind, round(change_ratio, 3)
order by
    change_kind <> 'list_change',
    purchase_option <> 'on_demand',
    -abs(arg_min(change_ratio, (price_after, offer_id))) nulls last,
    service_provider_name,
    accelerator_name,
    offered,
    form_factor,
    purchase_option,
    commitment_term_hours,
    tier,
    purchase_payment_model,
    offering_class
