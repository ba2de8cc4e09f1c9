"""Stand-ins for the providers' services: real HTTP servers on loopback, with faults that can be switched on."""
