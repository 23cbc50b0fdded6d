"""Studies as documents, and as data."""
