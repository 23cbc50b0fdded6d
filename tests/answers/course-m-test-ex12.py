"""Exercise 12, my hand-computed numbers as regression tests.

Rounded to three places after every step, like the sheet says.
"""
import numpy as np
from attn import project, dot_scores, scale, softmax_rows, mix

X = np.array([[-1, 1, 1], [2, .5, .5]])


def test_projections():
    q, k, v = project(X)
    assert np.allclose(q, [[-0.5, 1, -1], [1, 0.5, -1.75]])
    assert np.allclose(k, [[-1.5, 1.5, -1], [0.5, 0.75, 2]])
    assert np.allclose(v, [[0.5], [2.75]])


def test_scores():
    s = dot_scores(X)
    assert np.allclose(s, [[3.25, -1.5], [1, -2.625]])
    assert np.allclose(scale(s), [[1.876, -0.866], [0.577, -1.516]], atol=5e-4)


def test_weights():
    assert np.allclose(softmax_rows(X), [[0.939, 0.061], [0.89, 0.11]], atol=5e-4)


def test_output():
    out = mix(X)
    assert out.shape == (2, 1)
    assert np.allclose(out, [[0.637], [0.748]], atol=5e-4)
