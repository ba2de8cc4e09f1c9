-- A large file that streams by is fingerprinted by BLAKE3; of those read before, whole_sha256 stays valid.

alter table core.document add column whole_blake3 VARCHAR;
