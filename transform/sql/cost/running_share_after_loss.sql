-- Share of paid hours that run where some are lost: 1 - loss; NULL where all are, as no amount of money is enough.
select case when loss_share < 1 then 1e0 - loss_share end as ratio
