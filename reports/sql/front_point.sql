-- The one model and point at which the front page and the week show costs per token.
select * -- noqa: AM04
from int.headline_point
