-- Refused rows that nobody settled yet, newest first; of each id the last row counts, and of a price that waits, on
-- which one decides once, the last sighting.
with waiting as (
    from core.quarantine
    qualify
        row_number() over (partition by quarantine_id order by -epoch_us(recorded_at), decision nulls last) = 1
        and decision is null
)

from waiting
window same as (partition by source, offer_id, if(gate in ('history', 'band'), row_json, quarantine_id::VARCHAR))
qualify observed_at = max(observed_at) over same
order by -epoch_us(observed_at), source, scope, reason, quarantine_id
