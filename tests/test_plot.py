"""The connection map, checked through what is drawn: which lines, which style, to which dot."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from conftest import mostly_slow
from matplotlib.colors import to_hex, to_rgb
from pictures import (
    HOSTILE,
    connections,
    dots,
    drawn,
    ends,
    identity,
    lines,
    names,
    overlapping,
    random_problem,
    solved,
    texts,
    the,
    tick_texts,
    written,
)

from attncalc import InputError, OutputError, self_attention
from attncalc.problem.samples import SAMPLES
from attncalc.writing.plotting import drawing
from attncalc.writing.plotting.drawing import MOST_LINES, NO_ATTENTION, check_ending, draw, render
from attncalc.writing.plotting.look import KINDS, Look
from attncalc.writing.plotting.map import THICKEST, THINNEST
from attncalc.writing.plotting.style import DARK, LIGHT, contrast

pytestmark = pytest.mark.campaign(4)


@pytest.mark.slow
def test_the_homework_map_has_the_lines_of_its_solution() -> None:
    figure = drawn(solved("self"))
    assert connections(figure) == {
        (0, 2, "solid"),
        (1, 2, "solid"),
        (2, 0, "solid"),
        (2, 1, "dashed"),
    }
    assert sorted(written(figure, "weight")) == ["0.38", "0.62", "1.00", "1.00"]
    assert figure.notes == ()


@pytest.mark.slow
def test_the_cross_attention_map_has_two_firsts_for_output_one() -> None:
    figure = drawn(solved("cross"))
    assert connections(figure) == {
        (0, 2, "solid"),
        (0, 3, "solid"),
        (1, 3, "solid"),
        (1, 2, "dashed"),
    }


@pytest.mark.slow
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
    figure = drawn(identity(scores))
    assert connections(figure) == lines


@pytest.mark.slow
def test_a_second_line_depends_on_the_decimals_shown() -> None:
    """e⁻⁷ = 0.0009 shows as 0.00 but not as 0.001."""
    assert connections(drawn(identity([[9, 2]]))) == {(0, 0, "solid")}
    assert connections(drawn(identity([[9, 2]], decimals=3))) == {
        (0, 0, "solid"),
        (0, 1, "dashed"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [1, 3, 40])
def test_weights_never_overlap_and_all_are_written(tokens: int) -> None:
    figure = drawn(random_problem(tokens))
    assert figure.notes == ()
    found = texts(figure, "weight")
    assert len(found) == len(connections(figure))
    assert overlapping(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [3, 40])
def test_a_weight_is_written_on_its_own_line(tokens: int) -> None:
    figure = drawn(random_problem(tokens))
    axes, (head,) = the(figure, "map"), random_problem(tokens).heads
    inputs, outputs = dots(axes, "inputs"), dots(axes, "outputs")
    for text in texts(figure, "weight"):
        x, y = text.get_position()
        on = [
            f"{head.rounded[i, j]:.2f}"
            for i, j, _ in connections(figure)
            if abs(inputs[j][1] + x * (outputs[i][1] - inputs[j][1]) - y) < 1e-6
        ]
        assert text.get_text() in on


@pytest.mark.slow
def test_forty_equal_weights_share_one_text_for_each_output() -> None:
    figure = drawn(self_attention([[1]] * 40, [[1]], [[1]], [[1]], decimals=3))
    assert len(connections(figure)) == 1600
    assert set(written(figure, "weight")) == {"40 × 0.025"}
    assert figure.notes == ()


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.parametrize(("tokens", "step"), [(40, 1), (200, 2)])
def test_names_of_many_tokens_do_not_overlap(tokens: int, step: int) -> None:
    axes = the(drawn(random_problem(tokens)), "map")
    wanted = [f"token {i % 9} ({i + 1})" for i in range(0, tokens, step)]
    assert names(axes, "inputs") == names(axes, "outputs") == wanted, "repeated ones told apart"
    for column, side in (("inputs", axes), ("outputs", axes.child_axes[0])):
        assert side.get_yticks().tolist() == [y for _, y in dots(axes, column)][::step]
        assert overlapping(tick_texts(side)) == []
        assert min(text.get_size() for text in tick_texts(side)) >= 6


@pytest.mark.slow
def test_line_width_grows_with_weight_and_never_vanishes() -> None:
    figure = drawn(identity([[5, 1]], decimals=2))
    solid, dashed = (rank.get_linewidths()[0] for rank in lines(the(figure, "map")).values())
    assert solid > dashed >= THINNEST


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_rank_is_readable_without_colour(palette: Any) -> None:
    """The dash tells the rank, whatever the paper."""
    assert len({str(rank.linestyle) for rank in palette.ranks}) == 3


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_contrasts_with_the_paper(palette: Any) -> None:
    for text in (palette.strong, palette.ink, palette.small_print):
        assert contrast(text, palette.paper) >= 4.5
    for rank in palette.ranks:  # weights are written in the color of their line
        assert contrast(rank.color, palette.paper) >= 4.5
    assert contrast(palette.rule, palette.paper) >= 3.0


def test_ink_of_the_light_ranks_is_dark_enough_for_grey_print() -> None:
    for rank in LIGHT.ranks:
        red, green, blue = to_rgb(rank.color)
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


def test_homework_gets_its_two_plain_inks_on_white() -> None:
    """What `--all` and `--dark` change must not leak into the picture that homework asks for."""
    figure = drawn(solved("self"))
    ranks = lines(the(figure, "map")).values()
    inks = [[to_hex(ink) for ink in rank.get_colors()] for rank in ranks]
    assert inks == [["#0b3c6f"], ["#b34700"]]
    assert to_hex(figure.get_facecolor()) == "#ffffff"


@pytest.mark.slow
def test_all_draws_a_line_for_every_weight_that_does_not_show_as_zero() -> None:
    figure = drawn(identity([[9, 8, 7, 0]]), every_line=True)
    assert connections(figure) == {(0, 0, "solid"), (0, 1, "dashed"), (0, 2, "dotted")}
    assert sorted(written(figure, "weight")) == ["0.09", "0.24", "0.67"]
    assert figure.notes == (
        "1 weights have no line in the picture: they show as 0.00 (more --decimals draw them)",
    )
    figure = drawn(identity([[9, 8, 7, 0]], decimals=4), every_line=True)
    assert len(connections(figure)) == 4
    assert figure.notes == ()


@pytest.mark.slow
def test_a_masked_weight_is_not_an_omitted_line() -> None:
    figure = drawn(identity([[2, 1, 1]], keep=[[1, 1, 0]]), every_line=True)
    assert connections(figure) == {(0, 0, "solid"), (0, 1, "dashed")}
    assert figure.notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_with_all_more_weight_is_wider_and_stronger_and_none_too_pale(dark: bool) -> None:
    figure = drawn(random_problem(9), every_line=True, dark=dark)
    paper = to_hex(figure.get_facecolor())
    solution = random_problem(9)
    (head,) = solution.heads
    axes = the(figure, "map")
    for rank in lines(axes).values():
        sizes = [head.weights[pair] for pair in ends(axes, rank)]
        order = np.argsort(sizes)
        contrasts = [contrast(to_hex(ink), paper) for ink in rank.get_colors()]
        assert (np.diff(np.array(rank.get_linewidths())[order]) > 0).all()
        assert (np.diff(np.array(contrasts)[order]) > -0.1).all()  # inks have 256 steps
        assert contrasts[order[-1]] > contrasts[order[0]]
        assert min(contrasts) >= 2.95


@pytest.mark.slow
def test_negative_weights_have_lines_by_their_size() -> None:
    solution = identity([[3, -2, 1]], normalizer="sum")
    assert solution.shown("A") == [["1.50", "-1.00", "0.50"]]
    figure = drawn(solution, every_line=True)
    assert connections(figure) == {(0, 0, "solid"), (0, 2, "dashed"), (0, 1, "dotted")}
    widths = {name: rank.get_linewidths()[0] for name, rank in lines(the(figure, "map")).items()}
    assert widths["most"] > widths["others"] > widths["second"] >= THINNEST
    assert max(widths.values()) <= THICKEST


@pytest.mark.slow
def test_a_weight_beyond_one_is_no_wider_than_one() -> None:
    figure = drawn(identity([[9, -8, 1]], normalizer="sum"))
    assert lines(the(figure, "map"))["most"].get_linewidths() == [THICKEST]


@pytest.mark.slow
def test_of_too_many_lines_the_largest_weights_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MOST_LINES", 12)
    solution = random_problem(6, decimals=9)
    figure = draw(solution.problem, solution.heads, Look(every_line=True))
    ranks = lines(the(figure, "map"))
    assert {name: len(rank.get_segments()) for name, rank in ranks.items()} == {
        "most": 6,
        "second": 6,
    }
    assert figure.notes[0] == (
        "24 smaller weights have no line in the picture: it shows the 12 largest"
    )
    monkeypatch.setattr(drawing, "MOST_LINES", 15)
    figure = draw(solution.problem, solution.heads, Look(every_line=True))
    weights = solution.heads[0].weights
    ranked = sorted(weights.flatten() - 2 * (weights >= np.sort(weights)[:, [-2]]).flatten())
    axes = the(figure, "map")
    found = sorted(weights[pair] for pair in ends(axes, lines(axes)["others"]))
    assert found == pytest.approx(ranked[-3:])


@pytest.mark.slow
def test_of_too_many_ties_every_output_keeps_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MOST_LINES", 20)
    figure = drawn(self_attention([[1]] * 10, [[1]], [[1]], [[1]]))
    found = connections(figure)
    assert len(found) == 20
    assert {output for output, _, _ in found} == set(range(10))
    assert figure.notes[0].startswith("80 smaller weights have no line")


@pytest.mark.slow
def test_weights_can_be_left_out() -> None:
    figure = drawn(solved("self"), values=False)
    assert written(figure, "weight") == []
    assert len(connections(figure)) == 4
    assert figure.notes == ()


@pytest.mark.slow
def test_two_hundred_tokens_stay_readable() -> None:
    """Thinner lines, every second name, no weights; and the page is no longer than forty's."""
    solution = random_problem(200)
    figure = drawn(solution)
    few = drawn(random_problem(40))
    assert figure.get_size_inches()[1] <= few.get_size_inches()[1] + 0.5
    ranks = [lines(the(each, "map")) for each in (figure, few)]
    widest = [max(each["most"].get_linewidths()) for each in ranks]
    assert widest[0] < widest[1] / 2
    assert written(figure, "weight") == []
    (note,) = figure.notes
    count = sum(len(rank.get_segments()) for rank in ranks[0].values())
    assert note == f"{count} weights are not written in the picture: there is no room for them"


