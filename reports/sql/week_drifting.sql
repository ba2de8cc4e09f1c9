-- Prices that move by themselves, spot and marketplaces, in a week: how many moves each way, of how many offers.
select
    service_provider_name,
    purchase_option,
    change_kind,
    count(*) as n_moves,
    count(distinct offer_id) as n_offers,
    count(*) filter (where change_ratio < 0) as n_down,
    count(*) filter (where change_ratio > 0) as n_up
from int.price_change
where change_kind in ('spot_move', 'market_move') and observed_at >= $since and observed_at < $until
group by service_provider_name, purchase_option, change_kind
order by -count(*), service_provider_name, purchase_option, change_kind
