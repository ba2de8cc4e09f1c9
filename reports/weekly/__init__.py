"""The week: page, archive and mail."""
