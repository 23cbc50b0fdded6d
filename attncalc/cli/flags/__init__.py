"""The flags of each command: light, since they are created at every start."""
