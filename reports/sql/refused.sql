-- Refused rows that nobody settled yet, newest first; of each id the last row counts.
from core.quarantine
qualify
    row_number() over (partition by quarantine_id order by -epoch_us(recorded_at), decision nulls last) = 1
    and decision is null
order by -epoch_us(observed_at), source, scope, reason, quarantine_id
