"""An image cut into patches, which become tokens: the fields, and the steps."""
