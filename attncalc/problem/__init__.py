"""What is asked: the fields, the matrices as they stand, and the conventions."""
