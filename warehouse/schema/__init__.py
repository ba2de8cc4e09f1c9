"""Tables, columns, and what they mean."""
