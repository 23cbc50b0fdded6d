# Exercise 3, causal self-attention   (Daniel Kim, section 02)
import torch
import math

X = torch.tensor([[0., 2, 0, 0], [0, 1, 2, 1], [1, 1, 1, 2]])
W_Q = torch.tensor([[0., 0, 1], [1, -1, 0], [1, 0, -1], [1, -1, -1]])
W_K = torch.tensor([[-1., 0, 0], [-1, 0, 1], [0, 1, 1], [-1, -1, -1]])
W_V = torch.tensor([[-1., 1, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])

Q, K, V = X @ W_Q, X @ W_K, X @ W_V
print(Q)
# tensor([[ 2., -2.,  0.],
#         [ 4., -2., -3.],
#         [ 4., -3., -2.]])
print(K)
# tensor([[-2.,  0.,  2.],
#         [-2.,  1.,  2.],
#         [-4., -1.,  0.]])
print(V)
# tensor([[2., 0., 2.],
#         [4., 3., 2.],
#         [3., 4., 3.]])

S = Q @ K.T
print(S)
# tensor([[ -4.,  -6.,  -6.],
#         [-14., -16., -14.],
#         [-12., -15., -13.]])

scaled = S / math.sqrt(3)
mask = torch.triu(torch.ones(3, 3, dtype=torch.bool), diagonal=1)
masked = scaled.masked_fill(mask, float("-inf"))
print(masked)
# tensor([[-2.3094,    -inf,    -inf],
#         [-8.0829, -9.2376,    -inf],
#         [-6.9282, -8.6603, -7.5056]])

A = torch.softmax(masked, dim=-1)
print(A)
# tensor([[1.0000, 0.0000, 0.0000],
#         [0.7604, 0.2396, 0.0000],
#         [0.5753, 0.1018, 0.3229]])

O = A @ V
print(O)
# tensor([[2.0000, 0.0000, 2.0000],
#         [2.4793, 0.7189, 2.0000],
#         [2.5265, 1.5971, 2.3229]])

# a: only a
# b: a first, b second
# c: a first, c second
