"""Numbers as they are typed, as exact decimals and as they are rounded."""
