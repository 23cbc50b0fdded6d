"""The matrix notation of equations that a reader writes."""

import pytest

from attncalc.equations.notation import formula
from attncalc.equations.tree import parse
from attncalc.writing.mathematics import in_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Y[i in n, o in w] = sum(X[i,a] * W[a,o] for a in d) / sqrt(d_k)", "(X W) / √d_k"),
        ("Y[i in n, j in m] = 2 * X[i,j] * relu(Z[j,i]) / 3", "(2 X ⊙ ReLU(Zᵀ)) / 3"),
        ("Y[z in 1, j in m] = sum(X[i,j] ** 2 for i in n)", "colsum(X^2)"),
        ("Y[i in n, z in 1] = max(X[i,0], 0)", "[max(X[i,0], 0)]_i,z"),
        ("Y[i in n, j in m] = X[i - 1,j]", "[X[i - 1,j]]_i,j"),
    ],
)
def test_the_notation_of_equations_of_a_reader(text, expected):
    assert in_text(formula(parse(text), {})) == expected
