"""The user's own prices and fleet, in a private file."""
