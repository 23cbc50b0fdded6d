"""Languages of what students read: one catalog each."""
