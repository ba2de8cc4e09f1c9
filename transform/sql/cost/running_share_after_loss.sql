-- running_share_after_loss(loss_share >= 0): Share of paid hours that run; NULL where all are lost. 1 - loss; no amount
-- of money is enough where all are lost.
select case when loss_share < 1 then 1e0 - loss_share end as ratio
