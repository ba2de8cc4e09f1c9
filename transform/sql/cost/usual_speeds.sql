-- usual_speeds(): Speeds for a user at which frontiers are read, in tokens per second.
select [20e0, 30e0, 50e0, 75e0, 100e0] as speeds
