-- How long each scope took when it was collected by another process than the run's own: the longest begin first.

create table meta.collection (
    run_id VARCHAR,
    source VARCHAR,
    scope VARCHAR,
    seconds DOUBLE,
    recorded_at TIMESTAMP
);
