"""Languages of what students read: one catalogue each, and documents in them."""
