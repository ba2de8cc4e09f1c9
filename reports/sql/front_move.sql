-- Whose on-demand list prices moved in 90 days.
select * -- noqa: AM04
from int.front_move
order by news_rank
