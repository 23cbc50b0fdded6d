"""Interactive pages: the plan as data, and the script that computes it in the browser."""
