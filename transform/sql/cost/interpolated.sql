-- interpolated(x, x0, y0, x1, y1): Value on a straight line between two points. From (x0, y0) to (x1, y1); y1 where
-- both ends are one, or there is no other.
select case when x0 is null or x1 = x0 then y1 else y0 + (y1 - y0)::DOUBLE * (x - x0) / (x1 - x0) end as y
