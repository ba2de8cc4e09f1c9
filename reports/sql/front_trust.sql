-- What the front page rests on: how many prices, of which kind of evidence, how many are live, how many too old.
select
    count(*) as n_prices,
    count(*) filter (where p.evidence_kind = 'provider_bytes') as n_provider_bytes,
    count(*) filter (where p.evidence_kind = 'transcribed') as n_transcribed,
    count(*) filter (where p.is_current and s.kind = 'live') as n_live,
    count(*) filter (where p.is_too_old) as n_old,
    (select count(*) from int.truth_check) as n_checks,
    (select count(*) filter (where t.result = 'differs') from int.truth_check as t) as n_differing
from int.accelerator_hour_price as p
inner join core.source as s on p.source = s.source
