"""Layers: how an encoder and a decoder are put together of parts."""
