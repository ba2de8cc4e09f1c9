"""Tables of the pages."""
