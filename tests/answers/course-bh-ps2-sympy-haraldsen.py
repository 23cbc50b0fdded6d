"""Problem set 2, exercise 1. Ingrid Haraldsen.
I did it exactly with SymPy so there is no rounding until the end.
Outputs are pasted below each block as comments."""
from sympy import Matrix, sqrt, exp, N

X  = Matrix([[2,0,2],[1,1,0],[0,2,1],[1,2,1]])
WQ = Matrix([[0,-1],[-1,1],[-1,0]])
WK = Matrix([[0,1],[1,0],[0,-1]])
WV = Matrix([[1,0],[-1,-1],[0,0]])

Q, K, V = X*WQ, X*WK, X*WV
print(Q); print(K); print(V)
# Matrix([[-2, -2], [-1, 0], [-3, 2], [-3, 1]])
# Matrix([[0, 0], [1, 1], [2, -1], [2, 0]])
# Matrix([[2, 0], [0, -1], [-2, -2], [-1, -2]])

S = Q*K.T
print(S)
# Matrix([[0, -4, -2, -4], [0, -1, -2, -2], [0, -1, -8, -6], [0, -2, -7, -6]])

Z = S/sqrt(2)
print(Z)
# Matrix([[0, -2*sqrt(2), -sqrt(2), -2*sqrt(2)], [0, -sqrt(2)/2, -sqrt(2), -sqrt(2)], [0, -sqrt(2)/2, -4*sqrt(2), -3*sqrt(2)], [0, -sqrt(2), -7*sqrt(2)/2, -3*sqrt(2)]])

E = Z.applyfunc(exp)
A = Matrix(4, 4, lambda i, j: E[i, j]/sum(E.row(i)))
print(A.evalf(5))
# Matrix([[0.73458, 0.043418, 0.17859, 0.043418], [0.50523, 0.24911, 0.12283, 0.12283], [0.66184, 0.32633, 0.0023121, 0.0095104], [0.79078, 0.19225, 0.0056028, 0.011363]])

O = A*V
print(O.evalf(5))
# Matrix([[1.0686, -0.48743], [0.64197, -0.74043], [1.3096, -0.34998], [1.5590, -0.22618]])
