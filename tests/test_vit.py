"""Patches, ids and what tokens are made of: digits by an oracle, refusals, marking, pictures."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow
from oracle import Rows, as_shown
from oracle_vit import patches_by_hand, vit_by_hand

from attncalc import InputError, Problem, ShapeError, check, read_problem, solve
from attncalc.problem.samples import sample

pytestmark = pytest.mark.campaign(4)

ROUNDINGS = ("display", "each-step")
EYE = [[1, 0], [0, 1]]
SELF = {"W_Q": EYE, "W_K": [[0, 1], [1, 0]], "W_V": [[1, 1], [0, 1]]}
IDS = {"ids": [3, 0, 3], "W_E": [[1, 0], [0, 1], [2, 1], [1, 3]], **SELF}


def numbers(rows: int, columns: int, seed: int) -> Rows:
    """Return short decimals of about 1, as a homework has."""
    drawn = np.random.default_rng(seed).integers(-20, 21, size=(rows, columns))
    return [[Fraction(int(each), 10) for each in row] for row in drawn]


def vit(seed: int, channels: int = 1, d: int = 3, **more: Any) -> dict[str, Any]:
    """Return a Vision Transformer of six patches of 2 × 3, one layer, and a head."""
    image = [numbers(4, 9, seed + channel) for channel in range(channels)]
    return {
        "image": image if channels > 1 else image[0],
        "patch": (2, 3),
        "E": numbers(6 * channels, d, seed + 10),
        "b_E": numbers(1, d, seed + 11),
        "class_token": numbers(1, d, seed + 12),
        "P": numbers(7, d, seed + 13),
        "W_Q": numbers(d, 2, seed + 14),
        "W_K": numbers(d, 2, seed + 15),
        "W_V": numbers(d, 2, seed + 16),
        "W_O": numbers(2, d, seed + 17),
        "W_1": numbers(d, 4, seed + 18),
        "b_1": numbers(1, 4, seed + 19),
        "W_2": numbers(4, d, seed + 20),
        "W_pre": numbers(d, 2, seed + 21),
        "b_pre": numbers(1, 2, seed + 22),
        "W_out": numbers(2, 3, seed + 23),
        "b_out": numbers(1, 3, seed + 24),
        "activation": "relu",
        **more,
    }


# -- digits ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(
    ("channels", "norm", "activation"), [(1, "post", "relu"), (2, "pre", "gelu")]
)
def test_a_vision_transformer_shows_the_digits_of_the_oracle(
    channels: int, norm: str, activation: str, rounding: str
) -> None:
    given = vit(7 * channels, channels, norm=norm, activation=activation)
    solution = solve(Problem(**given, scale="none", rounding=rounding, decimals=3))
    image = given["image"] if channels > 1 else [given["image"]]
    expected = as_shown(vit_by_hand(given, image, (2, 3), rounding, 3), 3)
    assert solution.is_exact
    assert {step.name for step in solution.plan} == set(expected)
    for name, rows in expected.items():
        assert solution.shown(name) == rows, name


@pytest.mark.parametrize(("channels", "p", "q"), [(1, 1, 1), (1, 2, 3), (3, 2, 2), (2, 4, 6)])
def test_patches_are_those_that_one_counts(channels: int, p: int, q: int) -> None:
    image = np.arange(channels * 24).reshape(channels, 4, 6)
    patches = solve(Problem(image=image, patch=(p, q)))["patches"]
    assert patches.tolist() == patches_by_hand(image.tolist(), p, q)


def test_channels_side_by_side_are_those_of_a_list() -> None:
    image = np.arange(24).reshape(2, 3, 4)
    listed = solve(Problem(image=image, patch=(3, 2)))
    beside = solve(Problem(image=np.hstack(list(image)), channels=2, patch=(3, 2)))
    assert beside["patches"].tolist() == listed["patches"].tolist()


def test_tokens_as_columns_and_pytorch_weights_give_equal_results() -> None:
    given = vit(3)
    rows = solve(Problem(**given))
    turned = {
        name: np.array(value, float).T
        for name, value in given.items()
        if name in ("E", "P") or name.startswith("W_")
    }
    columns = solve(Problem(**given | turned, layout="columns"))
    of_torch = solve(Problem(**given | turned | {"P": given["P"]}, weights_layout="torch"))
    for step in rows.plan:
        np.testing.assert_allclose(columns[step.name].swapaxes(-1, -2), rows[step.name], atol=1e-12)
        np.testing.assert_allclose(of_torch[step.name], rows[step.name], atol=1e-12)


# -- ids ------------------------------------------------------------------------------------------


def test_ids_are_rows_of_their_table() -> None:
    tokens = [[1, 3], [1, 0], [1, 3]]
    made, given = solve(Problem(**IDS)), solve(Problem(X=tokens, **SELF))
    assert made["X"].tolist() == tokens
    assert [step.name for step in made.plan][1:] == [step.name for step in given.plan]
    for step in given.plan:
        assert made.shown(step.name) == given.shown(step.name)
    from_one = solve(Problem(**IDS | {"ids": [4, 1, 4], "first_id": 1}))
    assert from_one["X"].tolist() == tokens


def test_the_work_names_the_row_of_the_table(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "ids.json").write_text(json.dumps(IDS), encoding="utf-8")
    run = attncalc("self", "ids.json", "--entry", "X[1,2]")
    assert "X[1,2] = W_E[4,2] = 3.00   (row 4 is that of id 3)\n" in run.out
    image = [[[1, 2, 3, 4]], [[5, 6, 7, 8]]]
    fields = {"image": image, "patch": [1, 2], "layout": "columns"}
    (tmp_path / "image.json").write_text(json.dumps(fields), encoding="utf-8")
    run = attncalc("vit", "image.json", "--entry", "patches[4,2]")
    said = "patch r1c2: its row 1, column 2 of channel 2"
    assert f"patches[4,2] = image[2,1,4] = 8.00   ({said})\n" in run.out


def test_given_embeddings_are_in_order() -> None:
    more = {
        "class_token": [1, 1],
        "P": [[0, 1], [1, 0], [0, 0], [1, 1]],
        "type_ids": [0, 0, 1, 1],
        "W_type": [[0, 0], [1, 2]],
        "gamma_E": [2, 1],
    }
    solution = solve(Problem(**IDS, **more, W_out=EYE, read="first", norm="none"))
    names = "X X_cls X_P T X_type mu_E var_E N_E Q K V S S_scaled A O Y Y_first logits prob"
    assert [step.name for step in solution.plan] == names.split()
    assert solution["X_type"].tolist() == [[1, 2], [2, 3], [2, 2], [3, 6]]


def test_a_head_tied_to_the_table_is_one_of_the_table_turned() -> None:
    fields = {**IDS, "block": "decoder", "read": "last"}
    tied = solve(Problem(**fields, tied=True, b_out=[1, 2, 3, 4]))
    W_out = np.array(IDS["W_E"]).T
    untied = solve(Problem(**fields, W_out=W_out, b_out=[1, 2, 3, 4]))
    assert tied.shown("logits") == untied.shown("logits")
    assert tied.shown("prob") == untied.shown("prob")
    assert "logits = Y_last W_Eᵀ + b_out" in str(tied)


def test_a_decoder_reads_ids_and_the_outputs_of_an_encoder() -> None:
    fields = {"W_E": IDS["W_E"], "X2": [[1, 2], [0, 1]], "self": SELF, "cross": SELF}
    labels = {"X1": ["le", "chat"], "X2": ["the", "cat"]}
    made = solve(Problem(ids=[1, 2], **fields, labels=labels))
    given = solve(Problem(X1=[[0, 1], [2, 1]], **{k: v for k, v in fields.items() if k != "W_E"}))
    assert made.shown("Y") == given.shown("Y")
    assert made.problem.queries == ("le", "chat")


# -- names ----------------------------------------------------------------------------------------


def test_patches_have_names() -> None:
    given = vit(1)
    assert Problem(**given).queries == ("class", "r1c1", "r1c2", "r1c3", "r2c1", "r2c2", "r2c3")
    named = Problem(**given, labels=list("abcdef"))
    assert named.queries == ("class", *"abcdef")
    assert Problem(**given, labels=list("0abcdef")).queries == tuple("0abcdef")
    with pytest.raises(InputError) as refused:
        Problem(**given, labels=["a"])
    assert str(refused.value) == (
        "labels of X: 1 given, but there are 6 tokens, or 7 with the class token"
    )


@pytest.mark.parametrize("ending", ["json", "csv", "npz"])
@pytest.mark.parametrize("kind", ["channels", "ids", "memory"])
def test_output_is_read_back(kind: str, ending: str, attncalc: Command, tmp_path: Path) -> None:
    of_kind: dict[str, dict[str, Any]] = {
        "channels": {
            "image": [[[1, 0, 2, 1], [0, 1, 1, 0]], [[0, "1/3", 1, 1], [2, 0, 0, 1]]],
            "patch": [1, 2],
            "class_token": [1, -1, 0, 1],
            "labels": ["a, b", "c", "=d", "e"],
        },
        "ids": {**IDS, "labels": ["the", "1", "the"]},
        "memory": {
            "ids": [1, 2],
            "W_E": IDS["W_E"],
            "X2": [[1, 2], [0, 1]],
            "self": SELF,
            "cross": SELF,
            "labels": {"X1": ["le", "chat"], "X2": ["the", "cat"]},
            "tied": True,
        },
    }
    (tmp_path / "in.json").write_text(json.dumps(of_kind[kind]), encoding="utf-8")
    first = read_problem(tmp_path / "in.json")
    command = first.what
    assert attncalc(command, "in.json", "-o", f"out.{ending}").code == 0
    again = read_problem(tmp_path / f"out.{ending}")
    assert again.queries == first.queries
    assert again.keys == first.keys
    one, other = solve(first), solve(again)
    assert [step.name for step in one.plan] == [step.name for step in other.plan]
    for step in one.plan:
        assert one.shown(step.name) == other.shown(step.name)


# -- bad input ------------------------------------------------------------------------------------

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"patch": 3}, "patches: image is 4 × 9 and patch is 3 × 3: 3 does not divide its 4 rows"),
    (
        {"patch": [2, 2]},
        "patches: image is 4 × 9 and patch is 2 × 2: 2 does not divide its 9 columns",
    ),
    (
        {"image": np.zeros((8, 8, 3)), "patch": 4},
        "patches: image is 8 × 8 × 3 and patch is 4 × 4: 4 does not divide its 3 columns. Its "
        "channels seem to be last; image needs them first",
    ),
    (
        {"channels": 2},
        "patches: image is 4 × 9: its 9 columns cannot be divided into 2 channels",
    ),
    ({"patch": None}, "patches: missing: patch, how large a patch is"),
    ({"image": None}, "patches: missing: image, the image that is cut"),
    (
        {"patch": "two"},
        'patch takes one side, e.g. 2, or rows and columns, e.g. 2x3: "two" is not a number',
    ),
    (
        {"E": numbers(5, 3, 1)},
        "patches: patches is 6 × 6 and E is 5 × 3: for their product, E needs 6 rows, one for each "
        "number of a patch",
    ),
    (
        {"b_E": [1]},
        "patches: b_E has 1 numbers and E is 6 × 3: it needs 3, one for each of its columns",
    ),
    ({"E": None}, "patches: b_E is given, and no E"),
    (
        {"class_token": [1, 2]},
        "class token: class_token has 2 numbers and X is 6 × 3: it needs 3, one for each feature",
    ),
    (
        {"P": numbers(6, 3, 1)},
        "positions: P is 6 × 3 and X_cls is 7 × 3: positions need the shape of their tokens",
    ),
    ({"W_pre": None}, "head: b_pre is given, and no W_pre"),
    (
        {"X": [[1, 2]]},
        "image and X are given: tokens are made of one of them, so leave out the other",
    ),
    (
        {"block": "encoder"},
        "image is given, and this is an encoder: an image is of a Vision Transformer "
        "(attncalc vit)",
    ),
    (
        {"block": "attention"},
        "image is given, but attention does not use it: it belongs to a Vision Transformer (block)",
    ),
]
REFUSED_IDS: list[tuple[dict[str, Any], str]] = [
    (
        {"ids": [0, 4]},
        "embedding: ids, entry 2: 4, and the ids of W_E, which is 4 × 2, are the whole numbers "
        "from 0 to 3",
    ),
    (
        {"ids": [-1]},
        "embedding: ids, entry 1: -1, and the ids of W_E, which is 4 × 2, are the whole numbers "
        "from 0 to 3",
    ),
    (
        {"ids": [0.5], "first_id": 1},
        "embedding: ids, entry 1: 0.5, and the ids of W_E, which is 4 × 2, are the whole numbers "
        "from 1 to 4",
    ),
    ({"ids": EYE}, "embedding: ids is 2 × 2: it takes a list of ids"),
    ({"W_E": None}, "embedding: ids is given, and no W_E"),
    ({"ids": None}, "W_E is given, and no ids: they say which of its rows are the tokens"),
    (
        {"type_ids": [0, 1, 2], "W_type": EYE},
        "types: type_ids, entry 3: 2, and the types of W_type, which is 2 × 2, are the whole "
        "numbers from 0 to 1",
    ),
    (
        {"type_ids": [0, 1], "W_type": EYE},
        "types: X is 3 × 2, and the types of type_ids in W_type are 2 × 2: matrices that are "
        "added need the same shape",
    ),
    (
        {"tied": True, "W_out": EYE},
        "head: W_out is given, and weights are tied to W_E: give one",
    ),
    (
        {"tied": True, "b_out": [1]},
        "head: b_out has 1 numbers and W_E is 4 × 2: it needs 4, one for each of its tokens",
    ),
    ({"block": "vit"}, "missing matrices: image, which a Vision Transformer cuts into patches"),
]


@pytest.mark.parametrize(("change", "expected"), REFUSED)
def test_an_image_that_cannot_be_is_refused(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as refused:
        Problem(**vit(1) | change)
    assert str(refused.value) == expected


@pytest.mark.parametrize(("change", "expected"), REFUSED_IDS)
def test_ids_that_cannot_be_are_refused(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as refused:
        Problem(**IDS | change)
    assert str(refused.value) == expected


def test_channels_that_differ_are_refused(tmp_path: Path) -> None:
    image = [[[1, 2], [3, 4]], [[1, 2]]]
    (tmp_path / "in.json").write_text(json.dumps({"image": image, "patch": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="image: its channels differ in shape"):
        read_problem(tmp_path / "in.json")
    image = [[[1, 2], [3]], [[1, 2], [3, 4]]]
    (tmp_path / "in.json").write_text(json.dumps({"image": image, "patch": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="image, channel 1, row 2"):
        read_problem(tmp_path / "in.json")


def test_weights_that_do_not_fit_a_tied_table_are_refused() -> None:
    with pytest.raises(ShapeError) as refused:
        Problem(**IDS, tied=True, W_1=numbers(2, 2, 1), W_2=numbers(2, 3, 1), residual=False)
    assert str(refused.value) == (
        "head: Y is 3 × 3 and W_E is 4 × 2: tokens need as many features as W_E"
    )


@pytest.mark.parametrize(
    ("command", "name", "said"),
    [
        ("self", "vit", "this problem is a Vision Transformer: use attncalc vit"),
        ("vit", "encoder", "missing matrices: image, which a Vision Transformer cuts into patches"),
        ("vit", "ids", "missing matrices: image, which a Vision Transformer cuts into patches"),
        ("encoder", "vit", "this is an encoder: an image is of a Vision Transformer"),
    ],
)
def test_a_command_names_missing_inputs(
    command: str, name: str, said: str, attncalc: Command
) -> None:
    run = attncalc(command, str(sample(name).path))
    assert (run.code, run.out) == (2, "")
    assert said in run.err


@pytest.mark.parametrize("change", ["ids[1,1]=1,2", "ids[1,1] ~ U(0, 1)"])
def test_ids_do_not_vary(change: str, attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(IDS), encoding="utf-8")
    run = attncalc("simulate" if "~" in change else "vary", "in.json", change)
    assert run.code == 2
    assert 'unknown name "ids' in run.err
    assert attncalc("vary", "in.json", "W_E[1,1]=1,2").code == 0


# -- marking --------------------------------------------------------------------------------------


def cut(image: Any, order: str = "C") -> np.ndarray:
    """Return the patches of 2 × 3, flattened by numpy in an order."""
    places = [(i, j) for i in range(0, 4, 2) for j in range(0, 9, 3)]
    return np.array([image[i : i + 2, j : j + 3].ravel(order) for i, j in places])


def down_first(image: Any) -> np.ndarray:
    places = [(i, j) for j in range(0, 9, 3) for i in range(0, 4, 2)]
    return np.array([image[i : i + 2, j : j + 3].ravel() for i, j in places])


WRONG: list[tuple[str, str, Any]] = [
    ("patches-column-first", "patches", lambda s: cut(image_of(s), "F")),
    ("patches-down-first", "patches", lambda s: down_first(image_of(s))),
    ("patches-reshaped", "patches", lambda s: image_of(s).reshape(6, 6)),
    ("class-token-forgotten", "X_cls", lambda s: s["X"]),
    ("class-token-behind", "X_cls", lambda s: np.roll(s["X_cls"], -1, axis=0)),
    (
        "positions-before-class",
        "X_P",
        lambda s: np.vstack([s["X_cls"][:1], s["X"] + given(s, "P")[:-1]]),
    ),
    (
        "positions-not-on-class",
        "X_P",
        lambda s: np.vstack([s["X_cls"][:1], s["X"] + given(s, "P")[1:]]),
    ),
    ("class-token-forgotten", "X_P", lambda s: s["X"] + given(s, "P")[1:]),
    ("positions-forgotten", "X_P", lambda s: s["X_cls"]),
    ("read-other:last", "Y_first", lambda s: s["Y"][-1:]),
    ("read-other:second", "Y_first", lambda s: s["Y"][1:2]),
    ("read-other:mean", "Y_first", lambda s: s["Y"].mean(axis=0, keepdims=True)),
    ("activation-forgotten", "G_pre", lambda s: s["F_pre"]),
]


def given(solution: Any, name: str) -> np.ndarray:
    return np.asarray(solution.problem.stored(name), float)


def image_of(solution: Any) -> np.ndarray:
    return given(solution, "image")


def cause_of(problem: Problem, step: str, wrong: np.ndarray) -> str:
    """Return the reported cause of a wrong step after right ones."""
    solution = solve(problem)
    names = [each.name for each in solution.plan]
    answer: dict[str, Any] = {each: solution.shown(each) for each in names[: names.index(step)]}
    answer[step] = [[f"{value:.4f}" for value in row] for row in wrong]
    first = check(problem, answer).first_wrong
    assert first is not None
    assert first.marks.cause is not None
    return first.marks.cause.code


def in_words(value: Any) -> str:
    """Return the same name in every process."""
    return value if isinstance(value, str) else "wrong"


@pytest.mark.slow
@pytest.mark.parametrize(("code", "step", "wrong"), WRONG, ids=in_words)
def test_wrong_tokens_are_recognised(code: str, step: str, wrong: Any) -> None:
    problem = Problem(**vit(5), rounding="each-step", decimals=4)
    assert cause_of(problem, step, wrong(solve(problem))) == code


def test_channels_in_the_last_axis_are_recognised() -> None:
    problem = Problem(**vit(5, 2), rounding="each-step", decimals=4)
    last = np.moveaxis(image_of(solve(problem)), 0, -1)
    flat = [last[i : i + 2, j : j + 3].ravel() for i in (0, 2) for j in (0, 3, 6)]
    assert cause_of(problem, "patches", np.array(flat)) == "patches-channels-last"


def test_ids_counted_from_1_are_recognised() -> None:
    table = np.array(IDS["W_E"], float)
    assert cause_of(Problem(**IDS | {"ids": [3, 1, 2]}), "X", table[[2, 0, 1]]) == "ids-off-by-one"


OURS = [(name, ending) for name in ("ids", "vit") for ending in ("txt", "md", "tex")]


@pytest.mark.slow
@pytest.mark.parametrize("page", mostly_slow(OURS, 6), ids=" ".join)
def test_an_attncalc_page_is_right(
    page: tuple[str, str], attncalc: Command, tmp_path: Path
) -> None:
    name, ending = page
    path = str(sample(name).path)
    command = sample(name).kind
    assert attncalc(command, path, "--work", "-o", f"page.{ending}").code == 0
    run = attncalc("check", path, f"page.{ending}", "--brief")
    assert run.code == 0, run.out
    assert "(100 %)" in run.out


# -- pictures -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_map_of_a_class_token_is_drawn_on_the_image(attncalc: Command, tmp_path: Path) -> None:
    assert attncalc("plot", str(sample("vit").path), "-o", "vit.svg").code == 0
    picture = (tmp_path / "vit.svg").read_text(encoding="utf-8")
    solution = solve(read_problem(sample("vit").path))
    assert "The image in its patches, and on each how much the class token attends" in picture
    assert "Output class: most input r3c3 (0.49)" in picture
    assert picture.count('id="most"') == len(solution.heads) == 2  # a frame in each head
    assert picture.count('id="second"') == 2
    assert picture.count('id="weight"') == 2 * 9


def test_frames_are_around_the_weights() -> None:
    from attncalc.writing.plotting.patches import attended_by_class

    solution = solve(read_problem(sample("vit").path))
    for head in solution.heads:
        attended = attended_by_class(solution.problem, head, values=True)
        weights = solution["A"][head.number - 1][0]
        np.testing.assert_allclose(attended.weights.ravel(), weights[1:])
        assert attended.ranks.ravel().argmax() != weights[1:].argmax()  # -1 is none, 0 the most
        assert np.argwhere(attended.ranks.ravel() == 0).ravel().tolist() == [weights[1:].argmax()]
        assert attended.itself == (f"on itself: {weights[0]:.2f}", -1)
        texts = [text for row in attended.texts for text in row]
        assert texts == [f"{weight:.2f}" for weight in weights[1:]]


def test_a_class_token_that_attends_to_itself_is_described() -> None:
    from attncalc.writing.plotting.patches import attended_by_class

    given = vit(1) | {"W_Q": np.eye(3) * 9, "W_K": np.eye(3), "class_token": [9, 9, 9]}
    problem = Problem(**given | {"P": None, "W_V": np.eye(3), "W_O": None})
    (head,) = solve(problem).heads
    attended = attended_by_class(problem, head, values=True)
    assert attended.itself == ("on itself: 1.00", 0)
    assert (attended.ranks == 0).sum() == 0


LOOKS = [("--no-values", "--dark"), ("--all",), ("--kind", "heatmap")]


@pytest.mark.slow
@pytest.mark.parametrize("flags", mostly_slow(LOOKS), ids=" ".join)
def test_other_pictures_of_an_image_are_drawn(
    flags: tuple[str, ...], attncalc: Command, tmp_path: Path
) -> None:
    assert attncalc("plot", str(sample("vit").path), *flags, "-o", "vit.svg").code == 0
    picture = (tmp_path / "vit.svg").read_text(encoding="utf-8")
    assert ("The image in its patches" in picture) == (flags[0] == "--no-values")
    assert 'id="attended"' in picture or flags[0] != "--no-values"


@pytest.mark.slow
def test_an_image_of_many_channels_is_drawn_as_their_mean(
    attncalc: Command, tmp_path: Path
) -> None:
    problem = {
        "image": np.arange(32).reshape(2, 4, 4).tolist(),
        "patch": 2,
        "class_token": [1] * 8,
        "W_Q": np.eye(8).tolist(),
        "W_K": np.eye(8).tolist(),
        "W_V": np.eye(8).tolist(),
    }
    (tmp_path / "in.json").write_text(json.dumps(problem), encoding="utf-8")
    run = attncalc("plot", "in.json", "-o", "image.png")
    assert run.code == 0
    assert (
        "the picture shows the mean of the channels of the image, of which there are 2" in run.err
    )


def test_a_name_has_the_meaning_of_the_current_problem() -> None:
    """Y is O of an attention alone, before and after a problem that has a Y of its own."""
    from attncalc.reading.naming.at_hand import names_at_hand
    from attncalc.reading.naming.name import Name, name_in

    assert name_in("Y") == Name("O")
    with names_at_hand(["X_cls", "Y"]):
        assert (name_in("Y"), name_in("X_cls")) == (Name("Y"), Name("X_cls"))
    assert name_in("Y") == Name("O")
