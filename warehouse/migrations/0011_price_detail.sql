-- What a provider says beside a price: since when it holds, and of which parts it is the sum.

create table core.price_detail (
    service_provider_name VARCHAR,
    instance_type VARCHAR,
    region_id VARCHAR,
    purchase_option VARCHAR,
    commitment_term_hours INTEGER,
    tier VARCHAR,
    effective_at TIMESTAMP,
    price_parts VARCHAR,
    source VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    recorded_at TIMESTAMP
);
