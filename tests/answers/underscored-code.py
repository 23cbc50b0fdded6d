import numpy as np

Q = np.array([[1, 3], [-1, 1], [2.5, -2]])
K = np.array([[3, -0.5], [2, -1.5], [-2.5, 3.5]])
V = np.array([[2.5, -1.5], [-1, 3], [-2, -3]])
# scores are not printed here
attention_weights = np.array([
    [0, 0, 1],
    [0, 0, 1],
    [0.62, 0.38, 0],
])
output = np.array([[-2, -3], [-2, -3], [1.17, 0.21]])
