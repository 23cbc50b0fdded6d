"""The implementation of each command: heavy, and imported when it runs."""
