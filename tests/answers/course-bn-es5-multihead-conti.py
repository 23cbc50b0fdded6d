"""Esercizio 5 - Matteo Conti
attenzione con due teste, frase 'red car'
(output incollato in fondo)"""
import numpy as np
np.set_printoptions(precision=3, suppress=True)

X = np.array([[1,1,0,0],[1,2,0,0]])
WQ = np.array([[0,0,0,-1],[-1,1,1,0],[1,0,-1,-1],[1,-1,1,1]])
WK = np.array([[-1,0,0,1],[0,1,0,-1],[1,0,1,0],[1,-1,-1,0]])
WV = np.array([[1,0,1,0],[0,1,1,0],[-1,-1,1,0],[0,0,1,1]])
WO = np.array([[1,-1,0,-1],[-1,1,1,0],[1,-1,1,-1],[-1,-1,0,-1]])

Q, K, V = X@WQ, X@WK, X@WV
print("Q =\n", Q); print("K =\n", K); print("V =\n", V)
uscite = []
for h in range(2):
    c = slice(2*h, 2*h+2)
    S = Q[:,c] @ K[:,c].T
    Z = S/np.sqrt(2)
    A = np.exp(Z); A = A/A.sum(axis=1, keepdims=True)
    H = A @ V[:,c]
    print(f"--- testa {h+1} ---")
    print("punteggi\n", S)
    print("scalati\n", Z)
    print("pesi\n", A)
    print("uscita testa\n", H)
    print("ordine (dal piu' guardato)\n", np.argsort(-A, axis=1))
    uscite.append(H)
C = np.hstack(uscite)
print("C =\n", C)
print("O =\n", C@WO)

""" OUTPUT
Q =
 [[-1  1  1 -1]
 [-2  2  2 -1]]
K =
 [[-1  1  0  0]
 [-1  2  0 -1]]
V =
 [[1 1 2 0]
 [1 2 3 0]]
--- testa 1 ---
punteggi
 [[2 3]
 [4 6]]
scalati
 [[1.414 2.121]
 [2.828 4.243]]
pesi
 [[0.33  0.67 ]
 [0.196 0.804]]
uscita testa
 [[1.   1.67 ]
 [1.    1.804]]
ordine (dal piu' guardato)
 [[1 0]
 [1 0]]
--- testa 2 ---
punteggi
 [[0 1]
 [0 1]]
scalati
 [[0.    0.707]
 [0.    0.707]]
pesi
 [[0.33 0.67]
 [0.33 0.67]]
uscita testa
 [[2.67 0.  ]
 [2.67 0.  ]]
ordine (dal piu' guardato)
 [[1 0]
 [1 0]]
C =
 [[1.    1.67  2.67  0.   ]
 [1.    1.804 2.67  0.   ]]
O =
 [[ 2.    -2.     4.34  -3.67 ]
 [ 1.865 -1.865  4.474 -3.67 ]]
"""
