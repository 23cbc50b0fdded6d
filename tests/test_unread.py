"""A setting that no step of a problem reads is refused, whatever the field."""

from typing import Any

import pytest

from attncalc.base.errors import InputError
from attncalc.problem.fields import SETTINGS
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions

EYE = [[1, 0], [0, 1]]
TWO = {"W_Q": EYE, "W_K": EYE, "W_V": EYE}
FORWARD = {"W_1": EYE, "W_2": EYE}
OTHER: dict[str, Any] = {
    "scale": "1/3",
    "heads": 2,
    "combine": "mean",
    "causal": True,
    "causal_alignment": "bottom-right",
    "score": "distance",
    "window": 1,
    "alibi": True,
    "rel_max_distance": 9,
    "rel_bidirectional": True,
    "softcap": 3,
    "qk_norm": "rms",
    "qk_eps": 1,
    "normalizer": "sum",
    "positions": "sinusoidal",
    "positions_base": 100,
    "rope_base": 7,
    "rope_offset": 2,
    "rope_query_offset": 3,
    "rope_pairing": "interleaved",
    "rope_dims": 2,
    "rope_factor": 2,
    "rope_scaling": "linear factor=4",
    "norm": "pre",
    "parallel": "shared",
    "residual": False,
    "residual_scale": 2,
    "normalization": "rms",
    "eps": 1,
    "eps_place": "outside",
    "ddof": 1,
    "activation": "gelu",
    "top_k": 1,
    "router_groups": 2,
    "top_groups": 2,
    "router": "sigmoid",
    "router_scales": "inputs",
    "router_norm": False,
    "router_scale": 3,
    "read": "mean",
    "tied": True,
    "activation_pre": "relu",
    "softcap_out": 2,
    "first_id": 1,
    "patch": 2,
    "channels": 2,
}
"""A value of each setting that is not its default."""
OF_THE_WHOLE = {
    *("rounding", "decimals", "language", "asked", "layout", "weights_layout", "block"),
    *("backward", "target_ids", "step", "equations"),
}
"""Settings that every problem reads."""
BASES: dict[str, dict[str, Any]] = {
    "alone": {"X": EYE, **TWO},
    "queries, keys, values": {"Q": EYE, "K": EYE, "V": EYE},
    "cross": {"X1": [[1, 0]], "X2": EYE, **TWO},
    "scores": {"S": EYE, "V": EYE},
    "scores alone": {"S": EYE},
    "rope": {"X": EYE, **TWO, "positions": "rope"},
    "frequencies": {"X": EYE, **TWO, "positions": "rope", "rope_frequencies": [1]},
    "relative bias": {"X": EYE, **TWO, "rel_bias": [[1], [2], [3], [4]]},
    "queries normalized": {"X": EYE, **TWO, "qk_norm": "layer"},
    "an attention of ids": {"ids": [[1, 1]], "W_E": EYE, **TWO},
    "a normalization": {"block": "encoder", "X": EYE},
    "feed-forward": {"block": "encoder", "X": EYE, **FORWARD},
    "feed-forward by rms": {"block": "encoder", "X": EYE, **FORWARD, "normalization": "rms"},
    "experts": {
        **{"block": "encoder", "X": EYE, "W_router": EYE, "W_1": [EYE, EYE], "W_2": [EYE, EYE]},
    },
    "an encoder": {"block": "encoder", "X": EYE, **TWO, **FORWARD},
    "with a head": {"block": "encoder", "X": EYE, **TWO, "W_out": EYE},
    "with a hidden layer": {"block": "encoder", "X": EYE, **TWO, "W_pre": EYE},
    "with one that is normalized": {
        **{"block": "encoder", "X": EYE, **TWO, "W_pre": EYE, "gamma_pre": [1, 1]},
    },
    "a decoder": {"X1": EYE, "X2": EYE, "self": TWO, "cross": TWO},
    "a stack": {"X": EYE, "layers": [TWO, FORWARD]},
    "an image": {"image": EYE, "patch": 1, **TWO, "E": [[1, 0]]},
    "an image without layers": {"image": EYE, "patch": 1, "E": [[1, 0]]},
}


def told(fields: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the steps of a problem, with the content of their operations, and its texts."""
    problem = Problem(**fields)
    return repr(problem.calculation.steps), conventions(problem)


def test_another_value_is_known_of_every_setting() -> None:
    assert set(OTHER) | OF_THE_WHOLE == set(SETTINGS)


@pytest.mark.campaign(5)
@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_a_setting_changes_the_calculation_or_is_refused(base: dict[str, Any]) -> None:
    plain = told(base)
    dropped = []
    for name, value in OTHER.items():
        try:
            if name not in base and told(base | {name: value}) == plain:
                dropped.append(name)
        except InputError:
            continue
    # the same applies to what one head, or one channel, makes unused
    assert set(dropped) <= {"combine", "heads"}


@pytest.mark.slow
@pytest.mark.parametrize("part", [TWO, FORWARD], ids=["attention", "feed-forward"])
def test_a_setting_of_a_layer_changes_it_or_is_refused(part: dict[str, Any]) -> None:
    def stack(fields: dict[str, Any]) -> dict[str, Any]:
        return {"X": EYE, "layers": [TWO | FORWARD, fields]}

    plain, dropped = told(stack(part)), []
    for name, value in OTHER.items():
        try:
            if told(stack(part | {name: value})) == plain:
                dropped.append(name)
        except InputError:
            continue
    assert set(dropped) <= {"combine", "heads"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"block": "encoder", "X": EYE, "window": 1},
            "window is 1, but this encoder does not use it: it needs an attention (W_Q, W_K "
            "and W_V)",
        ),
        (
            {"X": EYE, **TWO, "rope_base": 5},
            "rope_base is 5, but this attention does not use it: it needs positions rope, and "
            "no rope_frequencies",
        ),
        (
            {"X": EYE, "layers": [TWO, FORWARD | {"positions": "rope"}]},
            "2.positions is rope, but layer 2 does not use it: it needs tokens to add "
            "them to, before all layers, or an attention for rope",
        ),
        (
            {"X": EYE, "block": "decoder", "layers": [{"self": TWO}], "self": {"causal": False}},
            "self is given, and so are layers: each of them says its own",
        ),
    ],
)
def test_the_message_names_the_required_setting(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        Problem(**fields)
    assert str(error.value) == said


def test_a_default_value_is_valid() -> None:
    Problem(X=EYE, **TWO, rope_base=10_000, positions="none", window=None, causal=False)
    Problem(X=EYE, layers=[TWO | {"heads": 2}, TWO | {"heads": 2}], heads=2)


def test_an_unused_alignment_is_reported() -> None:
    said = conventions(Problem(X=EYE, **TWO, causal_alignment="bottom-right"))
    idle = "the last query is at the last key (bottom-right), which has no effect here"
    assert idle in said
    counted = Problem(X=EYE, **TWO, causal_alignment="bottom-right", causal=True)
    assert idle not in conventions(counted)
