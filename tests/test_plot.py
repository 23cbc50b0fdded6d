"""The connection map, checked through what is drawn: which lines, which style, to which dot."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from conftest import pairs
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from attncalc import OutputError, Solution, cross_attention, read_problem, self_attention, solve
from attncalc.plotting import connection_map
from attncalc.plotting.connection_map import MOST_LINES, THINNEST
from attncalc.plotting.contrast import contrast
from attncalc.plotting.drawing import draw
from attncalc.plotting.look import KINDS, Look
from attncalc.plotting.picture import check_ending, render
from attncalc.plotting.style import DARK, LIGHT
from attncalc.problem.samples import SAMPLES, sample

STYLES = {"most": "solid", "second": "dashed", "others": "dotted"}


def solved(name: str) -> Solution:
    return solve(read_problem(sample(name).path))


def identity(scores: list[list[float]], **conventions: Any) -> Solution:
    """Return cross-attention whose scores are these: X1 = I, W_K = I and X2 = scores."""
    eye = np.eye(len(scores))
    values = [[1]] * len(scores)
    return cross_attention(eye, np.array(scores).T, eye, eye, values, scale="none", **conventions)


def random_problem(tokens: int, **conventions: Any) -> Solution:
    random = np.random.default_rng(7)
    weights = (random.normal(size=(4, 3)) for _ in range(3))
    labels = [f"token {i % 9}" for i in range(tokens)]
    return self_attention(random.normal(size=(tokens, 4)), *weights, labels=labels, **conventions)


def drawn(solution: Solution, **look: Any) -> tuple[Figure, tuple[str, ...]]:
    figure = draw(solution.problem, solution.heads, Look(**look))
    return figure, figure.notes


def dots(figure: Figure, column: str) -> list[tuple[float, float]]:
    """Return where the dots of the "inputs" or "outputs" stand."""
    (found,) = (line for line in figure.axes[0].lines if line.get_gid() == column)
    return list(zip(*found.get_data(), strict=True))


def connections(figure: Figure) -> set[tuple[int, int, str]]:
    """Return what the lines of the map say: output, input, "solid" or "dashed"."""
    inputs, outputs = dots(figure, "inputs"), dots(figure, "outputs")
    found = set()
    for rank in figure.axes[0].collections:
        assert isinstance(rank, LineCollection)
        (_, dashes), *_ = rank.get_linestyles()
        for start, end in (map(tuple, segment) for segment in rank.get_segments()):
            style = STYLES[rank.get_gid()]
            assert (style == "solid") == (dashes is None)
            found.add((outputs.index(start), inputs.index(end), style))
    return found


def boxes(figure: Figure) -> list[Any]:
    """Return the rectangles that the written weights fill, in pixels."""
    canvas = FigureCanvasAgg(figure)
    return [
        text.get_window_extent(canvas.get_renderer())
        for text in figure.axes[0].texts
        if text.get_gid() == "weight"
    ]


def weights(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "weight"]


def test_the_homework_map_has_the_lines_of_its_solution() -> None:
    figure, notes = drawn(solved("self"))
    assert connections(figure) == {
        (0, 2, "solid"),
        (1, 2, "solid"),
        (2, 0, "solid"),
        (2, 1, "dashed"),
    }
    assert sorted(weights(figure)) == ["0.38", "0.62", "1.00", "1.00"]
    assert notes == ()


def test_the_cross_attention_map_has_two_firsts_for_output_one() -> None:
    figure, _ = drawn(solved("cross"))
    assert connections(figure) == {
        (0, 2, "solid"),
        (0, 3, "solid"),
        (1, 3, "solid"),
        (1, 2, "dashed"),
    }


@pytest.mark.parametrize(
    ("scores", "lines"),
    [
        ([[3, 2, 1]], {(0, 0, "solid"), (0, 1, "dashed")}),
        ([[3, 2, 2]], {(0, 0, "solid"), (0, 1, "dashed"), (0, 2, "dashed")}),
        ([[3, 3, 2]], {(0, 0, "solid"), (0, 1, "solid")}),
        ([[9, 2, 1]], {(0, 0, "solid")}),
        ([[5]], {(0, 0, "solid")}),
    ],
)
def test_ties_and_seconds_follow_the_rules(
    scores: list[list[float]], lines: set[tuple[int, int, str]]
) -> None:
    figure, _ = drawn(identity(scores))
    assert connections(figure) == lines


def test_a_second_line_depends_on_the_decimals_shown() -> None:
    """e⁻⁷ = 0.0009 shows as 0.00 but not as 0.001."""
    assert connections(drawn(identity([[9, 2]]))[0]) == {(0, 0, "solid")}
    assert connections(drawn(identity([[9, 2]], decimals=3))[0]) == {
        (0, 0, "solid"),
        (0, 1, "dashed"),
    }


@pytest.mark.parametrize("tokens", [1, 3, 40])
def test_weights_never_overlap_and_all_are_written(tokens: int) -> None:
    solution = random_problem(tokens)
    figure, notes = drawn(solution)
    assert notes == ()
    rectangles = boxes(figure)
    assert len(rectangles) == len(connections(figure))
    for i, one in enumerate(rectangles):
        assert not any(one.overlaps(other) for other in rectangles[:i])


def test_forty_equal_weights_share_one_text_for_each_output() -> None:
    figure, notes = drawn(self_attention([[1]] * 40, [[1]], [[1]], [[1]], decimals=3))
    assert len(connections(figure)) == 1600
    assert set(weights(figure)) == {"40 × 0.025"}
    assert notes == ()


def test_names_of_forty_tokens_stand_apart() -> None:
    figure, _ = drawn(random_problem(40))
    canvas = FigureCanvasAgg(figure)
    names = [t for t in figure.axes[0].texts if t.get_text().startswith("token ")]
    assert len({(t.get_text(), t.get_ha()) for t in names}) == 80, "repeated tokens are told apart"
    spans = [t.get_window_extent(canvas.get_renderer()) for t in names]
    assert not any(a.overlaps(b) for i, a in enumerate(spans) for b in spans[:i])


def test_line_width_grows_with_weight_and_never_vanishes() -> None:
    figure, _ = drawn(identity([[5, 1]], decimals=2))
    solid, dashed = (rank.get_linewidths()[0] for rank in figure.axes[0].collections)
    assert solid > dashed >= THINNEST


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_rank_is_readable_without_colour(palette: Any) -> None:
    """The dash tells the rank, whatever the paper."""
    assert len({str(rank.linestyle) for rank in palette.ranks}) == 3


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_stands_out_from_the_paper(palette: Any) -> None:
    for text in (palette.strong, palette.ink, palette.small_print):
        assert contrast(text, palette.paper) >= 4.5
    for rank in palette.ranks:  # weights are written in the colour of their line
        assert contrast(rank.color, palette.paper) >= 4.5
    assert contrast(palette.rule, palette.paper) >= 3.0


def test_ink_of_the_light_ranks_is_dark_enough_for_grey_print() -> None:
    for rank in LIGHT.ranks:
        red, green, blue = to_rgb(rank.color)
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


def test_homework_gets_its_two_plain_inks_on_white() -> None:
    """What `--all` and `--dark` change must not leak into the picture that homework asks for."""
    figure, _ = drawn(solved("self"))
    inks = [[to_hex(ink) for ink in rank.get_colors()] for rank in figure.axes[0].collections]
    assert inks == [["#0b3c6f"], ["#b34700"]]
    assert to_hex(figure.get_facecolor()) == "#ffffff"


def lines_by_rank(figure: Figure) -> dict[str, LineCollection]:
    return {str(rank.get_gid()): rank for rank in figure.axes[0].collections}


def test_all_draws_a_line_for_every_weight_that_does_not_show_as_zero() -> None:
    figure, notes = drawn(identity([[9, 8, 7, 0]]), every_line=True)
    assert connections(figure) == {(0, 0, "solid"), (0, 1, "dashed"), (0, 2, "dotted")}
    assert sorted(weights(figure)) == ["0.09", "0.24", "0.67"]
    assert notes == (
        "1 weights have no line in the picture: they show as 0.00 (more --decimals draw them)",
    )
    figure, notes = drawn(identity([[9, 8, 7, 0]], decimals=4), every_line=True)
    assert len(connections(figure)) == 4
    assert notes == ()


def test_a_masked_weight_is_no_line_that_was_left_out() -> None:
    figure, notes = drawn(identity([[2, 1, 1]], keep=[[1, 1, 0]]), every_line=True)
    assert connections(figure) == {(0, 0, "solid"), (0, 1, "dashed")}
    assert notes == ()


@pytest.mark.parametrize("dark", [False, True])
def test_with_all_more_weight_is_wider_and_stronger_and_none_too_pale(dark: bool) -> None:
    figure, _ = drawn(random_problem(9), every_line=True, dark=dark)
    paper = to_hex(figure.get_facecolor())
    solution = random_problem(9)
    (head,) = solution.heads
    inputs, outputs = dots(figure, "inputs"), dots(figure, "outputs")
    for rank in lines_by_rank(figure).values():
        segments = [tuple(map(tuple, segment)) for segment in rank.get_segments()]
        sizes = [head.weights[outputs.index(a), inputs.index(b)] for a, b in segments]
        order = np.argsort(sizes)
        contrasts = [contrast(to_hex(ink), paper) for ink in rank.get_colors()]
        assert (np.diff(np.array(rank.get_linewidths())[order]) > 0).all()
        assert (np.diff(np.array(contrasts)[order]) > -0.1).all()  # inks have 256 steps
        assert contrasts[order[-1]] > contrasts[order[0]]
        assert min(contrasts) >= 2.95


def test_negative_weights_have_lines_by_their_size() -> None:
    solution = identity([[3, -2, 1]], normalizer="sum")
    assert solution.shown("A") == [["1.50", "-1.00", "0.50"]]
    figure, _ = drawn(solution, every_line=True)
    assert connections(figure) == {(0, 0, "solid"), (0, 2, "dashed"), (0, 1, "dotted")}
    widths = {name: rank.get_linewidths()[0] for name, rank in lines_by_rank(figure).items()}
    assert widths["most"] > widths["others"] > widths["second"] >= THINNEST
    assert max(widths.values()) <= connection_map.THICKEST


def test_a_weight_beyond_one_is_no_wider_than_one() -> None:
    figure, _ = drawn(identity([[9, -8, 1]], normalizer="sum"))
    assert lines_by_rank(figure)["most"].get_linewidths() == [connection_map.THICKEST]


def test_of_too_many_lines_the_largest_weights_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_map, "MOST_LINES", 12)
    solution = random_problem(6, decimals=9)
    figure, notes = drawn(solution, every_line=True)
    ranks = lines_by_rank(figure)
    assert {name: len(rank.get_segments()) for name, rank in ranks.items()} == {
        "most": 6,
        "second": 6,
    }
    assert notes[0] == ("24 smaller weights have no line in the picture: it shows the 12 largest")
    monkeypatch.setattr(connection_map, "MOST_LINES", 15)
    figure, _ = drawn(solution, every_line=True)
    weights = solution.heads[0].weights
    ranked = sorted(weights.flatten() - 2 * (weights >= np.sort(weights)[:, [-2]]).flatten())
    inputs, outputs = dots(figure, "inputs"), dots(figure, "outputs")
    others = [tuple(map(tuple, each)) for each in lines_by_rank(figure)["others"].get_segments()]
    found = sorted(weights[outputs.index(a), inputs.index(b)] for a, b in others)
    assert found == pytest.approx(ranked[-3:])


def test_of_too_many_ties_every_output_keeps_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_map, "MOST_LINES", 20)
    figure, notes = drawn(self_attention([[1]] * 10, [[1]], [[1]], [[1]]))
    found = connections(figure)
    assert len(found) == 20
    assert {output for output, _, _ in found} == set(range(10))
    assert notes[0].startswith("80 smaller weights have no line")


def test_weights_are_left_out_where_they_are_not_wanted() -> None:
    figure, notes = drawn(solved("self"), values=False)
    assert weights(figure) == []
    assert len(connections(figure)) == 4
    assert notes == ()


def test_two_hundred_tokens_stay_readable() -> None:
    """Thinner lines, every second name, no weights; and the page is no longer than forty's."""
    solution = random_problem(200)
    figure, notes = drawn(solution)
    few, _ = drawn(random_problem(40))
    assert figure.get_size_inches()[1] <= few.get_size_inches()[1] + 0.5
    widest = [max(lines_by_rank(each)["most"].get_linewidths()) for each in (figure, few)]
    assert widest[0] < widest[1] / 2
    canvas = FigureCanvasAgg(figure)
    names = [t for t in figure.axes[0].texts if t.get_text().startswith("token ")]
    assert len(names) == 200
    spans = sorted(
        (t.get_ha(), t.get_window_extent(canvas.get_renderer()).y0, t.get_size()) for t in names
    )
    assert all(size >= 6 for _, _, size in spans)
    assert weights(figure) == []
    (note,) = notes
    lines = sum(len(rank.get_segments()) for rank in lines_by_rank(figure).values())
    assert note == f"{lines} weights are not written in the picture: there is no room for them"


