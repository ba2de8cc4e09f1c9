-- accelerators_needed(memory_needed_gb > 0, memory_gb > 0): Least number of chips whose memory holds it.
-- The least number of chips whose memory holds what is needed, by capacity alone: no layout of shards is checked.
-- ceil(needed / capacity of one), both in GB.
select ceil(memory_needed_gb::DOUBLE / memory_gb) as accelerators
