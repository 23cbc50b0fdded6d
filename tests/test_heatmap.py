"""The heatmap, checked through what is drawn: which cells, in which colours, with which digits."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import pairs
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from test_plot import identity, random_problem, solved

from attncalc import Solution, self_attention
from attncalc.plotting.contrast import contrast
from attncalc.plotting.drawing import draw
from attncalc.plotting.heatmap import MOST_VALUES
from attncalc.plotting.look import Look


def drawn(solution: Solution, **look: Any) -> Figure:
    return draw(solution.problem, solution.heads, Look(**{"kind": "heatmap"} | look))


def meshes(figure: Figure) -> list[QuadMesh]:
    return [each for each in figure.axes[0].collections if isinstance(each, QuadMesh)]


def written(figure: Figure, gid: str) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_gid() == gid]


def texts(figure: Figure) -> dict[str, tuple[float, float]]:
    """Return where each text stands; what stands twice is told last."""
    return {text.get_text(): text.get_position() for text in figure.axes[0].texts}


def grid(solution: Solution, figure: Figure) -> list[list[str]]:
    """Return the digits in the cells, line by line, by where they stand."""
    found = [text for text in figure.axes[0].texts if text.get_gid() == "value"]
    found.sort(key=lambda text: (-round(text.get_position()[1], 3), text.get_position()[0]))
    columns = solution["A"].shape[-1]
    digits = [text.get_text() for text in found]
    return [digits[i : i + columns] for i in range(0, len(digits), columns)]


@pytest.mark.parametrize("name", ["self", "cross", "columns", "sentence"])
def test_cells_show_the_digits_of_the_solution_in_their_places(name: str) -> None:
    """With tokens as columns, too: the matrix stands as the solution prints it."""
    solution = solved(name)
    figure = drawn(solution)
    assert grid(solution, figure) == solution.shown("A")
    (mesh,) = meshes(figure)
    assert np.asarray(mesh.get_array()).reshape(solution["A"].shape) == pytest.approx(
        solution["A"], abs=0.01
    )


def test_digits_stand_in_the_middle_of_their_own_cells() -> None:
    solution = random_problem(5)
    figure = drawn(solution)
    (mesh,) = meshes(figure)
    corners = mesh.get_coordinates()
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    found = [text for text in figure.axes[0].texts if text.get_gid() == "value"]
    assert np.array([t.get_position() for t in found]) == pytest.approx(middles.reshape(-1, 2))


@pytest.mark.parametrize("dark", [False, True])
def test_every_digit_can_be_read_on_its_cell(dark: bool) -> None:
    """All weights from 0 to 1: whatever the colour, black or white reaches 4.5 to 1 on it."""
    solution = identity([[i, 100 - i] for i in range(101)], normalizer="sum")
    figure = drawn(solution, dark=dark)
    FigureCanvasAgg(figure).draw()  # a mesh takes its colours when it is drawn
    (mesh,) = meshes(figure)
    cells = mesh.get_facecolors()
    inks = [t.get_color() for t in figure.axes[0].texts if t.get_gid() == "value"]
    assert len(inks) == len(cells) == 202
    assert len(set(inks)) == 2
    contrasts = [contrast(ink, to_hex(cell)) for ink, cell in zip(inks, cells, strict=True)]
    assert min(contrasts) >= 4.5


def test_rows_are_outputs_and_columns_inputs() -> None:
    figure = drawn(solved("sentence"))
    at = texts(figure)
    assert {"Outputs (queries)", "Inputs (keys)"} <= at.keys()
    names = [t for t in figure.axes[0].texts if t.get_text() in ("cat", "saw", "dog")]
    beside = sorted((t for t in names if t.get_ha() == "right"), key=lambda t: t.get_position())
    assert [t.get_text() for t in sorted(beside, key=lambda t: -t.get_position()[1])] == [
        "cat",
        "saw",
        "dog",
    ]
    above = [t for t in names if t.get_ha() == "center"]
    assert [t.get_text() for t in sorted(above, key=lambda t: t.get_position()[0])] == [
        "cat",
        "saw",
        "dog",
    ]


def test_tokens_as_columns_turn_the_axes_and_the_title_says_so() -> None:
    at = texts(drawn(solved("columns")))
    column_title = at["Outputs (queries), one in each column"]
    row_title = at["Inputs (keys)"]
    assert column_title[1] > row_title[1]
    assert column_title[0] > row_title[0]


def test_cross_attention_names_where_both_sides_come_from() -> None:
    assert {"Outputs (X1)", "Inputs (X2)"} <= texts(drawn(solved("cross"))).keys()


def test_colours_are_perceptually_uniform_and_a_bar_tells_them() -> None:
    figure = drawn(solved("self"))
    (bar,) = (image for image in figure.axes[0].images if image.get_gid() == "bar")
    (mesh,) = meshes(figure)
    assert bar.get_cmap().name == mesh.get_cmap().name == "viridis"
    assert bar.get_clim() == mesh.get_clim() == (0.0, 1.0)
    assert written(figure, "tick") == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    values = np.asarray(bar.get_array())
    assert values[0] > values[-1], "more weight stands higher"


def test_several_heads_share_one_scale_and_one_bar() -> None:
    solution = solved("grouped")
    figure = drawn(solution)
    found = meshes(figure)
    assert len(found) == 4
    assert {mesh.get_clim() for mesh in found} == {(0.0, 1.0)}
    assert len(figure.axes[0].images) == 1
    assert {f"head {i}" for i in range(1, 5)} <= texts(figure).keys()
    places = [mesh.get_coordinates()[0, 0, 0] for mesh in found]
    assert places == sorted(set(places)), "side by side, in their order"


def test_the_shared_scale_holds_the_largest_weight_of_any_head() -> None:
    """Head 1 spreads its weight, head 2 does not: the same colour must mean the same weight."""
    X = np.eye(4)
    W_Q, W_K = np.hstack([0 * X, 9 * X]), np.hstack([X, X])
    solution = self_attention(X, W_Q, W_K, np.hstack([X, X]), heads=2, scale="none")
    assert solution.heads[0].weights.max() == 0.25
    assert {mesh.get_clim() for mesh in meshes(drawn(solution))} == {(0.0, 1.0)}


def test_where_all_weights_are_small_the_scale_ends_at_the_largest() -> None:
    figure = drawn(self_attention([[1]] * 40, [[1]], [[1]], [[1]], decimals=3))
    (mesh,) = meshes(figure)
    assert mesh.get_clim() == pytest.approx((0.0, 0.025))
    assert written(figure, "tick")[-1] == "0.025"


def test_weights_below_zero_and_beyond_one_have_their_colours() -> None:
    solution = identity([[3, -2, 1]], normalizer="sum")
    figure = drawn(solution)
    assert grid(solution, figure) == [["1.50", "-1.00", "0.50"]]
    (mesh,) = meshes(figure)
    assert mesh.get_clim() == pytest.approx((-1.0, 1.5))
    assert written(figure, "tick")[0] == "-1"


def test_a_row_with_every_key_masked_is_a_row_of_zeros() -> None:
    solution = identity([[2, 1]], keep=[[0, 0]])
    figure = drawn(solution)
    assert grid(solution, figure) == [["0.00", "0.00"]]
    assert meshes(figure)[0].get_clim() == (0.0, 1.0)


def test_forty_tokens_have_digits_that_can_be_read_and_do_not_touch() -> None:
    figure = drawn(random_problem(40))
    canvas = FigureCanvasAgg(figure)
    cells = [text for text in figure.axes[0].texts if text.get_gid() == "value"]
    assert len(cells) == 1600
    assert min(text.get_size() for text in cells) >= 5
    row = [text.get_window_extent(canvas.get_renderer()) for text in cells[:40]]
    assert not any(a.overlaps(b) for a, b in pairwise(row))
    assert figure.notes == ()


def test_two_hundred_tokens_are_an_image_without_digits_and_a_note_says_so() -> None:
    figure = drawn(random_problem(200))
    assert meshes(figure) == []
    assert [np.shape(image.get_array()) for image in figure.axes[0].images] == [
        (200, 200),
        (256, 1),
    ]
    assert written(figure, "value") == []
    assert figure.notes == (
        "40,000 weights are not written in the heatmap: "
        "they could not be read in cells as small as these",
    )
    names = [t for t in figure.axes[0].texts if t.get_text().startswith("token ")]
    assert len(names) == 80, "every fifth, on both sides"
    canvas = FigureCanvasAgg(figure)
    spans = [t.get_window_extent(canvas.get_renderer()) for t in names]
    assert not any(a.overlaps(b) for i, a in enumerate(spans) for b in spans[:i])


def test_cells_made_too_small_by_a_size_lose_their_digits_and_a_note_says_so() -> None:
    figure = drawn(random_problem(9), size=(4, None))
    assert written(figure, "value") == []
    assert figure.notes[0].startswith("81 weights are not written in the heatmap")


def test_a_large_page_does_not_make_digits_of_too_many_cells() -> None:
    assert MOST_VALUES < 75 * 75
    figure = drawn(random_problem(75), size=(40, None))
    assert written(figure, "value") == []
    assert len(figure.notes) == 1


def test_digits_are_left_out_where_they_are_not_wanted() -> None:
    figure = drawn(solved("self"), values=False)
    assert written(figure, "value") == []
    assert figure.notes == ()


def test_long_digits_make_wide_cells() -> None:
    solution = self_attention([[1]] * 3, [[1]], [[1]], [[1]], decimals=12)
    figure = drawn(solution)
    canvas = FigureCanvasAgg(figure)
    (mesh,) = meshes(figure)
    corners = figure.axes[0].transData.transform(mesh.get_coordinates().reshape(-1, 2))
    cell = np.diff(corners.reshape(4, 4, 2)[0, :2, 0])[0]
    for text in figure.axes[0].texts:
        if text.get_gid() == "value":
            assert text.get_size() == 9
            assert text.get_window_extent(canvas.get_renderer()).width < cell


def test_both_show_the_map_and_the_heatmap_apart() -> None:
    figure = drawn(solved("self"), kind="both")
    axes = figure.axes[0]
    ranks = [each for each in axes.collections if isinstance(each, LineCollection)]
    assert [len(rank.get_segments()) for rank in ranks] == [3, 1]
    (mesh,) = meshes(figure)
    dots = max(line.get_xdata().max() for line in axes.lines if line.get_gid() == "outputs")
    assert mesh.get_coordinates()[..., 0].min() > dots + 0.5
    titles = [text for text in axes.texts if text.get_gid() == "title"]
    assert [text.get_text() for text in titles] == ["Self-attention: Three tokens"]


def test_heatmaps_of_several_heads_stand_below_their_maps() -> None:
    figure = drawn(solved("heads"), kind="both")
    lowest = min(line.get_ydata().min() for line in figure.axes[0].lines if line.get_gid())
    assert all(mesh.get_coordinates()[..., 1].max() < lowest for mesh in meshes(figure))


@pytest.mark.parametrize(
    ("name", "kind"),
    pairs(["self", "cross", "heads", "grouped", "columns", "sentence"], ["both", "heatmap"]),
)
def test_no_text_stands_on_another(name: str, kind: str) -> None:
    figure = drawn(solved(name), kind=kind)
    canvas = FigureCanvasAgg(figure)
    found = [
        (text.get_text(), text.get_window_extent(canvas.get_renderer()))
        for text in figure.axes[0].texts
    ]
    for i, (one, extent) in enumerate(found):
        for other, where in found[:i]:
            assert not extent.overlaps(where), (one, other)
