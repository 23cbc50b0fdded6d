# homework 4, attention
Q = [[1, 3],      # token 1
     [-1, 1],     # token 2
     [2.5, -2]]   # token 3
K = [[3, -0.5], [2, -1.5], [-2.5, 3.5]]
# V from the same X
V = [[2.5, -1.5], [-1, 3], [-2, -3]]
scores = [[1.5, -2.5, 8], [-3.5, -3.5, 6], [8.5, 8, -13.25]]  # Q K^T
attn_weights = [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]]  # rows sum to 1
