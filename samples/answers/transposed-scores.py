Q = [[1, 3], [-1, 1], [2.5, -2]]
K = [[3, -0.5], [2, -1.5], [-2.5, 3.5]]
V = [[2.5, -1.5], [-1, 3], [-2, -3]]
S = [[1.5, -3.5, 8.5], [-2.5, -3.5, 8], [8, 6, -13.25]]
A = [[0, 0, 1], [0, 0, 1], [0.88, 0.12, 0]]
O = [[-2, -3], [-2, -3], [2.08, -0.96]]
# Output 1: solid line to 3, no dashed line
# Output 2: solid line to 3, no dashed line
# Output 3: solid line to 1, dashed line to 2
