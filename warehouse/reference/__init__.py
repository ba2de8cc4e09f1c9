"""Reference tables: chips, models, terms, measured runs, claims."""
