"""Documents as received, and the journal of fetches."""
