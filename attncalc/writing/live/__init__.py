"""What makes a page live: the plan as data, and the script that works it out where it is read."""
