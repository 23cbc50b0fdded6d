#!/usr/bin/env python3
# Exercise 13 -- computed by hand, script only to check the square root
from math import sqrt

d_k = 4
root = sqrt(d_k)          # -> 2.0

# queries (token 1 / token 2)
#    2, 1, 1, 1
#    -1, 2, -0.5, 2
# keys
#    1, 2, 1, 2
#    2, -1, 2, -1
# values
#    11, 0
#    -3, -5

# dot products, row = query
#    7, 4
#    6.5, -7
# the same divided by root
#    3.50, 2.00
#    3.25, -3.50

# weights after softmax
#    0.82, 0.18
#    1.00, 0.00
# weighted sum of the values
#    8.45, -0.91
#    10.98, -0.01

if __name__ == "__main__":
    print("nothing to run, see comments")
