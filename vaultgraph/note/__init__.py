"""Reading notes: bytes of Markdown files to a RecordTable of columns."""
