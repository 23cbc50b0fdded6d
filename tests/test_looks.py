"""Size, dark paper, worksheets without answers, and figures for notebooks."""

import io
import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from conftest import Command, mostly_slow
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from pictures import (
    HOSTILE,
    connections,
    dots,
    drawn,
    grid,
    lines,
    names,
    overlapping,
    panels,
    random_problem,
    solved,
    texts,
    the,
    written,
)

from attncalc import InputError, Problem, solve
from attncalc.writing.plotting import style
from attncalc.writing.plotting.drawing import draw, draw_blank, render, render_blank
from attncalc.writing.plotting.figure import Caption, LeftOut, Mosaic, Track, figure_of
from attncalc.writing.plotting.look import KINDS, Look, read_size
from attncalc.writing.plotting.style import LIGHT, contrast

pytestmark = pytest.mark.campaign(4)

SVG = "{http://www.w3.org/2000/svg}"


def inches_of_png(content: bytes) -> tuple[float, float]:
    """Return the width and height of a picture of 200 dots an inch, from its header."""
    return int.from_bytes(content[16:20]) / 200, int.from_bytes(content[20:24]) / 200


# Size


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_slow(KINDS))
def test_a_picture_has_the_size_that_is_asked_for(kind: str) -> None:
    picture = render(solved("heads"), "png", look=Look(kind, size=(12, 8)))
    assert inches_of_png(picture.content) == (12, 8)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_drawings_have_the_size_that_is_asked_for(form: str) -> None:
    content = render(solved("self"), form, look=Look(size=(12, 8))).content
    if form == "svg":
        root = ElementTree.fromstring(content)
        assert (root.get("width"), root.get("height")) == ("864pt", "576pt")
    else:
        assert b"/MediaBox [ 0 0 864 576 ]" in content


@pytest.mark.campaign(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", mostly_slow([(12, 8), (6.5, None), (9, 12)]))
@pytest.mark.parametrize("name", mostly_slow(["columns", "cross", "sentence", "heads"]))
def test_all_that_is_drawn_stays_on_the_page(kind: str, size: Any, name: str) -> None:
    figure = drawn(solved(name), kind=kind, size=size)
    dpi, (width, height) = figure.dpi, figure.get_size_inches()
    drawings = [*texts(figure), *figure.axes]  # all lines of the map end at dots
    drawings += [dots for axes in figure.axes for dots in axes.lines]
    box = Bbox.union([Bbox(each.get_window_extent().get_points() / dpi) for each in drawings])
    assert (width, height) == (size[0], size[1] or height)
    assert box.x0 >= 0.05
    assert box.y0 >= 0.05
    assert box.x1 <= width - 0.05
    assert box.y1 <= height - 0.05
    heads = 1 if name != "heads" else 2
    assert len(panels(figure, "map")) == (0 if kind == "heatmap" else heads)
    assert len(panels(figure, "heatmap")) == (0 if kind == "map" else heads)


@pytest.mark.slow
def test_a_large_page_is_filled() -> None:
    """The space between the dots grows, not the margin."""
    columns = the(drawn(solved("self"), size=(14, 9)), "map").get_window_extent()
    assert columns.width > 12 * 100  # pixels of a hundredth of an inch
    assert columns.height > 6.5 * 100


def test_a_width_alone_keeps_the_proportions_of_cells() -> None:
    figure = drawn(solved("self"), kind="heatmap", size=(9, None))
    assert figure.get_size_inches()[0] == 9
    cells = the(figure, "heatmap").get_window_extent()
    assert cells.width == pytest.approx(cells.height, rel=0.01)
    assert cells.width > 3 * 1.5 * 100


@pytest.mark.slow
def test_text_keeps_its_size_on_any_page() -> None:
    sizes = [
        sorted((text.get_text(), text.get_size()) for text in texts(figure) if not text.get_gid())
        for figure in (drawn(solved("self"), size=size) for size in (None, (4, None), (15, None)))
    ]
    assert len(sizes[0]) == 10  # headings, names and the legend
    assert sizes[0] == sizes[1] == sizes[2]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, None),
        ("12x8", (12, 8)),
        (" 12 × 8.5 ", (12, 8.5)),
        ("12X8", (12, 8)),
        ("6.5", (6.5, None)),
        ("13/2", (6.5, None)),
        (7, (7, None)),
        ((12, 8), (12, 8)),
        ([12, "8"], (12, 8)),
        (np.array([12.0, 8.0]), (12, 8)),
    ],
)
def test_a_size_is_read(given: object, read: object) -> None:
    assert read_size(given) == read


