-- What other providers than AWS say of an offer: the chip in their own words, whose machine it is, the fabric, the time
-- that a price buys, and whom it is kept for. The offers' ids stay: all of these are NULL for what is there already,
-- and what was called accelerator_name was the chip in a source's words.

alter table core.offer rename to old_offer;

create table core.offer (
    offer_id BIGINT,
    service_provider_name VARCHAR,
    instance_type VARCHAR,
    accelerator_label VARCHAR,
    accelerator_count DECIMAL(10, 4),
    capacity_unit VARCHAR,
    minimum_quantity DECIMAL(10, 4),
    region_id VARCHAR,
    availability_zone_id VARCHAR,
    availability_zone VARCHAR,
    purchase_option VARCHAR,
    commitment_discount_type VARCHAR,
    commitment_term_hours INTEGER,
    purchase_payment_model VARCHAR,
    offering_class VARCHAR,
    tier VARCHAR,
    statistic VARCHAR,
    conditions VARCHAR,
    pricing_currency VARCHAR,
    unit_price_type VARCHAR,
    contract_id VARCHAR,
    host_provider_name VARCHAR,
    fabric VARCHAR,
    pricing_unit VARCHAR,
    restriction VARCHAR,
    sku_id VARCHAR,
    sku_price_id VARCHAR,
    recorded_at TIMESTAMP
);

insert into core.offer by name
select
    offer_id,
    service_provider_name,
    instance_type,
    accelerator_name as accelerator_label,
    accelerator_count,
    capacity_unit,
    minimum_quantity,
    region_id,
    availability_zone_id,
    availability_zone,
    purchase_option,
    commitment_discount_type,
    commitment_term_hours,
    purchase_payment_model,
    offering_class,
    tier,
    statistic,
    conditions,
    pricing_currency,
    unit_price_type,
    contract_id,
    sku_id,
    sku_price_id,
    recorded_at
from core.old_offer;

drop table core.old_offer;

create table core.availability (
    service_provider_name VARCHAR,
    host_provider_name VARCHAR,
    instance_type VARCHAR,
    accelerator_label VARCHAR,
    accelerator_count DECIMAL(10, 4),
    region_id VARCHAR,
    purchase_option VARCHAR,
    tier VARCHAR,
    n_machines BIGINT,
    n_accelerators BIGINT,
    stock_status VARCHAR,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

create table core.fx_rate (
    pricing_currency VARCHAR,
    rate_date DATE,
    units_per_eur DECIMAL(18, 10),
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);
