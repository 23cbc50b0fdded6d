"""Trained models as distributed: the names of their tensors, and the structure of layers."""
