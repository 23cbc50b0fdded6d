"""New problems: drawn, solved, and kept if they satisfy the requested conditions."""
