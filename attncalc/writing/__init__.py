"""Writing: builders of documents, which are values, and one visitor or function for each form."""
