-- The one model and point of the front page's costs per token.
select
    model_name,
    scenario,
    precision,
    decoding,
    interactivity
from int.headline_point
