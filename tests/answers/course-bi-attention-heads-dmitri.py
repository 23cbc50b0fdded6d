# Problem 4, two heads. Dmitri Halvorsen
# plain python because numpy would not install on the lab machine :(
from math import exp, sqrt

X  = [[1, 1, 0, 2], [0, 1, 1, 1], [0, 1, 1, 2]]
WQ = [[1, 0, 1, -1], [-1, 0, 1, 0], [1, 0, -1, -1], [-1, 1, 1, -1]]
WK = [[-1, -1, 1, 0], [0, -1, 0, 0], [1, 0, 0, 0], [-1, 1, 0, 1]]
WV = [[-1, 0, 1, -1], [1, 0, 0, 1], [0, 0, -1, 1], [0, 0, -1, -1]]
WO = [[0, -1, 0, -1], [1, 0, -1, 0], [-1, -1, 1, 1], [-1, 1, 1, -1]]

def mul(a, b):
    return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]

def soft(r):
    e = [exp(x) for x in r]
    return [x / sum(e) for x in e]

def show(name, m):
    print(name)
    for r in m:
        print("   ", [round(x, 4) for x in r])

Q, K, V = mul(X, WQ), mul(X, WK), mul(X, WV)
show("Q", Q); show("K", K); show("V", V)
C = [[], [], []]
for h in (0, 1):
    part = lambda m: [r[2*h:2*h+2] for r in m]
    S = mul(part(Q), list(zip(*part(K))))
    Z = [[s / sqrt(2) for s in r] for r in S]
    A = [soft(r) for r in Z]
    H = mul(A, part(V))
    print("--- head", h + 1)
    show("S", S); show("S/sqrt(2)", Z); show("A", A); show("A V", H)
    C = [c + r for c, r in zip(C, H)]
print("--- both")
show("C", C)
show("C WO", mul(C, WO))

# This is what it prints:
#
# Q
#     [-2, 2, 4, -3]
#     [-1, 1, 1, -2]
#     [-2, 2, 2, -3]
# K
#     [-3, 0, 1, 2]
#     [0, 0, 0, 1]
#     [-1, 1, 0, 2]
# V
#     [0, 0, -1, -2]
#     [1, 0, -2, 1]
#     [1, 0, -3, 0]
# --- head 1
# S
#     [6, 0, 4]
#     [3, 0, 2]
#     [6, 0, 4]
# S/sqrt(2)
#     [4.2426, 0.0, 2.8284]
#     [2.1213, 0.0, 1.4142]
#     [4.2426, 0.0, 2.8284]
# A
#     [0.7952, 0.0114, 0.1933]
#     [0.62, 0.0743, 0.3057]
#     [0.7952, 0.0114, 0.1933]
# A V
#     [0.2048, 0.0]
#     [0.38, 0.0]
#     [0.2048, 0.0]
# --- head 2
# S
#     [-2, -3, -6]
#     [-3, -2, -4]
#     [-4, -3, -6]
# S/sqrt(2)
#     [-1.4142, -2.1213, -4.2426]
#     [-2.1213, -1.4142, -2.8284]
#     [-2.8284, -2.1213, -4.2426]
# A
#     [0.6443, 0.3177, 0.0381]
#     [0.284, 0.576, 0.14]
#     [0.3057, 0.62, 0.0743]
# A V
#     [-1.3938, -0.9709]
#     [-1.856, 0.008]
#     [-1.7686, 0.0086]
# --- both
# C
#     [0.2048, 0.0, -1.3938, -0.9709]
#     [0.38, 0.0, -1.856, 0.008]
#     [0.2048, 0.0, -1.7686, 0.0086]
# C WO
#     [2.3647, 0.2182, -2.3647, -0.6277]
#     [1.848, 1.484, -1.848, -2.244]
#     [1.76, 1.5725, -1.76, -1.982]
