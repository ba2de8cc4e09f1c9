-- Offers whose last known price is made again: those touched, those whose document the log has
-- recorded again, and those whose price is later than the date of the last file, as of a clock that was ahead.
select offer_id from touched_offer
union
select a.offer_id
from int.accelerator_hour_price as a
where
    a.document_sha256 in (select d.document_sha256 from new_document as d)
    or a.valid_from > (select b.built_at from former.meta.build as b)
