"""The residual connection: what a part read is added to what it gives."""
