-- What the best cost of a million output tokens did over 7, 30, 90 and 365 days up to the file's own date, like for
-- like: each series of int.token_cost_history (official runs) compared with itself at its model's int.model_point, one
-- row per series and window. drift is unknown where the cost was not known on one of the two days (unknown_reason).
-- drift_log is the log of the cost by that at the window's beginning: the sum of the four effects, of which that of
-- prices is of offers that were known before.
with history as (
    select
        *,
        {
            'model_name': model_name, 'scenario': scenario, 'precision': precision, 'decoding': decoding,
            'interactivity': interactivity, 'interactivity_statistic': interactivity_statistic
        } as op
    from int.token_cost_history
    where coalesce(evidence_grade, 'A') = 'A'
),

day as (
    select
        window_days,
        meta.built_at()::DATE as window_ends_on,
        meta.built_at()::DATE - window_days as window_begins_on
    from (values (7), (30), (90), (365)) as w (window_days)
),

chosen as (
    select
        {
            'model_name': p.model_name, 'scenario': p.scenario, 'precision': p.precision, 'decoding': p.decoding,
            'interactivity': p.interactivity, 'interactivity_statistic': p.interactivity_statistic
        } as op,
        h.model_name is not null as is_headline
    from int.model_point as p
    left join int.headline_point as h on p.model_name = h.model_name
),

offered as (
    select distinct
        o.offer_no,
        o.offer_id,
        decision.ranked_days(
            m.service_provider_name is not null, o.purchase_option, o.commitment_term_hours, b.ranked_days,
            b.marketplace_days
        ) as ranked_days
    from core.offer as o
    inner join history as h on o.offer_id = h.offer_id
    left join core.market as m on o.service_provider_name = m.service_provider_name
    cross join meta.build as b
),

-- Days of the last year on which an offer had a price that was unknown the day before: first seen, or again after the
-- limit of age or a year. Older links are not read.
first_seen as (
    select
        o.offer_id,
        h.valid_from::DATE as seen_on
    from log.price_link_of('offered') as h
    inner join offered as o on h.offer_no = o.offer_no
    where h.valid_to > meta.built_at() - interval 2 years or h.valid_to is null
    window w as (partition by h.offer_no order by h.valid_from)
    qualify
        lag(h.last_observed_at) over w is null
        or (lag(h.last_observed_at) over w)::DATE + o.ranked_days < h.valid_from::DATE
),

-- Effects as decimals: sums of doubles depend on the order of rows.
series as (
    select
        h.* replace (
            h.price_effect::DECIMAL(18, 15) as price_effect, h.evidence_effect::DECIMAL(18, 15) as evidence_effect,
            h.new_chip_effect::DECIMAL(18, 15) as new_chip_effect
        ),
        c.is_headline,
        f.offer_id is not null as is_newly_seen
    from history as h
    inner join chosen as c on h.op is not distinct from c.op
    left join first_seen as f on h.offer_id = f.offer_id and h.valid_from::DATE = f.seen_on
),

measured as (
    select
        s.op,
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
    group by all
)

select
    op.*, -- noqa: AM04
    measured.* exclude (
        measured.op, measured.price_effect, measured.new_provider_effect, measured.evidence_effect,
        measured.new_chip_effect
    ),
    measured.usd_after / measured.usd_before - 1 as drift,
    ln(measured.usd_after / measured.usd_before) as drift_log,
    case when drift_log is not null then columns('_effect$')::DOUBLE end as '\0', -- noqa: RF05
    case
        when measured.usd_before is null then strftime(measured.window_begins_on, 'no cost known on %Y-%m-%d')
        when measured.usd_after is null then 'no price is ranked now'
    end as unknown_reason
from measured
order by
    measured.is_headline desc, op.model_name asc, measured.purchase_option asc, measured.commitment_class asc,
    measured.accelerator_name asc, measured.window_days asc
