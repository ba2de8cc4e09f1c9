-- Tokens of one joule, the inverse of joules a token; times 10^6 it is tokens per second and MW.
select tokens_per_second::DOUBLE / watts as tokens
