# exercise 5, masked self-attention   -- Kwame Asante, lab group C
import numpy as np
np.set_printoptions(precision=4, suppress=True)

X  = np.array([[0,2,0],[1,1,0],[0,1,1],[0,1,2]])   # one day it rains
WQ = np.array([[0,-1],[1,1],[1,-1]])
WK = np.array([[0,-1],[1,0],[-1,1]])
WV = np.array([[-1,0],[0,-1],[-1,0]])

Q, K, V = X@WQ, X@WK, X@WV
S = Q @ K.T
S2 = S / np.sqrt(2)
M = np.where(np.tril(np.ones((4,4)))==1, S2, -np.inf)
E = np.exp(M)
A = E / E.sum(axis=1, keepdims=True)
O = A @ V
for name, m in [("Q",Q),("K",K),("V",V),("S",S),("S/sqrt(2)",S2),("masked",M),("A",A),("O",O)]:
    print(name); print(m)
print("argsort, biggest first:")
print(np.argsort(-A, axis=1, kind="stable")[:, :2])

# ---- output ----
# Q
# [[ 2  2]
#  [ 1  0]
#  [ 2  0]
#  [ 3 -1]]
# K
# [[ 2  0]
#  [ 1 -1]
#  [ 0  1]
#  [-1  2]]
# V
# [[ 0 -2]
#  [-1 -1]
#  [-1 -1]
#  [-2 -1]]
# S
# [[ 4  0  2  2]
#  [ 2  1  0 -1]
#  [ 4  2  0 -2]
#  [ 6  4 -1 -5]]
# S/sqrt(2)
# [[ 2.8284  0.      1.4142  1.4142]
#  [ 1.4142  0.7071  0.     -0.7071]
#  [ 2.8284  1.4142  0.     -1.4142]
#  [ 4.2426  2.8284 -0.7071 -3.5355]]
# masked
# [[ 2.8284    -inf    -inf    -inf]
#  [ 1.4142  0.7071    -inf    -inf]
#  [ 2.8284  1.4142  0.        -inf]
#  [ 4.2426  2.8284 -0.7071 -3.5355]]
# A
# [[1.     0.     0.     0.    ]
#  [0.6698 0.3302 0.     0.    ]
#  [0.7679 0.1867 0.0454 0.    ]
#  [0.7996 0.1944 0.0057 0.0003]]
# O
# [[ 0.     -2.    ]
#  [-0.3302 -1.6698]
#  [-0.2321 -1.7679]
#  [-0.2007 -1.7996]]
# argsort, biggest first:
# [[0 1]
#  [0 1]
#  [0 1]
#  [0 1]]
#
# (indices start at 0. So all four attend most to "one" (index 0); day, it and
#  rains have "day" as second. For the first row the second one is meaningless,
#  weight is 0.)
