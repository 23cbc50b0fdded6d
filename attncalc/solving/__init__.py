"""From a problem to its solution: the plan, what each step comes to, and the work."""
