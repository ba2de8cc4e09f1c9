-- Refused rows on which nobody decided yet, newest first; of each id the last row counts. A price that waits, on which
-- one decides once, is one row: that of its first sighting, with how many there were and when the last.
with waiting as (
    from core.quarantine
    qualify
        row_number() over (partition by quarantine_id order by -epoch_us(recorded_at), decision nulls last) = 1
        and decision is null
)

select
    * exclude (run_id, document_sha256, decided_by, recorded_at), -- noqa: AM04
    count(*) over same as n_observed,
    max(observed_at) over same as last_observed_at
from waiting
window same as (partition by source, offer_id, if(gate in ('history', 'band'), row_json, quarantine_id::VARCHAR))
qualify quarantine_id = arg_min(quarantine_id, (observed_at, quarantine_id)) over same
order by -epoch_us(last_observed_at), source, scope, reason, quarantine_id
