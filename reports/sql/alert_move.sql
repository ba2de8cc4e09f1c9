-- Moves of live list prices since a moment, and what became of them: both sides from live sources, none of them from
-- an archive or import, of offers whose price is current. Amounts are per chip-hour; without known chips, as sold.
select
    c.offer_id,
    c.observed_at,
    c.change_kind,
    c.change_ratio,
    c.service_provider_name,
    coalesce(c.instance_type, c.accelerator_name, p.accelerator_label) as offered,
    c.accelerator_name,
    p.form_factor,
    c.region_id,
    c.purchase_option,
    c.commitment_term_hours,
    c.purchase_payment_model,
    c.tier,
    c.pricing_currency,
    coalesce(c.accelerator_count > 0, false) as is_per_chip,
    case when c.accelerator_count > 0 then c.accelerator_count else 1 end::DOUBLE as units,
    c.effective_hourly_price_before / units as price_before,
    c.effective_hourly_price_after / units as price_after
from int.price_change as c
inner join int.accelerator_hour_price as p on c.offer_id = p.offer_id
inner join core.source as s on c.source = s.source
inner join core.source as b on c.source_before = b.source
where
    c.change_kind in ('list_change', 'correction', 'suspected_error')
    and c.reason is null
    and c.observed_at >= $since
    and p.is_current
    and s.kind = 'live'
    and b.kind = 'live'
order by c.observed_at, c.offer_id
