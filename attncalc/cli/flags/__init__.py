"""The flags of each command: light, for they are made before it is known what is asked."""
