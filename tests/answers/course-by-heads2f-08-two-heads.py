# two_heads.py   Sean Mulcahy, 20 Nov
import numpy as np
np.set_printoptions(precision=3, suppress=True)

X = np.array([[1, 2], [1, 0], [1, 1]])
W_Q = np.array([[-1, -1, 1, -1], [0, 0, 1, 0]])
W_K = np.array([[-1, 0, -1, 1], [-1, 0, 0, 1]])
W_V = np.array([[0, 0, 0, -1], [1, -1, 1, -1]])
W_O = np.array([[0, -1], [0, 0], [-1, 0], [1, 0]])

outs = []
for h in range(2):
    c = slice(2 * h, 2 * h + 2)
    Q, K, V = X @ W_Q[:, c], X @ W_K[:, c], X @ W_V[:, c]
    S = Q @ K.T
    Z = S / np.sqrt(2)
    A = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    H = A @ V
    outs.append(H)
    print("HEAD", h + 1)
    for name, m in zip(["Q", "K", "V", "scores", "scaled", "weights", "head output"], [Q, K, V, S, Z, A, H]):
        print(name)
        print(m)
    print("argmax (counting from 0):", A.argmax(axis=1))
    print("second (counting from 0):", np.argsort(A, axis=1)[:, -2])
C = np.hstack(outs)
print("concat")
print(C)
print("final")
print(C @ W_O)

# printed:
#
# HEAD 1
# Q
# [[-1 -1]
#  [-1 -1]
#  [-1 -1]]
# K
# [[-3  0]
#  [-1  0]
#  [-2  0]]
# V
# [[ 2 -2]
#  [ 0  0]
#  [ 1 -1]]
# scores
# [[3 1 2]
#  [3 1 2]
#  [3 1 2]]
# scaled
# [[2.121 0.707 1.414]
#  [2.121 0.707 1.414]
#  [2.121 0.707 1.414]]
# weights
# [[0.576 0.14  0.284]
#  [0.576 0.14  0.284]
#  [0.576 0.14  0.284]]
# head output
# [[ 1.436 -1.436]
#  [ 1.436 -1.436]
#  [ 1.436 -1.436]]
# argmax (counting from 0): [0 0 0]
# second (counting from 0): [2 2 2]
# HEAD 2
# Q
# [[ 3 -1]
#  [ 1 -1]
#  [ 2 -1]]
# K
# [[-1  3]
#  [-1  1]
#  [-1  2]]
# V
# [[ 2 -3]
#  [ 0 -1]
#  [ 1 -2]]
# scores
# [[-6 -4 -5]
#  [-4 -2 -3]
#  [-5 -3 -4]]
# scaled
# [[-4.243 -2.828 -3.536]
#  [-2.828 -1.414 -2.121]
#  [-3.536 -2.121 -2.828]]
# weights
# [[0.14  0.576 0.284]
#  [0.14  0.576 0.284]
#  [0.14  0.576 0.284]]
# head output
# [[ 0.564 -1.564]
#  [ 0.564 -1.564]
#  [ 0.564 -1.564]]
# argmax (counting from 0): [1 1 1]
# second (counting from 0): [2 2 2]
# concat
# [[ 1.436 -1.436  0.564 -1.564]
#  [ 1.436 -1.436  0.564 -1.564]
#  [ 1.436 -1.436  0.564 -1.564]]
# final
# [[-2.128 -1.436]
#  [-2.128 -1.436]
#  [-2.128 -1.436]]
