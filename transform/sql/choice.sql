-- What is cheapest for one workload: at each yardstick (benchmark family, scenario, precision, lengths, decoding and
-- speed for a user, which may be compared) the cheapest feasible option, the next of another kind, and what would make
-- them change places. Costs are those of mart.training_run_cost and mart.serving_cost, per million tokens.
-- Feasible is what has measured evidence of grade A to C (which shows that the model fits), ends a training within
-- `months_asked`, is not committed to for longer, and is by a provider of `providers_asked` (NULL: all). Spot needs
-- `tolerates_asked` and `spot_loss_asked`, the share of its hours that interruptions cost (NULL: not known, then it is
-- left out and spot_loss_to_win says below which loss it would win). A Capacity Block lasts 182 days at most, and is
-- feasible for a training that ends in them or for months that do. `use_asked` is hours used / hours committed (NULL:
-- a training pays for its whole term alone, serving uses every hour).
-- A price that is not ranked (older than the limit of age) is left out, and one older than `days_asked`.
-- What is left out is counted, with the reason.
with question as (
    select
        case
            when task_asked in ('training', 'serving', 'offline') then task_asked
            else error('choice: task_asked must be training, serving or offline')
        end as task_wanted,
        model_asked as model_wanted,
        case
            when months_asked > 0 then months_asked::DOUBLE
            else error('choice: months_asked must be above 0')::DOUBLE
        end as n_months,
        coalesce(tolerates_asked::BOOLEAN, false) as tolerates,
        spot_loss_asked::DOUBLE as loss,
        days_asked::DOUBLE as days_old,
        providers_asked::VARCHAR[] as wanted
),

trained as (
    select
        *,
        'training' as kind_of_task,
        usd_per_million_tokens_low as usd_low,
        usd_per_million_tokens_median as usd_median,
        usd_per_million_tokens_high as usd_high,
        median_rate * working_share as rate_per_accelerator
    from
        mart.training_run_cost(
            case when task_asked = 'training' then model_asked else 'llama-3.1-8b' end,
            coalesce(tokens_asked, 1e6),
            overhead_asked,
            goodput_asked,
            use_asked,
            1 - coalesce(spot_loss_asked, 0),
            null,
            'bf16'
        )
    where task_asked = 'training'
),

served as (
    select
        *,
        task as kind_of_task,
        coalesce(usd_per_million_at_load, all_in_output_usd_median) as usd_median,
        all_in_output_usd_low * coalesce(usd_per_million_at_load / all_in_output_usd_median, 1) as usd_low,
        all_in_output_usd_high * coalesce(usd_per_million_at_load / all_in_output_usd_median, 1) as usd_high,
        median_output_rate as rate_per_accelerator
    from
        mart.serving_cost(
            case when task_asked = 'training' then 'llama-3.1-8b' else model_asked end,
            speed_asked,
            utilisation_asked,
            use_asked,
            1 - coalesce(spot_loss_asked, 0),
            load_asked
        )
    where task_asked <> 'training' and precision is not null
),

every as (
    select *
    from trained
    union all by name
    select *
    from served
),

weighed as (
    select
        e.*,
        o.last_obtainable_at,
        o.last_asked_at,
        concat_ws(
            ' ', e.accelerator_name, e.form_factor, e.service_provider_name, e.purchase_option, e.commitment_class
        ) as kind_of_option,
        {
            'benchmark_family': e.benchmark_family, 'scenario': e.scenario, 'precision': e.precision,
            'input_length': e.input_length, 'output_length': e.output_length, 'decoding': e.decoding,
            'interactivity': e.interactivity, 'interactivity_statistic': e.interactivity_statistic
        } as yardstick,
        case
            when e.usd_median is null then 'no price or no rate at this speed'
            when not e.is_price_ranked or coalesce(e.age_days > q.days_old, false) then 'price beyond the limit of age'
            when not e.is_ranked or e.evidence_grade not in ('A', 'B', 'C') then 'no measured evidence to rank'
            when q.wanted is not null and not list_contains(q.wanted, e.service_provider_name)
                then 'provider that is not to be bought from'
            when e.training_days > q.n_months * 365 / 12 then 'training takes longer than the horizon'
            when e.purchase_option = 'capacity_block' and coalesce(e.training_days, q.n_months * 365 / 12) > 182
                then 'Capacity Blocks last 182 days at most'
            when e.purchase_option in ('reserved', 'savings_plan') and e.commitment_class is null
                then 'length of the commitment not stated'
            when
                q.n_months < case e.commitment_class
                    when 'one_year' then 12 when 'two_years' then 24 when 'three_years' then 36 when 'longer' then 48
                    else 0
                end
                then 'committed to for longer than the horizon'
            when e.purchase_option = 'spot' and not q.tolerates then 'spot may be interrupted'
            when e.purchase_option = 'spot' and q.loss is null then 'spot whose loss to interruptions is not known'
        end as reason
    from every as e
    cross join question as q
    left join int.obtainable as o
        on
            e.service_provider_name = o.service_provider_name and e.accelerator_name = o.accelerator_name
            and e.purchase_option = o.purchase_option
    where e.kind_of_task = q.task_wanted
),

