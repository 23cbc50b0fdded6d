"""The small languages of studies, each read by a module of its own.

changes    scale=0.1:10:log      K[a] *= 0:3      K[a] += 0:1 * [1, 0]      X[2,1] = -2:2
watched    A[1,:]    entropy(A)    max(A)    distance(O, V[b])    error(O, mean V[a,b])    norm(O)
draws      K[a] ~ N(mu, 0.01 I + 1/2 mu muT)      K[a] ~ U(0, 1)
targets    1/2 v_a + 1/2 v_b
"""
