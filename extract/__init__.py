"""Sources: each fetches documents from a provider and parses them into observations."""
