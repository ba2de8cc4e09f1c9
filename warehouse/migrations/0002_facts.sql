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
