"""Backpropagation: gradients of all that is given, as steps behind those of the other parts."""
