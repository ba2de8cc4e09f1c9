-- Speeds for a user, in tokens per second, at which frontiers are read where nobody asks for one.
select [20e0, 30e0, 50e0, 75e0, 100e0] as speeds
