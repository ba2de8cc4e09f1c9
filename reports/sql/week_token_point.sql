-- The operating point at which the week's costs of a token are shown.
select
    model_name,
    input_length,
    output_length,
    interactivity
from int.headline_point
