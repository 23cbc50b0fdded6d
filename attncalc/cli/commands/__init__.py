"""What each command does: heavy, and imported when it runs."""