def test_names_of_two_hundred_tokens_stand_apart() -> None:
    figure, _ = drawn(random_problem(200))
    canvas = FigureCanvasAgg(figure)
    names = [t for t in figure.axes[0].texts if t.get_text().startswith("token ")]
    spans = [t.get_window_extent(canvas.get_renderer()) for t in names]
    assert not any(a.overlaps(b) for i, a in enumerate(spans) for b in spans[:i])


def test_two_thousand_tokens_that_tie_take_as_few_artists_as_three() -> None:
    """4,000,000 lines are not drawn one by one, nor at all; texts are not placed for them."""
    weights = np.zeros((1, 1))
    solution = self_attention(np.ones((2000, 1)), weights, weights, weights, decimals=4)
    figure, notes = drawn(solution, every_line=True, kind="both")
    axes = figure.axes[0]
    assert sum(len(rank.get_segments()) for rank in axes.collections) == MOST_LINES
    assert len(axes.get_children()) < 500
    assert notes[0] == (
        "3,990,000 smaller weights have no line in the picture: it shows the 10,000 largest"
    )


@pytest.mark.parametrize(("kind", "form"), pairs(KINDS, ["png", "svg", "pdf"]))
def test_the_same_input_gives_the_same_bytes(
    form: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = render(solved("sentence"), form, look=Look(kind)).content
    monkeypatch.setitem(mpl.rcParams, "lines.linewidth", 9.0)
    monkeypatch.setitem(mpl.rcParams, "font.size", 30.0)
    monkeypatch.setitem(mpl.rcParams, "image.cmap", "jet")
    assert render(solved("sentence"), form, look=Look(kind)).content == first


@pytest.mark.parametrize(("kind", "each"), pairs(KINDS, SAMPLES))
def test_every_sample_is_drawn(each: Any, kind: str) -> None:
    picture = render(solved(each.name), "png", look=Look(kind))
    assert picture.content.startswith(b"\x89PNG")
    assert picture.notes == ()


def test_an_svg_speaks_to_screen_readers() -> None:
    root = ElementTree.fromstring(render(solved("cross"), "svg").content)
    texts = {child.tag.split("}")[1]: child.text for child in root[:2]}
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "map-title map-description"
    assert texts == {
        "title": "Cross-attention: Two tokens attend to four",
        "desc": (
            "Connection map. tokens are rows. scores not scaled. "
            "shown to 2 decimals, halves away from zero. "
            "each step rounded before the next reads it (rounding: each-step). "
            "Output 1: most inputs 3 and 4 (0.40 each), so no second. "
            "Output 2: most input 4 (0.64), second input 3 (0.24)."
        ),
    }


def test_an_svg_of_a_heatmap_tells_its_digits() -> None:
    root = ElementTree.fromstring(render(solved("cross"), "svg", look=Look("heatmap")).content)
    description = str(root[1].text)
    assert description.startswith("Heatmap of the attention weights. tokens are rows.")
    assert description.endswith(
        "Output 2: most input 4 (0.64), second input 3 (0.24). "
        "Weights of output 1: 0.05, 0.15, 0.40, 0.40. Weights of output 2: 0.03, 0.09, 0.24, 0.64."
    )
    both = ElementTree.fromstring(render(solved("cross"), "svg", look=Look("both")).content)
    assert str(both[1].text).startswith("Connection map, and heatmap of the attention weights.")


def test_nobody_has_to_listen_to_two_hundred_outputs() -> None:
    root = ElementTree.fromstring(render(random_problem(200), "svg").content)
    assert str(root[1].text).count("Output ") == 100
    assert str(root[1].text).endswith(". 100 more outputs.")


HOSTILE = [
    *("$x^2$", "$\\frac{", "$\\bad{$", "\\", "[red]", "<b>&amp;", "]]>", "-->"),
    *("a\x1b[31m\x00b", "line\nbreak", "שלום", "\u202eevil"),
]


@pytest.mark.parametrize(("kind", "form"), pairs(KINDS, ["png", "svg", "pdf"]))
def test_hostile_names_are_drawn_as_text(form: str, kind: str) -> None:
    X = [[i] for i in range(len(HOSTILE))]
    title = "$\\bad{$ <svg> ]]>"
    solution = self_attention(X, [[1]], [[1]], [[1]], labels=HOSTILE, title=title)
    picture = render(solution, form, look=Look(kind))
    assert picture.notes == ()
    if form == "svg":
        root = ElementTree.fromstring(picture.content)
        assert root[0].text == f"Self-attention: {title}"


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_is_ever_read_as_math(kind: str) -> None:
    solution = self_attention([[1]] * 2, [[1]], [[1]], [[1]], labels=["$x$", "😀 $\\pi$"])
    figure, _ = drawn(solution, kind=kind)
    names = [text for text in figure.axes[0].texts if "$" in text.get_text()]
    assert len(names) == (4 if kind != "both" else 8)
    assert not any(text.get_parse_math() for text in names)


def test_letters_no_font_can_draw_are_named_in_a_note_and_stay_text_in_svg() -> None:
    """U+10FFFD is a private character: no font has it, so the note must say so."""
    solution = self_attention([[1]], [[1]], [[1]], [[1]], labels=["ᚠ\U0001fabf"])
    picture = render(solution, "svg")
    if picture.notes:
        assert re.fullmatch(
            "no font here can draw .*: boxes stand for them in the picture", picture.notes[0]
        )
        assert "ᚠ\U0001fabf" in picture.content.decode()


def test_only_known_kinds_of_picture_are_taken() -> None:
    assert [check_ending(Path(name)) for name in ("a.png", "b.SVG", "c.d.pdf")] == [
        "png",
        "svg",
        "pdf",
    ]
    for name, reason in (
        ("map.gif", 'map.gif: ".gif" is no kind of picture: end the name in .png, .svg or .pdf'),
        ("map", "map: no ending: end the name in .png, .svg or .pdf"),
    ):
        with pytest.raises(OutputError) as error:
            check_ending(Path(name))
        assert str(error.value) == reason
