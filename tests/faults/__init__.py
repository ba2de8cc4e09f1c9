"""Every source against everything that can go wrong on the wire: one fault server, one table, one test."""
