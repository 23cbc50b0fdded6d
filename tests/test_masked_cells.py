"""Cells of a heatmap that a mask forbids: hatched, without a number, and named next to the bar."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from attncalc import Problem, solve

EYE = np.eye(2)
TOKENS = np.arange(8.0).reshape(4, 2) / 4
SELF = {"X": TOKENS, "W_Q": EYE, "W_K": EYE, "W_V": EYE}
LATER = np.triu(np.ones((4, 4), dtype=bool), 1)
HEADS = np.stack([LATER, LATER.T])
LOW_BIAS = np.where(LATER, -np.inf, 0.5)


def hatched(figure: Any, head: int = 0) -> Any:
    """Return where a heatmap is hatched, and where it has numbers."""
    axes = figure.axes[head]
    (stripes,) = [each for each in axes.collections if isinstance(each, PolyCollection)]
    found = np.zeros((4, 4), dtype=bool)
    for path in stripes.get_paths():
        column, row = (path.vertices.min(axis=0) + 0.5).astype(int)
        found[row, column] = True
    written = np.zeros((4, 4), dtype=bool)
    for text in axes.texts:
        column, row = map(int, text.get_position())
        written[row, column] |= bool(text.get_text())
    return found, written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "masked"),
    [
        ({"causal": True}, LATER),
        ({"causal": True, "window": 2}, LATER | np.tril(np.ones((4, 4), dtype=bool), -2)),
        ({"ignore": LATER}, LATER),
        ({"keep": ~LATER}, LATER),
        ({"bias": LOW_BIAS}, LATER),
        ({"ignore": [[False, False, True, False]]}, np.tile([False, False, True, False], (4, 1))),
        ({"causal": True, "layout": "columns", "X": TOKENS.T}, LATER.T),
    ],
)
def test_forbidden_cells_are_hatched_and_have_no_number(
    fields: dict[str, Any], masked: np.ndarray
) -> None:
    figure = solve(Problem(**SELF | fields)).plot("heatmap")
    found, written = hatched(figure)
    assert (found == masked).all()
    assert (written == ~masked).all()
    assert figure.axes[-1].get_ylabel() == "attention weight (hatched: masked)"


@pytest.mark.slow
def test_each_head_has_the_cells_of_its_mask() -> None:
    figure = solve(Problem(**SELF, heads=2, ignore=HEADS)).plot("heatmap")
    for head, mask in enumerate(HEADS):
        assert (hatched(figure, head)[0] == mask).all()


@pytest.mark.slow
def test_a_weight_of_zero_is_not_a_masked_one() -> None:
    keys = {"Q": [[100.0]], "K": [[1.0], [-1.0]], "V": [[1.0], [2.0]]}
    figure = solve(Problem(**keys)).plot("heatmap")
    assert not [each for each in figure.axes[0].collections if isinstance(each, PolyCollection)]
    assert [text.get_text() for text in figure.axes[0].texts] == ["1.00", "0.00"]
    assert figure.axes[-1].get_ylabel() == "attention weight"


@pytest.mark.slow
def test_of_many_cells_the_image_has_stripes() -> None:
    tokens = np.random.default_rng(0).normal(size=(60, 2))
    figure = solve(Problem(**SELF | {"X": tokens}, causal=True)).plot("heatmap")
    _, stripes = figure.axes[0].images
    opaque = stripes.get_array()[..., 3] > 0
    later = np.triu(np.ones((60, 60), dtype=bool), 1)
    assert opaque[later].mean() == pytest.approx(0.5, abs=0.1)
    assert not opaque[~later].any()
