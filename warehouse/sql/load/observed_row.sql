-- The accepted rows with the id of their offer: 52 bits of the MD5 of its identity, so that every machine gives the
-- same offer the same id, and a double holds it exactly.
select
    * replace (row_number::BIGINT as row_number), -- noqa: AM04
    ('0x' || substr(md5(concat_ws(
        chr(31),
        coalesce(service_provider_name, chr(0)),
        coalesce(instance_type, chr(0)),
        coalesce(accelerator_label, chr(0)),
        coalesce(accelerator_count::VARCHAR, chr(0)),
        coalesce(capacity_unit, chr(0)),
        coalesce(minimum_quantity::VARCHAR, chr(0)),
        coalesce(region_id, chr(0)),
        coalesce(availability_zone_id, chr(0)),
        coalesce(availability_zone, chr(0)),
        coalesce(purchase_option, chr(0)),
        coalesce(commitment_discount_type, chr(0)),
        coalesce(commitment_term_hours::VARCHAR, chr(0)),
        coalesce(purchase_payment_model, chr(0)),
        coalesce(offering_class, chr(0)),
        coalesce(tier, chr(0)),
        coalesce(statistic, chr(0)),
        coalesce(conditions, chr(0)),
        coalesce(pricing_currency, chr(0)),
        coalesce(unit_price_type, chr(0)),
        coalesce(contract_id, chr(0)),
        -- columns of a later date: where they are NULL, as for all of AWS, the id is what it was without them
        'host_provider_name=' || host_provider_name,
        'fabric=' || fabric,
        'pricing_unit=' || pricing_unit,
        'restriction=' || restriction
    )), 1, 13))::BIGINT as offer_id
from accepted_row
