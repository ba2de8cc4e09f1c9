-- What a new log has beside the declared tables: how far each part of the journal was loaded (bytes of a file, or the
-- number of the last object of a bucket; the journal of one writer is the part without a name), and which history
-- this is, as the landing has it.
create schema core;

create schema log;

create table core.journal_position (
    position BIGINT,
    recorded_at TIMESTAMP,
    part VARCHAR
);

create table meta.history (
    history_id VARCHAR,
    made_at TIMESTAMP
);
