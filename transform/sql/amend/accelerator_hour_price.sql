-- Offers whose last known price is made again: those touched, those whose document was told of anew, and those whose
-- price came after the last file's own date, by a clock that was ahead.
select offer_id from touched_offer
union
select a.offer_id
from int.accelerator_hour_price as a
where
    a.document_sha256 in (select d.document_sha256 from new_document as d)
    or a.valid_from > (select b.built_at from former.meta.build as b)
