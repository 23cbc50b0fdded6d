"""Tools that build the documentation site; they are not part of attncalc."""
