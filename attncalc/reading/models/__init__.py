"""Trained models as they are handed out: what their tensors are called, and how layers are made."""
