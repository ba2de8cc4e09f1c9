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