@pytest.mark.slow
def test_two_thousand_tied_tokens_need_as_few_artists_as_three() -> None:
    """4,000,000 lines are not drawn one by one, nor at all; texts are not placed for them."""
    weights = np.zeros((1, 1))
    solution = self_attention(np.ones((2000, 1)), weights, weights, weights, decimals=4)
    figure = drawn(solution, every_line=True, kind="both")
    ranks = lines(the(figure, "map")).values()
    assert sum(len(rank.get_segments()) for rank in ranks) == MOST_LINES
    assert len(figure.findobj()) < 3000
    assert figure.notes[0] == (
        "3,990,000 smaller weights have no line in the picture: it shows the 10,000 largest"
    )


@pytest.mark.campaign(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", mostly_slow(["svg", "png", "pdf"]))
def test_the_same_input_gives_the_same_bytes(
    form: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = render(solved("sentence"), form, look=Look(kind)).content
    monkeypatch.setitem(mpl.rcParams, "lines.linewidth", 9.0)
    monkeypatch.setitem(mpl.rcParams, "font.size", 30.0)
    monkeypatch.setitem(mpl.rcParams, "image.cmap", "jet")
    assert render(solved("sentence"), form, look=Look(kind)).content == first


@pytest.mark.campaign(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("each", mostly_slow(SAMPLES, 24), ids=lambda each: each.name)
def test_every_sample_is_drawn(each: Any, kind: str) -> None:
    solution = solved(each.name)
    if not solution.problem.attentions:
        with pytest.raises(InputError, match=NO_ATTENTION):
            render(solution, "png", look=Look(kind))
        return
    picture = render(solution, "png", look=Look(kind))
    assert picture.content.startswith(b"\x89PNG")
    others = [note for note in picture.notes if not note.startswith("the picture shows self.A: ")]
    assert others == []
    assert len(picture.notes) == (each.name == "decoder")


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_svg_of_a_heatmap_shows_its_digits() -> None:
    root = ElementTree.fromstring(render(solved("cross"), "svg", look=Look("heatmap")).content)
    description = str(root[1].text)
    assert description.startswith("Heatmap of the attention weights. tokens are rows.")
    assert description.endswith(
        "Output 2: most input 4 (0.64), second input 3 (0.24). "
        "Weights of output 1: 0.05, 0.15, 0.40, 0.40. Weights of output 2: 0.03, 0.09, 0.24, 0.64."
    )
    both = ElementTree.fromstring(render(solved("cross"), "svg", look=Look("both")).content)
    assert str(both[1].text).startswith("Connection map, and heatmap of the attention weights.")


@pytest.mark.slow
def test_a_description_does_not_list_two_hundred_outputs() -> None:
    root = ElementTree.fromstring(render(random_problem(200), "svg").content)
    assert str(root[1].text).count("Output ") == 100
    assert str(root[1].text).endswith(". 100 more outputs.")


@pytest.mark.campaign(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", mostly_slow(["svg", "png", "pdf"]))
def test_hostile_names_are_drawn_as_text(form: str, kind: str) -> None:
    X = [[i] for i in range(len(HOSTILE))]
    title = "$\\bad{$ <svg> ]]>"
    solution = self_attention(X, [[1]], [[1]], [[1]], labels=HOSTILE, title=title)
    picture = render(solution, form, look=Look(kind))
    assert picture.notes == ()
    if form == "svg":
        root = ElementTree.fromstring(picture.content)
        assert root[0].text == f"Self-attention: {title}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_name_is_ever_read_as_math(kind: str) -> None:
    solution = self_attention([[1]] * 2, [[1]], [[1]], [[1]], labels=["$x$", "😀 $\\pi$"])
    figure = drawn(solution, kind=kind)
    found = [text for text in texts(figure) if "$" in text.get_text()]
    assert len(found) == (4 if kind != "both" else 8)
    assert not any(text.get_parse_math() for text in found)


@pytest.mark.slow
def test_letters_no_font_can_draw_are_named_in_a_note_and_stay_text_in_svg() -> None:
    """U+10FFFD is a private character: no font has it, so the note must say so."""
    solution = self_attention([[1]], [[1]], [[1]], [[1]], labels=["ᚠ\U0001fabf"])
    picture = render(solution, "svg")
    if picture.notes:
        assert re.fullmatch(
            "no font here can draw .*: the picture shows boxes instead", picture.notes[0]
        )
        assert "ᚠ\U0001fabf" in picture.content.decode()


def test_only_known_kinds_of_picture_are_taken() -> None:
    assert [check_ending(Path(name)) for name in ("a.png", "b.SVG", "c.d.pdf")] == [
        "png",
        "svg",
        "pdf",
    ]
    for name, reason in (
        ("map.gif", 'map.gif: ".gif" is not a picture format: use .png, .svg or .pdf'),
        ("map", "map: no ending: use .png, .svg or .pdf"),
    ):
        with pytest.raises(OutputError) as error:
            check_ending(Path(name))
        assert str(error.value) == reason
