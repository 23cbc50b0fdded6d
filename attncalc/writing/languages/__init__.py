"""Languages of what students read: one catalog each, and documents in them."""
