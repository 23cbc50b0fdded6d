"""The operations: what a step computes, and how its equation and each entry are written.

Each is written once, in numpy, and runs on floats and on arrays of Decimals, on whole matrices and
on blocks of rows. Tokens are rows here, whatever the layout.
"""
