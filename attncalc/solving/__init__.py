"""From a problem to its solution: the plan, the matrix of each step, and the work."""
