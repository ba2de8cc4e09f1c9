-- The first shape of the writer's file. Later files change it; this one is never edited.

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
