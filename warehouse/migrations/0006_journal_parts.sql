-- How far each part of the journal was loaded: bytes of a file, or the number of the last object of a bucket. The
-- journal of one writer is the part without a name.

alter table core.journal_position add column part VARCHAR default '';
