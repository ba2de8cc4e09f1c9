"""What every room of flows uses: queries, redaction, output, files."""