@pytest.mark.parametrize(
    "given",
    ["", "x", "12x", "x8", "big", "12x8x3", "12 8", "nan", "12xinf", "1e999", "١٢", True, {}, ()],
)
def test_nonsense_is_not_a_size(given: object) -> None:
    with pytest.raises(InputError, match=r"^size takes inches, as 12x8 or a width as 12, not "):
        read_size(given)


@pytest.mark.parametrize("given", ["0", "-4x3", "900x900", "12x0.5", 41, "1e300"])
def test_no_page_is_that_large_or_small(given: object) -> None:
    with pytest.raises(InputError, match=r"^size takes 1 to 40 inches a side, not "):
        read_size(given)


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_slow(KINDS))
@pytest.mark.parametrize("size", mostly_slow([(1, 1), (2, None), (12, 1.5), (1, 9)]))
def test_a_page_too_small_is_refused_with_the_size_that_is_needed(kind: str, size: Any) -> None:
    solution = solved("heads")
    with pytest.raises(InputError) as error:
        draw(solution.problem, solution.heads, Look(kind, size=size))
    words = str(error.value).split()
    assert str(error.value).startswith("size ")
    assert "is too small: this picture needs" in str(error.value)
    needed = (float(words[-4]), float(words[-2]))
    draw(solution.problem, solution.heads, Look(kind, size=needed))  # and that is enough


# Dark paper


@pytest.mark.campaign(4)
@pytest.mark.parametrize("kind", mostly_slow(KINDS, 2))
@pytest.mark.parametrize("dark", [False, True])
def test_texts_and_lines_contrast_with_the_paper(kind: str, dark: bool) -> None:
    figure = drawn(solved("heads"), kind=kind, dark=dark)
    paper = to_hex(figure.get_facecolor())
    for text in texts(figure):
        if text.get_gid() != "value":  # those are on cells
            assert contrast(to_hex(text.get_color()), paper) >= 4.5, text.get_text()
    for axes in panels(figure, "map"):
        for line in axes.lines:
            assert contrast(to_hex(line.get_color()), paper) >= 3
        for side in ("left", "right"):
            assert contrast(to_hex(axes.spines[side].get_edgecolor()), paper) >= 3
        for rank in lines(axes).values():
            assert all(contrast(to_hex(ink), paper) >= 3 for ink in rank.get_colors())
    for axes in figure.axes:
        assert to_hex(axes.get_facecolor()) == paper


@pytest.mark.slow
def test_dark_paper_is_dark_in_the_file() -> None:
    from matplotlib.image import imread

    light, dark = (
        imread(io.BytesIO(render(solved("self"), "png", look=Look(dark=dark)).content))
        for dark in (False, True)
    )
    assert light[0, 0, :3].min() == 1
    assert dark[0, 0, :3].max() < 0.15


@pytest.mark.slow
def test_a_written_weight_hides_its_line_on_dark_paper_too() -> None:
    figure = drawn(solved("self"), dark=True)
    for text in texts(figure, "weight"):
        assert to_hex(text.get_bbox_patch().get_facecolor()) == to_hex(figure.get_facecolor())


# What cannot be


