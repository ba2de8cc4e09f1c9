-- What the best cost of a million output tokens did over 7, 30, 90 and 365 days up to the file's own date, like for
-- like: each series of int.token_cost_history (official runs) compared with itself at one point, one row per series
-- and window. Points: that of int.headline_point, and of each other model the one at which most chips have a cost
-- today, at least two. drift is unknown where the cost was not known on one of the two days (unknown_reason).
-- drift_log is the log of the cost by that at the window's beginning; it is the sum of four parts:
--   price_effect         prices of offers that were known before
--   new_provider_effect  steps to an offer whose price was first seen on that day, or again after the limit of age: no
--                        price fell, a provider was newly seen with it
--   evidence_effect      new runs: software
--   new_chip_effect      chips that had no cost before
with history as (
    select *
    from int.token_cost_history
    where evidence_grade = 'A'
),

day as (
    select
        w.window_days,
        b.built_at::DATE as window_ends_on,
        b.built_at::DATE - w.window_days as window_begins_on
    from meta.build as b
    cross join (values (7), (30), (90), (365)) as w (window_days)
),

point as (
    select
        h.model_name,
        h.scenario,
        h.precision,
        h.decoding,
        h.interactivity,
        h.interactivity_statistic,
        bool_or(p.model_name is not null) as is_headline,
        count(distinct h.accelerator_name) as n_chips
    from history as h
    cross join meta.build as b
    left join int.headline_point as p
        on
            h.model_name = p.model_name
            and h.scenario = p.scenario
            and h.precision is not distinct from p.precision
            and h.decoding is not distinct from p.decoding
            and h.interactivity is not distinct from p.interactivity
            and h.interactivity_statistic is not distinct from p.interactivity_statistic
    where
        h.accelerator_name <> 'all chips'
        and h.usd_per_million_output_tokens is not null
        and h.valid_from <= b.built_at::DATE
        and (h.valid_to > b.built_at::DATE or h.valid_to is null)
    group by
        h.model_name,
        h.scenario,
        h.precision,
        h.decoding,
        h.interactivity,
        h.interactivity_statistic
),

chosen as (
    select *
    from point
    where is_headline or n_chips >= 2
    qualify
        row_number() over (
            partition by model_name
            order by
                is_headline desc,
                n_chips desc,
                scenario asc,
                precision asc,
                decoding asc,
                interactivity asc,
                interactivity_statistic asc
        ) = 1
),

-- Days on which an offer had a price that was unknown the day before: first seen, or again after the limit of age.
first_seen as (
    select
        h.offer_id,
        h.valid_from::DATE as seen_on
    from int.price_history as h
    cross join meta.build as b
    window w as (partition by h.offer_id order by h.valid_from)
    qualify
        lag(h.last_observed_at) over w is null
        or (lag(h.last_observed_at) over w)::DATE + b.ranked_days < h.valid_from::DATE
),

series as (
    select
        h.*,
        c.is_headline,
        f.offer_id is not null as is_newly_seen
    from history as h
    inner join chosen as c
        on
            h.model_name = c.model_name
            and h.scenario = c.scenario
            and h.precision is not distinct from c.precision
            and h.decoding is not distinct from c.decoding
            and h.interactivity is not distinct from c.interactivity
            and h.interactivity_statistic is not distinct from c.interactivity_statistic
    left join first_seen as f on h.offer_id = f.offer_id and h.valid_from::DATE = f.seen_on
),

measured as (
    select
        s.model_name,
        s.scenario,
        s.precision,
        s.decoding,
        s.interactivity,
        s.interactivity_statistic,
        s.is_headline,
        s.accelerator_name,
        s.purchase_option,
        s.commitment_class,
        d.window_days,
        d.window_begins_on,
        d.window_ends_on,
        max(s.usd_per_million_output_tokens) filter (
            where
            s.valid_from <= d.window_begins_on and (s.valid_to > d.window_begins_on or s.valid_to is null)
        ) as usd_before,
        max(s.usd_per_million_output_tokens) filter (where s.valid_to > d.window_ends_on or s.valid_to is null)
            as usd_after,
        coalesce(
            sum(s.price_effect) filter (where s.valid_from > d.window_begins_on and not s.is_newly_seen), 0
        ) as price_effect,
        coalesce(
            sum(s.price_effect) filter (where s.valid_from > d.window_begins_on and s.is_newly_seen), 0
        ) as new_provider_effect,
        coalesce(sum(s.evidence_effect) filter (where s.valid_from > d.window_begins_on), 0) as evidence_effect,
        coalesce(sum(s.new_chip_effect) filter (where s.valid_from > d.window_begins_on), 0) as new_chip_effect
    from series as s
    inner join day as d on s.valid_from <= d.window_ends_on
    group by
        s.model_name,
        s.scenario,
        s.precision,
        s.decoding,
        s.interactivity,
        s.interactivity_statistic,
        s.is_headline,
        s.accelerator_name,
        s.purchase_option,
        s.commitment_class,
        d.window_days,
        d.window_begins_on,
        d.window_ends_on
)

select
    model_name,
    scenario,
    precision,
    decoding,
    interactivity,
    interactivity_statistic,
    is_headline,
    accelerator_name,
    purchase_option,
    commitment_class,
    window_days,
    window_begins_on,
    window_ends_on,
    usd_before,
    usd_after,
    usd_after / usd_before - 1 as drift,
    ln(usd_after / usd_before) as drift_log,
    case when usd_before is not null and usd_after is not null then price_effect end as price_effect,
    case when usd_before is not null and usd_after is not null then new_provider_effect end as new_provider_effect,
    case when usd_before is not null and usd_after is not null then evidence_effect end as evidence_effect,
    case when usd_before is not null and usd_after is not null then new_chip_effect end as new_chip_effect,
    case
        when usd_before is null then strftime(window_begins_on, 'no cost known on %Y-%m-%d')
        when usd_after is null then 'no price is ranked now'
    end as unknown_reason
from measured
order by
    is_headline desc,
    model_name asc,
    purchase_option asc,
    commitment_class asc,
    accelerator_name asc,
    window_days asc