eligible as (
    select *
    from weighed
    where reason is null
),

best as (
    select *
    from eligible
    qualify row_number() over (partition by yardstick order by usd_median, usd_high, offer_id) = 1
),

second as (
    select e.*
    from eligible as e
    inner join best as b on e.yardstick is not distinct from b.yardstick and e.kind_of_option <> b.kind_of_option
    qualify row_number() over (partition by e.yardstick order by e.usd_median, e.usd_high, e.offer_id) = 1
),

-- Spot that only its loss, or tolerance of it, keeps out: what it costs if nothing is lost.
spot as (
    select *
    from weighed
    where reason in ('spot may be interrupted', 'spot whose loss to interruptions is not known')
    qualify row_number() over (partition by yardstick order by usd_median * running_share, offer_id) = 1
),

counted as (
    select
        yardstick,
        reason,
        count(*) as n_rows
    from weighed
    group by yardstick, reason
),

point as (
    select
        yardstick,
        coalesce(sum(n_rows) filter (where reason is null), 0)::BIGINT as n_feasible,
        string_agg(reason || ' (' || n_rows || ')', '; ' order by reason) as left_out
    from counted
    group by yardstick
)

select
    q.model_wanted as model_name,
    q.task_wanted as workload_task,
    p.yardstick.benchmark_family,
    p.yardstick.scenario,
    p.yardstick.precision,
    p.yardstick.input_length,
    p.yardstick.output_length,
    p.yardstick.decoding,
    p.yardstick.interactivity,
    p.yardstick.interactivity_statistic,
    p.n_feasible,
    b.accelerator_name,
    b.form_factor,
    b.service_provider_name,
    b.purchase_option,
    b.commitment_class,
    b.region_id,
    b.instance_type,
    b.unit_accelerators,
    b.accelerator_count,
    b.running_share,
    b.median_price_usd,
    b.usd_low as usd_per_million_low,
    b.usd_median as usd_per_million,
    b.usd_high as usd_per_million_high,
    b.training_usd_median,
    b.training_days,
    b.usd_per_month_at_load,
    b.is_current,
    b.last_observed_at,
    b.last_obtainable_at,
    b.last_asked_at,
    b.evidence_grade,
    b.benchmark,
    b.measured_by,
    b.measured_on,
    b.source_url,
    b.price_source,
    b.price_document_sha256,
    b.offer_id,
    s.kind_of_option as runner_up,
    s.region_id as runner_up_region_id,
    s.usd_median as runner_up_usd_per_million,
    s.usd_low as runner_up_usd_per_million_low,
    s.is_current as runner_up_is_current,
    s.last_observed_at as runner_up_last_observed_at,
    s.last_obtainable_at as runner_up_last_obtainable_at,
    s.evidence_grade as runner_up_evidence_grade,
    s.median_price_usd as runner_up_price_usd,
    s.rate_per_accelerator as runner_up_rate,
    s.usd_median - b.usd_median as margin_usd_per_million,
    1 - b.usd_median / s.usd_median as margin_share,
    coalesce(b.usd_high < s.usd_low, false) as is_clear,
    s.median_price_usd * b.usd_median / s.usd_median as runner_up_price_to_win,
    s.rate_per_accelerator * s.usd_median / b.usd_median as runner_up_rate_to_win,
    b.median_price_usd * s.usd_median / b.usd_median as price_to_lose,
    t.kind_of_option as spot_option,
    t.usd_median * t.running_share as spot_usd_per_million_without_loss,
    case
        when t.usd_median is not null and b.usd_median is not null
            then greatest(1 - t.usd_median * t.running_share / b.usd_median, 0)
    end as spot_loss_to_win,
    p.left_out
from point as p
cross join question as q
left join best as b on p.yardstick is not distinct from b.yardstick
left join second as s on p.yardstick is not distinct from s.yardstick
left join spot as t on p.yardstick is not distinct from t.yardstick
