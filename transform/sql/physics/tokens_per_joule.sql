-- tokens_per_joule(tokens_per_second > 0, watts > 0): Tokens of one joule. The inverse of joules a token; times 10^6 it
-- is tokens per second and MW.
select tokens_per_second::DOUBLE / watts as tokens
