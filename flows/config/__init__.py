"""Settings: one file, environment variables, defaults."""
