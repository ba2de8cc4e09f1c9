-- Each link of the chains with what it began with: the fetch and the price.
select * exclude (end_fetch_no) from log.price_closed -- noqa: AM04
union all by name
select
    offer_no,
    fetch_no,
    unit_price,
    upfront_price
from log.open_link
