"""Studies as documents, and as data: what was watched, where it turns, what is drawn at random."""
