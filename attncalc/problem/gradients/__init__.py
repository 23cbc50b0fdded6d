"""Backpropagation: gradients of all given matrices, as steps after those of the other parts."""
