"""The heatmap, checked through what is drawn: which cells, in which colors, with which digits."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import mostly_slow
from matplotlib.colors import to_hex
from pictures import (
    dots,
    grid,
    identity,
    lines,
    meshes,
    overlapping,
    panels,
    random_problem,
    solved,
    texts,
    the,
    tick_texts,
    written,
)
from pictures import drawn as drawn_as

from attncalc import Solution, self_attention
from attncalc.writing.plotting.figure import HouseFigure
from attncalc.writing.plotting.heatmap import MOST_VALUES
from attncalc.writing.plotting.style import contrast


def drawn(solution: Solution, **look: Any) -> HouseFigure:
    return drawn_as(solution, **{"kind": "heatmap"} | look)


def names(figure: HouseFigure, side: str) -> list[str]:
    return [label.get_text() for label in tick_texts(the(figure, "heatmap"), side)]


def bar_ticks(figure: HouseFigure) -> list[str]:
    return [label.get_text() for label in tick_texts(the(figure, "bar"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["self", "cross", "columns", "sentence"])
def test_cells_show_the_digits_of_the_solution_in_their_places(name: str) -> None:
    """Also with tokens as columns: the matrix has the orientation of the printed solution."""
    solution = solved(name)
    figure = drawn(solution)
    assert grid(figure) == solution.shown("A")
    (mesh,) = meshes(figure)
    assert np.asarray(mesh.get_array()).reshape(solution["A"].shape) == pytest.approx(
        solution["A"], abs=0.01
    )


@pytest.mark.slow
def test_digits_are_centred_in_their_cells() -> None:
    solution = random_problem(5)
    figure = drawn(solution)
    (mesh,) = meshes(figure)
    corners = mesh.get_coordinates()
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    found = texts(figure, "value")
    assert np.array([t.get_position() for t in found]) == pytest.approx(middles.reshape(-1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("dark", mostly_slow([False, True]))
def test_every_digit_can_be_read_on_its_cell(dark: bool) -> None:
    """All weights from 0 to 1: whatever the color, black or white reaches 4.5 to 1 on it."""
    solution = identity([[i, 100 - i] for i in range(101)], normalizer="sum")
    figure = drawn(solution, dark=dark)
    figure.canvas.draw()  # a mesh takes its colors when it is drawn
    (mesh,) = meshes(figure)
    cells = mesh.get_facecolors()
    inks = [text.get_color() for text in texts(figure, "value")]
    assert len(inks) == len(cells) == 202
    assert len(set(inks)) == 2
    contrasts = [contrast(ink, to_hex(cell)) for ink, cell in zip(inks, cells, strict=True)]
    assert min(contrasts) >= 4.5


@pytest.mark.slow
def test_rows_are_outputs_and_columns_inputs() -> None:
    figure = drawn(solved("sentence"))
    axes = the(figure, "heatmap")
    assert axes.get_ylabel() == "Outputs (queries)"
    assert axes.get_xlabel() == "Inputs (keys)"
    tokens = ["the (1)", "cat", "saw", "the (4)", "dog"]
    assert names(figure, "y") == names(figure, "x") == tokens
    rows = [text.get_window_extent() for text in tick_texts(axes)]
    cells = axes.get_window_extent()
    assert all(box.x1 < cells.x0 for box in rows)
    assert all(one.y0 > other.y1 for one, other in pairwise(rows)), "the first on top"
    assert all(text.get_window_extent().y0 > cells.y1 for text in tick_texts(axes, "x"))


@pytest.mark.slow
def test_tokens_as_columns_swap_the_axes() -> None:
    axes = the(drawn(solved("columns")), "heatmap")
    assert " ".join(axes.get_xlabel().split()) == "Outputs (queries), one in each column"
    assert axes.get_ylabel() == "Inputs (keys)"


@pytest.mark.slow
def test_cross_attention_names_both_sources() -> None:
    axes = the(drawn(solved("cross")), "heatmap")
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("Outputs (X1)", "Inputs (X2)")


def test_colours_are_perceptually_uniform_with_a_bar() -> None:
    figure = drawn(solved("self"))
    bar = the(figure, "bar")
    solids = max(bar.collections, key=lambda each: np.size(each.get_array()))
    (mesh,) = meshes(figure)
    assert solids.get_cmap().name == mesh.get_cmap().name == "viridis"
    assert solids.get_clim() == mesh.get_clim() == (0.0, 1.0)
    assert bar_ticks(figure) == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert bar.get_ylabel() == "attention weight"
    heights = [text.get_window_extent().y0 for text in tick_texts(bar)]
    assert heights == sorted(heights), "more weight stands higher"


@pytest.mark.slow
def test_several_heads_share_one_scale_and_one_bar() -> None:
    solution = solved("grouped")
    figure = drawn(solution)
    found = meshes(figure)
    assert len(found) == 4
    assert {mesh.get_clim() for mesh in found} == {(0.0, 1.0)}
    assert len(panels(figure, "bar")) == 1
    heads = panels(figure, "heatmap")
    assert [axes.get_title() for axes in heads] == [f"head {i}" for i in range(1, 5)]
    places = [axes.get_position().x0 for axes in heads]
    assert places == sorted(set(places)), "side by side, in their order"


@pytest.mark.slow
def test_the_shared_scale_includes_the_largest_weight_of_all_heads() -> None:
    """Head 1 spreads its weight, head 2 does not: the same color must mean the same weight."""
    X = np.eye(4)
    W_Q, W_K = np.hstack([0 * X, 9 * X]), np.hstack([X, X])
    solution = self_attention(X, W_Q, W_K, np.hstack([X, X]), heads=2, scale="none")
    assert solution.heads[0].weights.max() == 0.25
    assert {mesh.get_clim() for mesh in meshes(drawn(solution))} == {(0.0, 1.0)}


@pytest.mark.slow
def test_where_all_weights_are_small_the_scale_ends_at_the_largest() -> None:
    figure = drawn(self_attention([[1]] * 40, [[1]], [[1]], [[1]], decimals=3))
    (mesh,) = meshes(figure)
    assert mesh.get_clim() == pytest.approx((0.0, 0.025))
    assert bar_ticks(figure)[-1] == "0.025"


@pytest.mark.slow
def test_weights_below_zero_and_beyond_one_have_their_colours() -> None:
    solution = identity([[3, -2, 1]], normalizer="sum")
    figure = drawn(solution)
    assert grid(figure) == [["1.50", "-1.00", "0.50"]]
    (mesh,) = meshes(figure)
    assert mesh.get_clim() == pytest.approx((-1.0, 1.5))
    assert bar_ticks(figure)[0] == "-1"


def test_a_row_with_every_key_masked_is_hatched_and_has_no_numbers() -> None:
    solution = identity([[2, 1]], keep=[[0, 0]])
    figure = drawn(solution)
    assert grid(figure) == [["", ""]]
    assert meshes(figure)[0].get_clim() == (0.0, 1.0)


@pytest.mark.slow
def test_forty_tokens_have_digits_that_can_be_read_and_do_not_touch() -> None:
    figure = drawn(random_problem(40))
    cells = texts(figure, "value")
    assert len(cells) == 1600
    assert min(text.get_size() for text in cells) >= 5
    assert overlapping(cells[:40]) == []
    assert figure.notes == ()


@pytest.mark.slow
def test_two_hundred_tokens_are_an_image_without_digits_with_a_note() -> None:
    figure = drawn(random_problem(200))
    assert meshes(figure) == []
    (image,) = the(figure, "heatmap").images
    assert np.shape(image.get_array()) == (200, 200)
    assert written(figure, "value") == []
    assert figure.notes == (
        "40,000 weights are not written in the heatmap: the cells are too small",
    )
    axes = the(figure, "heatmap")
    for side in ("x", "y"):
        found = tick_texts(axes, side)
        assert len(found) == 40, "every fifth"
        assert overlapping(found) == []


@pytest.mark.slow
def test_cells_made_too_small_by_a_size_lose_their_digits_with_a_note() -> None:
    figure = drawn(random_problem(9), size=(4, None))
    assert written(figure, "value") == []
    assert figure.notes[0].startswith("81 weights are not written in the heatmap")


@pytest.mark.slow
def test_a_large_page_does_not_make_digits_of_too_many_cells() -> None:
    assert MOST_VALUES < 75 * 75
    figure = drawn(random_problem(75), size=(40, None))
    assert written(figure, "value") == []
    assert len(figure.notes) == 1


@pytest.mark.slow
def test_digits_can_be_left_out() -> None:
    figure = drawn(solved("self"), values=False)
    assert written(figure, "value") == []
    assert figure.notes == ()


@pytest.mark.slow
def test_long_digits_make_wide_cells() -> None:
    solution = self_attention([[1]] * 3, [[1]], [[1]], [[1]], decimals=12)
    figure = drawn(solution)
    (mesh,) = meshes(figure)
    corners = the(figure, "heatmap").transData.transform(mesh.get_coordinates().reshape(-1, 2))
    cell = np.diff(corners.reshape(4, 4, 2)[0, :2, 0])[0]
    assert len(texts(figure, "value")) == 9
    for text in texts(figure, "value"):
        assert text.get_size() == 9
        assert text.get_window_extent().width < cell


@pytest.mark.slow
def test_both_show_the_map_and_the_heatmap_separately() -> None:
    figure = drawn(solved("self"), kind="both")
    ranks = lines(the(figure, "map")).values()
    assert [len(rank.get_segments()) for rank in ranks] == [3, 1]
    left, right = the(figure, "map").get_tightbbox(), the(figure, "heatmap").get_tightbbox()
    assert left.x1 < right.x0
    assert written(figure, "title") == ["Self-attention: Three tokens"]


@pytest.mark.slow
def test_rows_of_cells_are_aligned_with_the_dots_of_their_outputs() -> None:
    figure = drawn(random_problem(9), kind="both")
    beside, cells = the(figure, "map"), the(figure, "heatmap")
    dot = [beside.transData.transform(place)[1] for place in dots(beside, "outputs")]
    row = [cells.transData.transform((0, i))[1] for i in range(9)]
    assert row == pytest.approx(dot, abs=1)  # pixels


@pytest.mark.slow
def test_heatmaps_of_several_heads_are_below_their_maps() -> None:
    figure = drawn(solved("heads"), kind="both")
    for above, under in zip(panels(figure, "map"), panels(figure, "heatmap"), strict=True):
        assert under.get_tightbbox().y1 < above.get_tightbbox().y0
        assert above.get_position().x0 <= under.get_position().x0
        assert under.get_position().x1 <= above.get_position().x1
        assert above.get_title() == under.get_title() != ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", mostly_slow(["heads", "cross", "self", "columns", "grouped", "sentence"], 3)
)
@pytest.mark.parametrize("kind", mostly_slow(["both", "heatmap"]))
def test_texts_do_not_overlap(name: str, kind: str) -> None:
    assert overlapping(texts(drawn(solved(name), kind=kind))) == []
