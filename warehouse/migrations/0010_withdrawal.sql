-- Fetches that somebody took back, as what they said was wrong: why, who and when.

create table core.withdrawal (
    source VARCHAR,
    scope VARCHAR,
    observed_at TIMESTAMP,
    document_sha256 VARCHAR,
    reason VARCHAR,
    withdrawn_by VARCHAR,
    recorded_at TIMESTAMP
);

alter table log.price_other drop column retraction_reason;

alter table log.price_other drop column retracted_by;
