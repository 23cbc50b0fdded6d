import numpy as np
np.set_printoptions(precision=4, suppress=True)

X  = np.array([[2, 2], [0, 2], [2, 1]])
Wq = np.array([[0, 1, 1], [0, 1, 0]])
Wk = np.array([[1, 1, -1], [0, 1, -1]])
Wv = np.array([[-1, 1, 1], [-1, -1, 1]])

Q, K, V = X @ Wq, X @ Wk, X @ Wv
S = Q @ K.T
Z = S / np.sqrt(K.shape[1])
E = np.exp(Z)
A = E / E.sum(axis=1, keepdims=True)
O = A @ V

for name, M in [("Q", Q), ("K", K), ("V", V), ("S", S), ("scaled", Z), ("A", A), ("O", O)]:
    print(name)
    print(M)
print("order", np.argsort(-A, axis=1))

# output when I run it:
# Q
# [[0 4 2]
#  [0 2 0]
#  [0 3 2]]
# K
# [[ 2  4 -4]
#  [ 0  2 -2]
#  [ 2  3 -3]]
# V
# [[-4  0  4]
#  [-2 -2  2]
#  [-3  1  3]]
# S
# [[8 4 6]
#  [8 4 6]
#  [4 2 3]]
# scaled
# [[4.6188 2.3094 3.4641]
#  [4.6188 2.3094 3.4641]
#  [2.3094 1.1547 1.7321]]
# A
# [[0.707  0.0702 0.2228]
#  [0.707  0.0702 0.2228]
#  [0.5329 0.1679 0.2992]]
# O
# [[-3.6368  0.0824  3.6368]
#  [-3.6368  0.0824  3.6368]
#  [-3.365  -0.0367  3.365 ]]
# order [[0 2 1]
#  [0 2 1]
#  [0 2 1]]
# (so: first green, then cools, tea last, for every word)