@pytest.mark.parametrize(
    ("look", "message"),
    [
        ({"kind": "pie"}, 'kind takes map, heatmap or both, not "pie"'),
        (
            {"kind": "heatmap", "all": True},
            "all draws every line of the map, and a heatmap has no lines: omit it, or use the "
            "kind map or both",
        ),
        ({"head": 3}, 'head takes 1 to 2, or mean, not "3"'),
        ({"head": True}, 'head takes 1 to 2, or mean, not "True"'),
        ({"size": "wide"}, 'size takes inches, as 12x8 or a width as 12, not "wide"'),
    ],
)
def test_an_impossible_picture_is_refused_in_one_sentence(look: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        solved("heads").plot(**look)
    assert str(error.value) == message


def test_the_command_refuses_the_same_flags(attncalc: Command) -> None:
    for arguments, message in (
        (["--size", "wide"], '--size takes inches, as 12x8 or a width as 12, not "wide"'),
        (["--size", "99x3"], '--size takes 1 to 40 inches a side, not "99x3"'),
        (["--head", "9"], '--head takes 1 to 1, or mean, not "9"'),
        (
            ["--all", "--kind", "heatmap"],
            "--all draws every line of the map, and a heatmap has no lines: omit it, or use the "
            "kind map or both",
        ),
    ):
        run = attncalc("plot", *arguments)
        assert (run.code, run.out) == (2, "")
        assert run.err.splitlines()[-1] == f"error: {message}"
    assert attncalc("plot", "--kind", "pie").code == 2


@pytest.mark.slow
def test_the_command_accepts_every_condition(attncalc: Command, tmp_path: Any) -> None:
    flags = ["--kind", "both", "--all", "--no-values", "--dark", "--size", "9x5", "--title", "T"]
    run = attncalc("plot", *flags, "-o", "p.svg")
    assert (run.code, run.out) == (0, "p.svg\n")
    look = Look("both", every_line=True, values=False, dark=True, size=(9, 5))
    problem = Problem(
        **{name: getattr(solved("self").problem, name) for name in ("X", "W_Q", "W_K", "W_V")},
        scale="none",
        rounding="each-step",
        title="T",
    )
    assert (tmp_path / "p.svg").read_bytes() == render(solve(problem), "svg", look=look).content


@pytest.mark.slow
def test_notes_of_a_picture_are_on_stderr(attncalc: Command) -> None:
    run = attncalc("plot", "--kind", "heatmap", "--size", "3", "-d", "9", "-o", "p.png")
    assert "note: 9 weights are not written in the heatmap" in run.err


@pytest.mark.parametrize("command", [("vary", "scale=1,2"), ("simulate", "X[1,1] ~ U(0, 1)")])
@pytest.mark.parametrize("look", [("--dark",), ("--size", "wide")])
def test_a_study_that_draws_nothing_has_no_look(
    attncalc: Command, command: tuple[str, ...], look: tuple[str, ...]
) -> None:
    run = attncalc(*command, *look, "-o", "study.md")
    said = f"{look[0]} and no picture: name one, as -o study.png, or leave it out"
    assert (run.code, run.out, run.err) == (2, "", f"error: {said}\n")


def test_help_shows_each_new_thing(attncalc: Command) -> None:
    text = attncalc("plot", "--help").out
    for flag in ("--kind", "--all", "--values", "--no-values", "--dark", "--size", "--head"):
        assert flag in text
    assert "attncalc plot in.json --kind both" in text


# Worksheets without answers


@pytest.mark.parametrize("form", mostly_slow(["svg", "png", "pdf"]))
def test_a_worksheet_reveals_no_answer(form: str) -> None:
    """Whatever the weights are, the worksheet is the same, byte by byte."""
    given = {"X": [[1, 2], [3, 4]], "W_K": [[1, 0], [0, 1]], "W_V": [[1], [1]], "title": "Draw"}
    one = render_blank(Problem(W_Q=[[1, 0], [0, 1]], **given), form)
    other = render_blank(Problem(W_Q=[[0, -9], [5, 1]], **given), form)
    assert one.content == other.content
    assert one.notes == ()


def test_a_worksheet_has_dots_and_names_but_no_line() -> None:
    problem = solved("translation").problem
    figure = draw_blank(problem, Look())
    axes = the(figure, "map")
    assert figure.axes == [axes], "no legend"
    assert list(axes.collections) == []
    assert texts(figure, "weight") == []
    assert len(dots(axes, "inputs")) == len(names(axes, "inputs")) == problem.m
    assert len(dots(axes, "outputs")) == len(names(axes, "outputs")) == problem.n
    assert names(axes, "inputs") == list(problem.keys)
    assert names(axes, "outputs") == list(problem.queries)
    assert {"Inputs (X2)", "Outputs"} <= {text.get_text() for text in texts(figure)}


@pytest.mark.slow
def test_a_worksheet_describes_the_map_to_draw() -> None:
    problem = solved("self").problem
    root = ElementTree.fromstring(render_blank(problem, "svg").content)
    assert root[0].text == "Self-attention: Three tokens"
    assert root[1].text == (
        "Connection map without its lines, to be drawn by hand. tokens are rows. "
        "scores not scaled. shown to 2 decimals, halves away from zero. "
        "each step rounded before the next reads it (rounding: each-step). "
        "Inputs: 1, 2 and 3. Outputs: 1, 2 and 3."
    )


@pytest.mark.slow
def test_a_worksheet_has_a_panel_for_each_head_a_size_and_a_dark_paper() -> None:
    problem = solved("heads").problem
    figure = draw_blank(problem, Look())
    assert [axes.get_title() for axes in panels(figure, "map")] == ["head 1", "head 2"]
    assert all(len(dots(axes, "inputs")) == problem.m for axes in panels(figure, "map"))
    dark = draw_blank(problem, Look(dark=True, size=(10, 6))).content("png")
    assert inches_of_png(dark) == (10, 6)
    assert dark != draw_blank(problem, Look(size=(10, 6))).content("png")


@pytest.mark.slow
def test_a_worksheet_shows_hostile_names_as_text() -> None:
    X = [[i] for i in range(len(HOSTILE))]
    problem = Problem(X=X, W_Q=[[1]], W_K=[[1]], W_V=[[1]], labels=HOSTILE)
    root = ElementTree.fromstring(render_blank(problem, "svg").content)
    assert root.find(f"{SVG}desc") is not None


# On given axes


@pytest.fixture(params=["constrained", "tight", None])
def own(request: Any) -> Figure:
    """Return another figure, with two axes and a curve on the second."""
    figure = Figure(figsize=(11, 5), layout=request.param)
    figure.subplots(1, 2)[1].plot([1, 2, 3])
    return figure


@pytest.mark.slow
@pytest.mark.campaign(3)
def test_only_a_map_is_drawn_on_existing_axes(own: Figure) -> None:
    axes, other = own.axes
    before = other.get_xlim(), other.get_ylim(), len(other.get_children()), own.get_facecolor()
    settings = dict(mpl.rcParams)
    assert solved("self").plot(ax=axes) is axes
    own.draw_without_rendering()
    assert own.axes == [axes, other]
    assert (own.texts, own.legends, own.get_suptitle(), own.get_supxlabel()) == ([], [], "", "")
    after = other.get_xlim(), other.get_ylim(), len(other.get_children()), own.get_facecolor()
    assert (after, dict(mpl.rcParams)) == (before, settings)
    axes.set_label("map")
    assert connections(own) == connections(drawn(solved("self")))
    assert written(own, "weight") == written(drawn(solved("self")), "weight")
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["largest weight", "second"]


@pytest.mark.slow
@pytest.mark.campaign(3)
def test_weights_on_given_axes_do_not_overlap(own: Figure) -> None:
    """Their places are those of the axes as it is laid out, beside names of any length."""
    solution = random_problem(9)
    solution.plot(ax=own.axes[0])
    own.draw_without_rendering()
    found = texts(own, "weight")
    assert len(found) == len(connections(drawn(solution)))
    assert overlapping(found) == []


@pytest.mark.slow
def test_a_heatmap_is_drawn_on_existing_axes(own: Figure) -> None:
    axes, other = own.axes
    assert solved("columns").plot("heatmap", ax=axes) is axes
    assert own.axes == [axes, other]
    axes.set_label("heatmap")
    assert grid(own) == solved("columns").shown("A")
    own.colorbar(axes.collections[0], ax=axes)
    own.draw_without_rendering()


def test_one_head_of_several_is_drawn_on_existing_axes() -> None:
    axes = Figure().subplots()
    solved("heads").plot(ax=axes, head=2, all=True, values=False)
    assert sum(len(rank.get_segments()) for rank in lines(axes).values()) > 5
    assert texts(axes.figure, "weight") == []


def test_parts_that_do_not_fit_on_existing_axes_have_a_warning() -> None:
    axes = Figure(figsize=(2, 1)).subplots()
    with pytest.warns(UserWarning, match="18 weights are not written in the picture: there is no"):
        random_problem(9).plot(ax=axes, values=True)


def test_names_on_existing_axes_are_literal_and_in_the_bundled_font() -> None:
    solution = solve(Problem(X=[[1]] * 2, W_Q=[[1]], W_K=[[1]], W_V=[[1]], labels=["$x$", "$y$"]))
    for kind in ("map", "heatmap"):
        axes = Figure().subplots()
        solution.plot(kind, ax=axes)
        found = [text for text in texts(axes.figure) if "$" in text.get_text()]
        assert len(found) == 4
        assert not any(text.get_parse_math() for text in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"ax": "here"}, 'ax takes a matplotlib Axes, not "here"'),
        ({"kind": "both"}, "ax takes one picture: ask for the kind map or heatmap, not both"),
        ({"size": 4}, "size sets the size of a whole figure: omit it with ax"),
        ({}, "ax takes one head: ask for head 1 to 2, or mean"),
    ],
)
def test_impossible_axes_are_refused_in_one_sentence(wish: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        solved("heads").plot(**{"ax": Figure().subplots()} | wish)
    assert str(error.value) == message


# Panels of other kinds


@pytest.mark.slow
def test_panels_of_any_kind_share_a_page_with_title_and_footnote() -> None:
    """What studies draw needs no more than a function that takes an axes."""

    def curve(axes: Axes, _: Any) -> LeftOut:
        axes.plot([0, 1, 4], color=LIGHT.ink)
        axes.set(xlabel="β", ylabel="weight", title="One weight")
        return LeftOut({"{} points are left out": 1234})

    five, three, two = Track(5, 1), Track(3, 1), Track(2, 1)
    rows = (("one", "two"), ("both", "both"))
    mosaic = Mosaic(rows, (five, five), (three, two), dict.fromkeys(["one", "two", "both"], curve))
    figure = figure_of(mosaic, Caption("A title", "A footnote"))
    figure.draw_without_rendering()
    assert figure.notes == ("3,702 points are left out",)
    assert written(figure, "title") == ["A title"]
    assert written(figure, "conventions") == ["A footnote"]
    sizes = [axes.get_window_extent().size / 100 for axes in figure.axes]
    assert sizes[0] == pytest.approx([5, 3], abs=0.02)
    assert sizes[1] == pytest.approx([5, 3], abs=0.02)
    assert sizes[2][1] == pytest.approx(2, abs=0.02)
    assert overlapping(texts(figure)) == []
    small = figure_of(mosaic, Caption("A title", "A footnote"), size=(6, 5))
    assert small.get_size_inches().tolist() == [6, 5]
    with pytest.raises(InputError, match="size 1 x 1 is too small: this picture needs "):
        figure_of(mosaic, Caption("A title", "A footnote"), size=(1, 1))


# Figures for notebooks


@pytest.mark.slow
def test_plot_returns_a_figure_of_matplotlib_that_shows_itself() -> None:
    """Without pyplot there is nothing else in a notebook that would show it."""
    figure = solved("self").plot()
    assert isinstance(figure, Figure)
    png = figure._repr_png_()
    assert png.startswith(b"\x89PNG")
    width, height = inches_of_png(png)
    natural = inches_of_png(render(solved("self"), "png").content)
    assert (width * 2, height * 2) == pytest.approx(natural, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_slow(KINDS))
@pytest.mark.parametrize("form", mostly_slow(["svg", "png", "pdf"]))
def test_a_figure_is_saved_later_just_as_the_command_saves_it(
    kind: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It brings its style along: fonts, hash salt, outlines, whatever the settings are then."""
    look = Look(kind, dark=True, size=(9, 6))
    wanted = render(solved("sentence"), form, look=look).content
    figure = solved("sentence").plot(kind, dark=True, size=(9, 6))
    for name, value in (
        ("svg.hashsalt", "other"),
        ("svg.fonttype", "none"),
        ("font.family", ["serif"]),
        ("savefig.dpi", 33),
        ("savefig.facecolor", "red"),
        ("text.hinting", "none"),
        ("pdf.compression", 0),
        ("pdf.fonttype", 3),
    ):
        monkeypatch.setitem(mpl.rcParams, name, value)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form)
    if form == "svg":  # but for the description that the command adds
        root = ElementTree.fromstring(wanted)
        root.remove(root[1])
        root.remove(root[0])
        saved = ElementTree.fromstring(buffer.getvalue())
        assert [each.tag for each in root] == [each.tag for each in saved]
        assert ElementTree.tostring(root[-1]) == ElementTree.tostring(saved[-1])
    else:
        assert buffer.getvalue() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(["sentence", "heads"]))
def test_a_figure_is_laid_out_the_same_however_often_it_is_drawn(name: str) -> None:
    figure: Any = solved(name).plot("both", size=(9, 6))
    first = figure.content("svg")
    figure.draw_without_rendering()
    assert figure.content("svg") == first
    again: Any = solved(name).plot("both", size=(9, 6))
    assert again.content("svg") == first


@pytest.mark.slow
def test_a_figure_is_in_our_style_when_others_draw_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook's own backend prints a figure's canvas, and never calls `savefig`."""
    figure = solved("self").plot()
    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")
    buffer = io.BytesIO()
    figure.canvas.print_figure(buffer, format="svg")
    assert b"<text" not in buffer.getvalue()


@pytest.mark.slow
def test_a_figure_is_saved_to_a_path_and_in_other_forms(tmp_path: Any) -> None:
    figure = solved("self").plot()
    figure.savefig(tmp_path / "map.svg")
    figure.savefig(str(tmp_path / "map.jpg"), dpi=50)
    assert ElementTree.parse(tmp_path / "map.svg").getroot().tag == f"{SVG}svg"
    assert (tmp_path / "map.jpg").read_bytes().startswith(b"\xff\xd8")


@pytest.mark.slow
def test_settings_of_the_user_are_left_as_they_were() -> None:
    before = dict(mpl.rcParams)
    solved("self").plot()._repr_png_()
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_plot_passes_every_wish_on() -> None:
    solution = solved("heads")
    usual = render(solution, "png").content
    for wish, look in (
        ({"all": True}, Look(every_line=True)),
        ({"values": False}, Look(values=False)),
        ({"dark": True}, Look(dark=True)),
        ({"kind": "heatmap"}, Look("heatmap")),
        ({"size": "10x5"}, Look(size=(10, 5))),
    ):
        wanted = render(solution, "png", look=look).content
        figure: Any = solution.plot(**wish)
        assert figure.content("png") == wanted, wish
        assert wanted != usual
    first, second = solution.heads
    (weights,) = solution.all_weights
    for head, shown in ((2, second), ("1", first), ("mean", solution.mean_head_of(weights))):
        figure = solution.plot(head=head)
        assert figure.content("png") == render(solution, "png", [shown]).content


def test_a_figure_states_what_it_left_out() -> None:
    figure: Any = random_problem(200).plot("heatmap")
    assert figure.notes[0].startswith("40,000 weights are not written")


def test_weights_that_were_not_kept_cannot_be_drawn() -> None:
    solution = solve(solved("self").problem, keep=("O",))
    with pytest.raises(InputError) as error:
        solution.plot()
    assert str(error.value) == (
        'a picture needs the weights: solve(problem, keep=("A", …)) keeps them'
    )


@pytest.mark.slow
def test_plot_never_loads_pyplot_and_solving_never_loads_matplotlib() -> None:
    program = (
        "import sys; from attncalc import self_attention\n"
        "s = self_attention([[1], [2]], [[1]], [[1]], [[1]])\n"
        "print('matplotlib' in sys.modules)\n"
        "s.plot('both')._repr_png_()\n"
        "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True", "False"]


@pytest.mark.parametrize("language", ["de", "pt"])
def test_the_words_of_a_map_are_in_the_language_of_the_problem(language: str) -> None:
    given = [[1, 2, 1, 2], [2, 1, 0, 1]]
    problem = Problem(Q=given, K=given, V=given, heads=2, language=language)
    for figure in (draw_blank(problem, Look()), draw(problem, solve(problem).heads, Look())):
        said = " ".join(text.get_text() for text in texts(figure))
        assert not re.search(r"\b(?:Inputs|Outputs|head|largest|second|shown)\b|\d\.\d", said)
        words = {"de": ("Eingaben", "Kopf 2"), "pt": ("Entradas", "cabeça 2")}[language]
        assert all(word in said for word in words)


def test_without_a_font_the_words_of_a_map_stay_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "undrawable", "".join)
    problem = Problem(Q=[[1]], K=[[1]], V=[[1]], language="ja")
    said = {text.get_text() for text in texts(draw_blank(problem, Look()))}
    assert {"Inputs (K)", "Outputs"} <= said
