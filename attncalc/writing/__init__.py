"""Writing: each way a Solution is shown in text. No module here knows any mathematics."""
