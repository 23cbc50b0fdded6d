# Anton Bergqvist - lab 5 - multi-head attention
import numpy as np
np.set_printoptions(precision=4, suppress=True)

X = np.array([[2, 1, 0, 0], [2, 0, 0, 0]])
WQ = np.array([[-1, -1, 1, 1], [0, 1, -1, -1], [0, 0, 1, 1], [0, -1, 1, 1]])
WK = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [-1, -1, 1, -1], [0, 1, 1, 1]])
WV = np.array([[0, -1, -1, 1], [1, 1, -1, 0], [1, 1, 1, 0], [1, 0, 1, 0]])
WO = np.array([[1, 0, 0, -1], [-1, 0, -1, -1], [0, -1, 0, 1], [-1, 1, 0, 0]])

Q, K, V = X @ WQ, X @ WK, X @ WV
print("Q", Q, "K", K, "V", V, sep="\n")

heads = []
for h in range(2):
    c = slice(2 * h, 2 * h + 2)
    S = Q[:, c] @ K[:, c].T
    Z = S / np.sqrt(2)
    A = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    heads.append(A @ V[:, c])
    print("head", h + 1)
    print("scores", S, "scaled", Z, "weights", A, "A @ V", heads[-1], sep="\n")
    print("order (most first):", (np.argsort(-A, axis=1) + 1).tolist())

C = np.hstack(heads)
print("concat", C, sep="\n")
print("output", C @ WO.T, sep="\n")

# printed:
# Q
# [[-2 -1  1  1]
#  [-2 -2  2  2]]
# K
# [[ 2  1 -1  0]
#  [ 2  0 -2  0]]
# V
# [[ 1 -1 -3  2]
#  [ 0 -2 -2  2]]
# head 1
# scores
# [[-5 -4]
#  [-6 -4]]
# scaled
# [[-3.5355 -2.8284]
#  [-4.2426 -2.8284]]
# weights
# [[0.3302 0.6698]
#  [0.1956 0.8044]]
# A @ V
# [[ 0.3302 -1.6698]
#  [ 0.1956 -1.8044]]
# order (most first): [[2, 1], [2, 1]]
# head 2
# scores
# [[-1 -2]
#  [-2 -4]]
# scaled
# [[-0.7071 -1.4142]
#  [-1.4142 -2.8284]]
# weights
# [[0.6698 0.3302]
#  [0.8044 0.1956]]
# A @ V
# [[-2.6698  2.    ]
#  [-2.8044  2.    ]]
# order (most first): [[1, 2], [1, 2]]
# concat
# [[ 0.3302 -1.6698 -2.6698  2.    ]
#  [ 0.1956 -1.8044 -2.8044  2.    ]]
# output
# [[-1.6698  0.3395  3.6698 -2.    ]
#  [-1.8044  0.6089  3.8044 -2.    ]]
