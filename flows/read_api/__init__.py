"""The read API for programs (Model Context Protocol)."""
