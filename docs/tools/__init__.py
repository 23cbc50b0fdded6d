"""What makes the documentation site; none of it is part of attncalc."""
