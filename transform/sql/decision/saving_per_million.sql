-- saving_per_million(from_usd_per_million > 0, to_usd_per_million > 0, upkeep_usd_per_month >= 0, tokens_per_day > 0):
-- USD saved a million tokens, upkeep shared out. Without upkeep at any load.
select
    from_usd_per_million::DOUBLE - to_usd_per_million
    - case
        when upkeep_usd_per_month = 0 then 0e0
        else upkeep_usd_per_month / decision.million_tokens_per_month(tokens_per_day)
    end as usd_per_million
