-- Price records in the columns of the FOCUS SkuPrice dataset (1.5 draft); our own columns start with x_.
-- A Partial or All Upfront commitment is two records: what is paid once (Purchase) and what each hour costs (Usage).
-- A commitment whose length nobody states has none: the draft asks every committed price for its PurchaseDurationType.
with record as (
    select
        h.*,
        'Usage' as charge_category,
        h.unit_price as amount,
        coalesce(o.pricing_unit, 'Hours') as pricing_unit,
        coalesce(o.sku_price_id, 'chipledger:' || o.offer_id) as price_id
    from int.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    where h.unit_price is not null and (h.unit_price > 0 or coalesce(h.upfront_price, 0) = 0)
    union all
    select
        h.*,
        'Purchase' as charge_category,
        h.upfront_price as amount,
        'Units' as pricing_unit,
        if(
            contains(o.sku_price_id, '.6YS6EN2CT7'),
            replace(o.sku_price_id, '.6YS6EN2CT7', '.2TG2D8R56U'), 'chipledger:' || o.offer_id || ':upfront'
        ) as price_id
    from int.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    where h.upfront_price > 0
)

select
    o.service_provider_name as "ServiceProviderName",
    o.sku_id as "SkuId",
    r.price_id as "SkuPriceId",
    o.contract_id as "ContractId",
    r.charge_category as "ChargeCategory",
    case
        when o.purchase_option in ('on_demand', 'capacity_block') then 'Standard'
        when o.purchase_option in ('reserved', 'savings_plan') then 'Committed'
        when o.purchase_option = 'spot' then 'Dynamic'
    end as "PricingCategory",
    case o.purchase_option
        when 'reserved' then 'Reserved'
        when 'savings_plan' then o.commitment_discount_type || ' Savings Plan'
    end as "CommitmentDiscountType",
    case
        when o.commitment_term_hours = 8760 then '1 Year'
        when o.commitment_term_hours = 26280 then '3 Years'
        when o.commitment_term_hours is not null then o.commitment_term_hours || ' Hours'
    end as "PurchaseDurationType",
    o.purchase_payment_model as "PurchasePaymentModel",
    o.region_id as "PricingRegionId",
    coalesce(o.availability_zone_id, o.availability_zone) as "AvailabilityZone",
    r.pricing_unit as "PricingUnit",
    o.pricing_currency as "PricingCurrency",
    r.amount as "UnitPrice",
    o.unit_price_type as "UnitPriceType",
    r.valid_from as "SkuPriceEffectiveStart",
    r.valid_to as "SkuPriceEffectiveEnd",
    o.purchase_option as "x_PurchaseOption",
    o.offering_class as "x_OfferingClass",
    o.instance_type as "x_InstanceType",
    u.accelerator_name as "x_AcceleratorName",
    u.accelerator_count as "x_AcceleratorCount",
    r.source as "x_Source",
    r.last_observed_at as "x_LastObservedAt",
    r.document_sha256 as "x_DocumentSha256"
from record as r
inner join core.offer as o on r.offer_id = o.offer_id
inner join core.offer_unit as u on r.offer_id = u.offer_id
where o.purchase_option not in ('reserved', 'savings_plan') or o.commitment_term_hours is not null
