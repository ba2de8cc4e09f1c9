-- The shape of the writer's file that migrations start from, step by step as the first versions made it.

create schema core;

create table core.source (
    source VARCHAR,
    service_provider_name VARCHAR,
    title VARCHAR,
    kind VARCHAR,
    precedence INTEGER,
    max_age_hours INTEGER,
    url VARCHAR
);

create table core.document (
    document_sha256 VARCHAR,
    source VARCHAR,
    scope VARCHAR,
    url VARCHAR,
    parameters VARCHAR,
    version_key VARCHAR,
    fetched_at TIMESTAMP,
    published_at TIMESTAMP,
    size_bytes BIGINT,
    whole_size_bytes BIGINT,
    whole_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

create table core.offer (
    offer_id BIGINT,
    service_provider_name VARCHAR,
    instance_type VARCHAR,
    accelerator_name VARCHAR,
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
    sku_id VARCHAR,
    sku_price_id VARCHAR,
    recorded_at TIMESTAMP
);

create table core.price_event (
    offer_id BIGINT,
    source VARCHAR,
    scope VARCHAR,
    valid_from TIMESTAMP,
    unit_price DECIMAL(18, 10),
    upfront_price DECIMAL(18, 10),
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP,
    retracts_recorded_at TIMESTAMP
);

create table core.scope_run (
    run_id VARCHAR,
    source VARCHAR,
    scope VARCHAR,
    observed_at TIMESTAMP,
    complete BOOLEAN,
    archived BOOLEAN,
    status VARCHAR,
    n_rows INTEGER,
    n_refused INTEGER,
    document_sha256 VARCHAR,
    error VARCHAR,
    recorded_at TIMESTAMP
);

create table core.sighting (
    offer_id BIGINT,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

create table core.instance_type (
    instance_type VARCHAR,
    accelerator_name VARCHAR,
    accelerator_vendor VARCHAR,
    accelerator_kind VARCHAR,
    accelerator_count DECIMAL(10, 4),
    capacity_unit VARCHAR,
    accelerator_memory_gib DECIMAL(10, 4),
    neuron_cores_per_accelerator INTEGER,
    known_from DATE,
    override_reason VARCHAR,
    source_url VARCHAR,
    accessed_on DATE
);

create table core.quarantine (
    quarantine_id BIGINT,
    run_id VARCHAR,
    source VARCHAR,
    scope VARCHAR,
    observed_at TIMESTAMP,
    gate VARCHAR,
    reason VARCHAR,
    field VARCHAR,
    value VARCHAR,
    offer_id BIGINT,
    row_json VARCHAR,
    document_sha256 VARCHAR,
    decision VARCHAR,
    decided_at TIMESTAMP,
    decided_by VARCHAR,
    recorded_at TIMESTAMP
);

create table core.journal_position (
    position BIGINT,
    recorded_at TIMESTAMP
);

-- Facts beside prices: what documents say of types, zones, spot and Capacity Blocks.

create table core.spot_advice (
    region_id VARCHAR,
    instance_type VARCHAR,
    operating_system VARCHAR,
    savings_percent INTEGER,
    interruption_band VARCHAR,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

create table core.instance_capability (
    region_id VARCHAR,
    instance_type VARCHAR,
    supports_on_demand BOOLEAN,
    supports_spot BOOLEAN,
    supports_capacity_block BOOLEAN,
    api_accelerator_name VARCHAR,
    api_accelerator_count DECIMAL(10, 4),
    api_accelerator_memory_gib DECIMAL(10, 4),
    api_neuron_cores_per_accelerator INTEGER,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

create table core.instance_zone (
    region_id VARCHAR,
    availability_zone_id VARCHAR,
    availability_zone VARCHAR,
    instance_type VARCHAR,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

create table core.capacity_block_answer (
    region_id VARCHAR,
    instance_type VARCHAR,
    capacity_unit VARCHAR,
    queried_hours INTEGER,
    queried_count INTEGER,
    capacity_block_offering_id VARCHAR,
    availability_zone_id VARCHAR,
    availability_zone VARCHAR,
    starts_at TIMESTAMP,
    ends_at TIMESTAMP,
    duration_minutes INTEGER,
    usable_minutes INTEGER,
    block_fee DECIMAL(18, 10),
    pricing_currency VARCHAR,
    answer_error VARCHAR,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

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

-- What benchmarks measured: rows that the user adds; those that are shipped join them in the published file.

create table core.throughput (
    throughput_id BIGINT,
    model_name VARCHAR,
    task VARCHAR,
    scenario VARCHAR,
    benchmark VARCHAR,
    benchmark_family VARCHAR,
    accelerator_name VARCHAR,
    form_factor VARCHAR,
    accelerator_count DECIMAL(10, 4),
    precision VARCHAR,
    unit_of_work VARCHAR,
    input_length DOUBLE,
    output_length DOUBLE,
    concurrency DOUBLE,
    batch_size DOUBLE,
    output_rate DOUBLE,
    input_rate DOUBLE,
    total_rate DOUBLE,
    interactivity DOUBLE,
    interactivity_statistic VARCHAR,
    ttft_ms DOUBLE,
    ttft_statistic VARCHAR,
    acceptance_length DOUBLE,
    prefix_cache_hit_share DOUBLE,
    error_share DOUBLE,
    is_disaggregated BOOLEAN,
    parallelism VARCHAR,
    software VARCHAR,
    measured_by VARCHAR,
    measured_on DATE,
    source_url VARCHAR,
    evidence_grade VARCHAR,
    note VARCHAR,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);

-- The form of an AWS machine's chips; the table is filled anew from the package whenever the file is opened.

drop table core.instance_type;

create table core.instance_type (
    instance_type VARCHAR,
    accelerator_name VARCHAR,
    accelerator_vendor VARCHAR,
    accelerator_kind VARCHAR,
    accelerator_count DECIMAL(10, 4),
    capacity_unit VARCHAR,
    accelerator_memory_gib DECIMAL(10, 4),
    neuron_cores_per_accelerator INTEGER,
    form_factor VARCHAR,
    known_from DATE,
    override_reason VARCHAR,
    source_url VARCHAR,
    accessed_on DATE
);

-- How far each part of the journal was loaded: bytes of a file, or the number of the last object of a bucket. The
-- journal of one writer is the part without a name.

alter table core.journal_position add column part VARCHAR default '';

-- What became of each scope that another process than the run's own collected, and how long that took: the longest
-- begin first. On a shared warehouse also which groups of scopes were begun or taken back, so that each is begun once.

create table meta.collection (
    run_id VARCHAR,
    group_number INTEGER,
    source VARCHAR,
    scope VARCHAR,
    seconds DOUBLE,
    told VARCHAR,
    recorded_at TIMESTAMP
);
