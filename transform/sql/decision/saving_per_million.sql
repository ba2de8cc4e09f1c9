-- What a million tokens on the new side saves, its upkeep shared out over the load; without upkeep at any load.
select
    from_usd_per_million::DOUBLE - to_usd_per_million
    - case
        when upkeep_usd_per_month = 0 then 0e0
        else upkeep_usd_per_month / decision.million_tokens_per_month(tokens_per_day)
    end as usd_per_million
