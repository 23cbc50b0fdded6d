"""Problems: the fields, the given matrices, and the conventions."""
