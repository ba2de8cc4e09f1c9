-- What a million output tokens costs at each model's point on each usual chip and each other that has a cost, by way to
-- buy, or why it is not known; and what the chip's best cost on demand did there in 90 days.
select
    t.*, -- noqa: AM04
    p.* exclude (p.model_name, p.point_rank, p.n_chips, p.measured_on, p.evidence_grade),
    d.drift as drift_90d
from int.model_token_cost as t
inner join int.model_point as p on t.model_name = p.model_name
left join int.token_drift as d
    on
        t.model_name = d.model_name and t.accelerator_name = d.accelerator_name and d.purchase_option = 'on_demand'
        and d.window_days = 90
where t.option_kind <> 'one_year' and (t.place = 'AWS' or t.option_kind = 'on_demand')
qualify
    list_contains(cost.usual_chips(), t.accelerator_name)
    or count(t.usd_per_million_output_tokens) over (partition by t.model_name, t.accelerator_name) > 0
order by
    t.point_rank asc,
    min(case when t.option_kind = 'on_demand' then t.usd_per_million_output_tokens end) over (
        partition by t.model_name, t.accelerator_name
    ) asc nulls last,
    t.accelerator_name asc,
    t.usd_per_million_output_tokens asc nulls last
