-- Which rule of the price file counts for which offer, and for which line of the fleet that no offer was found for (a
-- contracted rate only: a discount is off a list price). A rule fits where all that it names is the offer's, on the day
-- of the prices. A contracted rate goes before a discount, and a rule before another of its kind that names nothing
-- that it does not name too. A discount fits a spot price only if it says spot. Two rows for one thing: neither goes
-- first, which is refused.
with thing as (
    select
        *,
        'offer' as thing,
        offer_id as thing_id,
        case when service_provider_name = 'AWS' then if(instance_type like 'ml.%', 'SageMaker', 'EC2') end as service,
        if(service_provider_name = 'AWS', regexp_extract(instance_type, '^(?:ml[.])?([^.]+)', 1), null) as family
    from prices.int.accelerator_hour_price
    where unit_price_type = 'List' and statistic = 'price'
    union all by name
    select
        *,
        'line' as thing,
        line_number as thing_id
    from fleet_line
    where offer_id is null
),

named as (
    select
        *,
        map_keys(map_from_entries(list_filter(map_entries(map {
            'service': service, 'family': family, 'accelerator_name': accelerator_name, 'form_factor': form_factor,
            'instance_type': instance_type, 'region_id': region_id, 'purchase_option': purchase_option, 'tier': tier,
            'commitment_term_hours': commitment_term_hours::VARCHAR, 'purchase_payment_model': purchase_payment_model
        }), lambda e: e['value'] is not null))) as given
    from price_rule
),

fitting as (
    select
        t.thing,
        t.thing_id,
        r.rule,
        r.kind,
        r.given
    from thing as t
    inner join named as r
        on
            t.service_provider_name = r.service_provider_name
            and (r.service is null or t.service = r.service)
            and (r.family is null or t.family = r.family)
            and (r.accelerator_name is null or t.accelerator_name = r.accelerator_name)
            and (r.form_factor is null or t.form_factor = r.form_factor)
            and (r.instance_type is null or t.instance_type = r.instance_type)
            and (r.region_id is null or lower(t.region_id) = lower(r.region_id))
            and (r.purchase_option is null or t.purchase_option = r.purchase_option)
            and (r.commitment_term_hours is null or coalesce(t.commitment_term_hours, 0) = r.commitment_term_hours)
            and coalesce(coalesce(t.purchase_payment_model, 'none') = r.purchase_payment_model, true)
            and (r.tier is null or coalesce(lower(t.tier), 'none') = lower(r.tier))
    cross join build as b
    where
        b.prices_built_at::DATE between r.valid_from and coalesce(r.valid_to, DATE '9999-12-31')
        and (r.kind = 'rate' or (t.thing = 'offer' and (t.purchase_option <> 'spot' or r.purchase_option = 'spot')))
)

select
    f.thing,
    f.thing_id,
    f.rule,
    f.kind
from fitting as f
where
    not exists (
        select 1
        from fitting as g
        where
            f.thing = g.thing
            and f.thing_id = g.thing_id
            and (
                (g.kind = 'rate' and f.kind = 'discount')
                or (g.kind = f.kind and len(g.given) > len(f.given) and list_has_all(g.given, f.given))
            )
    )
