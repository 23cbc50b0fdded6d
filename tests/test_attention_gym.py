"""Every mask and score modification of attention-gym as an equation, against a plain function.

The functions restate the definitions that meta-pytorch/attention-gym publishes (attn_gym/masks and
attn_gym/mods, BSD 3-Clause, commit 7fdb85d of 2026-08-22), each for one score.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from attncalc import Problem, solve

pytestmark = pytest.mark.slow

Modify = Callable[[float, int, int, int], float]
"""A score, and its head, query and key: the changed score."""


class Case(NamedTuple):
    """Equations, the function that they are, and the sizes and matrices of a problem for them."""

    lines: list[str]
    function: Modify
    queries: int = 8
    keys: int = 8
    heads: int = 1
    more: dict[str, Any] = {}


def mask(allowed: Callable[[int, int], bool]) -> Modify:
    return lambda score, h, q, k: score if allowed(q, k) else -math.inf


def clamped(x: int, low: int, high: int) -> int:
    return sorted((low, x, high))[1]


# -- masks ----------------------------------------------------------------------------------------

STARTS = [0, 3, 4, 8]  # where documents begin, and the end
DOCUMENT = [0, 0, 0, 1, 2, 2, 2, 2]
DOCUMENTS = {"document": [DOCUMENT], "start": [STARTS]}


def in_document(q: int, k: int) -> bool:
    d, e = DOCUMENT[q], DOCUMENT[k]
    return d == e and q - STARTS[d] >= k - STARTS[e]


PREFIX = [0, 0, 0]  # the document that each one continues: its prefix


def with_shared_prefix(q: int, k: int) -> bool:
    own = DOCUMENT[q]
    first = PREFIX[own]
    is_in_prefix = own != first and STARTS[first] <= k < STARTS[first + 1]
    return STARTS[own] <= k <= q or is_in_prefix


IMAGES = [[0, 4], [1, 4], [4, 8]]


def near(q: tuple[int, int], k: tuple[int, int], canvas: tuple[int, int], kernel: int) -> bool:
    """Return whether a key is in the kernel of a query, whose center stays within the canvas."""
    half = kernel // 2
    centre = (clamped(x, half, side - 1 - half) for x, side in zip(q, canvas, strict=True))
    return all(abs(c - x) <= half for c, x in zip(centre, k, strict=True))


def on_canvas(index: int) -> tuple[int, int]:
    return index // 4, index % 4


def in_tiles(index: int) -> tuple[int, int]:
    """Return the place on a canvas of 4 × 4, which is stored in tiles of 2 × 2."""
    tile, inside = divmod(index, 4)
    return tile % 2 * 2 + inside % 2, tile // 2 * 2 + inside // 2


def of_morton(code: int) -> tuple[int, int]:
    bits = [code >> each & 1 for each in range(4)]
    return bits[0] + 2 * bits[2], bits[1] + 2 * bits[3]


def in_block_diffusion(q: int, k: int) -> bool:
    q_noised, k_noised = q < 4, k < 4
    q_block, k_block = q % 4 // 2, k % 4 // 2
    return (
        (q_block == k_block and q_noised == k_noised)
        or (q_block > k_block and q_noised and not k_noised)
        or (q_block >= k_block and not q_noised and not k_noised)
    )


def sliding_tiles(sides: tuple[int, ...], kernel: tuple[int, ...], size: int, text: int) -> Any:
    """Return the mask of sliding tiles: `sides` and `kernel` are counted in tiles of `size`."""
    vision = math.prod(sides) * size

    def tile_of(index: int) -> list[int]:
        place, found = index // size, []
        for side in reversed(sides):
            place, rest = divmod(place, side)
            found.append(rest)
        return found[::-1]

    def allowed(q: int, k: int) -> bool:
        if q >= vision:
            return k < vision + text
        if k >= vision:
            return k < vision + text
        for x, y, side, width in zip(tile_of(q), tile_of(k), sides, kernel, strict=True):
            left, right = width // 2, width // 2 + width % 2 - 1
            centre = clamped(x, left, side - 1 - right)
            if not centre - left <= y <= centre + right:
                return False
        return True

    return allowed


def in_space(q: int, k: int) -> bool:
    """Return the spatial head of SVG: a prompt of 2, frames of 3, width 1, rounded down to 2."""
    return k < 2 + 3 or q < 2 or abs(q - k) < math.floor(1 * 3 / 2) * 2


def in_time(q: int, k: int) -> bool:
    """Return the temporal head of SVG: a prompt of 2, 2 frames of 3, width 1."""
    return k < 2 or q < 2 or abs((q - 2) % 3 - (k - 2) % 3) < 1 * 3 // 2


CHOSEN = [[0, 2], [1, 3], [1, 2], [0, 3]]  # tiles of two keys, for each tile of two queries
PARENTS = [-1, 0, 1, 1, 3, 3]
ANCESTORS = np.eye(6, dtype=int)
for node, parent in enumerate(PARENTS[1:], start=1):
    ANCESTORS[node] |= ANCESTORS[parent]

NATTEN = (
    "abs(max(1, min(x[q_idx], 2)) - x[kv_idx]) <= 1 and "
    "abs(max(1, min(y[q_idx], 2)) - y[kv_idx]) <= 1"
)
MASKS = {
    "causal": Case(["q_idx >= kv_idx"], mask(lambda q, k: q >= k)),
    "sliding_window": Case(
        ["q_idx >= kv_idx and q_idx - kv_idx <= 3"], mask(lambda q, k: q >= k and q - k <= 3)
    ),
    "dilated_sliding_window": Case(
        ["abs(q_idx - kv_idx) <= 4 and abs(q_idx - kv_idx) % 2 == 0"],
        mask(lambda q, k: abs(q - k) <= 4 and abs(q - k) % 2 == 0),
    ),
    "global_sliding_window": Case(
        ["abs(q_idx - kv_idx) <= 1 or marked[q_idx] == 1 or marked[kv_idx] == 1"],
        mask(lambda q, k: abs(q - k) <= 1 or q in (0, 5) or k in (0, 5)),
        more={"marked": [[1, 0, 0, 0, 0, 1, 0, 0]]},
    ),
    "batchify": Case(
        ["q_idx // 4 == kv_idx // 4 and q_idx % 4 >= kv_idx % 4"],
        mask(lambda q, k: q // 4 == k // 4 and q % 4 >= k % 4),
    ),
    "document": Case(
        [
            "document[q_idx] == document[kv_idx] and "
            "q_idx - start[document[q_idx]] >= kv_idx - start[document[kv_idx]]"
        ],
        mask(in_document),
        more=DOCUMENTS,
    ),
    "packed_causal_document": Case(
        ["start[document[q_idx]] <= kv_idx <= q_idx"], mask(in_document), more=DOCUMENTS
    ),
    "prefix_lm": Case(["kv_idx < 4 or kv_idx <= q_idx"], mask(lambda q, k: k < 4 or k <= q)),
    "shared_prefix": Case(
        [
            "start[document[q_idx]] <= kv_idx <= q_idx or "
            "(document[q_idx] != prefix[document[q_idx]] and "
            "start[prefix[document[q_idx]]] <= kv_idx and "
            "kv_idx < start[prefix[document[q_idx]] + 1])"
        ],
        mask(with_shared_prefix),
        more={**DOCUMENTS, "prefix": [PREFIX]},
    ),
    "flamingo": Case(
        ["interval[kv_idx // 2, 0] <= q_idx < interval[kv_idx // 2, 1]"],
        mask(lambda q, k: IMAGES[k // 2][0] <= q < IMAGES[k // 2][1]),
        keys=6,
        more={"interval": IMAGES},
    ),
    "natten": Case(
        ["x[i in n] = i // 4", "y[i in n] = i % 4", NATTEN],
        mask(lambda q, k: near(on_canvas(q), on_canvas(k), (4, 4), 3)),
        16,
        16,
    ),
    "tiled_natten": Case(
        [
            "x[i in n] = i // 4 % 2 * 2 + i % 4 % 2",
            "y[i in n] = i // 4 // 2 * 2 + i % 4 // 2",
            NATTEN,
        ],
        mask(lambda q, k: near(in_tiles(q), in_tiles(k), (4, 4), 3)),
        16,
        16,
    ),
    "morton_natten": Case(
        ["x[i in n] = i % 2 + i // 4 % 2 * 2", "y[i in n] = i // 2 % 2 + i // 8 % 2 * 2", NATTEN],
        mask(lambda q, k: near(of_morton(q), of_morton(k), (4, 4), 3)),
        16,
        16,
    ),
    "block_diffusion": Case(
        [
            "(q_idx % 4 // 2 == kv_idx % 4 // 2 and q_idx // 4 == kv_idx // 4) or "
            "(kv_idx >= 4 and (q_idx % 4 // 2 > kv_idx % 4 // 2 or "
            "(q_idx >= 4 and q_idx % 4 // 2 == kv_idx % 4 // 2)))"
        ],
        mask(in_block_diffusion),
    ),
    "sta_2d": Case(  # 3 × 2 tiles of two tokens, a kernel of 3 × 1 tiles, and text of 2 tokens
        [
            "kv_idx >= 12 or q_idx >= 12 or ("
            "abs(max(1, min(q_idx // 4, 1)) - kv_idx // 4) <= 1 and "
            "q_idx // 2 % 2 == kv_idx // 2 % 2)"
        ],
        mask(sliding_tiles((3, 2), (3, 1), 2, 2)),
        14,
        14,
    ),
    "sta_3d": Case(  # 3 × 2 × 2 tiles of one token, a kernel of 1 × 2 × 1 tiles
        [
            "tile[i in n] = i // 4",
            "q_idx >= 12 or kv_idx >= 12 or (tile[q_idx] == tile[kv_idx] and "
            "q_idx % 2 == kv_idx % 2)",
        ],
        mask(sliding_tiles((3, 2, 2), (1, 2, 1), 1, 1)),
        13,
        13,
    ),
    "svg_spatial": Case(
        ["kv_idx < 5 or q_idx < 2 or abs(q_idx - kv_idx) < 3 // 2 * 2"], mask(in_space)
    ),
    "svg_temporal": Case(
        ["kv_idx < 2 or q_idx < 2 or abs((q_idx - 2) % 3 - (kv_idx - 2) % 3) < 3 // 2"],
        mask(in_time),
    ),
    "vsa": Case(
        ["sum(1 for s in columns(chosen) if chosen[q_idx // 2, s] == kv_idx // 2) > 0"],
        mask(lambda q, k: k // 2 in CHOSEN[q // 2]),
        more={"chosen": CHOSEN},
    ),
    "jetspec_tree": Case(
        ["kv_idx < 2 or ancestor[q_idx, max(kv_idx - 2, 0)] == 1"],
        mask(lambda q, k: k < 2 or bool(ANCESTORS[q, k - 2])),
        6,
        8,
        more={"ancestor": ANCESTORS.tolist()},
    ),
    "jetspec_training": Case(
        ["kv_idx < 2 or (q_idx // 3 == (kv_idx - 2) // 3 and (kv_idx - 2) % 3 <= q_idx % 3)"],
        mask(lambda q, k: k < 2 or (q // 3 == (k - 2) // 3 and (k - 2) % 3 <= q % 3)),
        6,
        8,
    ),
}

# -- score modifications --------------------------------------------------------------------------

SPATIAL = [[0.5, 0, -0.5, -1], [1, 0.5, 0, -2]]  # heads by distance; the last is unreachable
EDGES = [[0, 1], [1, 2], [2, 3], [5, 6]]
ADJACENT = np.zeros((8, 8), int)
for one, other in EDGES:
    ADJACENT[one, other] = ADJACENT[other, one] = 1


def distances() -> Any:
    """Return the shortest paths of the graph; 3 for those longer than 2."""
    found = np.where(ADJACENT == 1, 1, 99)
    np.fill_diagonal(found, 0)
    for middle in range(8):
        found = np.minimum(found, found[:, [middle]] + found[[middle]])
    return np.minimum(found, 3)


DISTANCES = distances()
LENGTHS = np.where(DISTANCES > 2, 0, DISTANCES)
TYPES = np.random.default_rng(4).integers(0, 3, (2, 8, 8))
EDGE_BIAS = np.random.default_rng(5).integers(-4, 5, (2, 2, 3)) / 4
OF_PLACES = np.random.default_rng(6).integers(-2, 3, (3, 8, 2)) / 2
"""Rotated parts of queries, of two heads, and of the keys, which all heads share."""


def with_edges(score: float, h: int, q: int, k: int) -> float:
    length = LENGTHS[q, k]
    total = sum(EDGE_BIAS[h, p, TYPES[p, q, k]] for p in range(length))
    return score + total / max(length, 1)


def gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


MODS = {
    "alibi": Case(
        ["score + (kv_idx - q_idx) * 2 ** (-(h + 1) * 8 / heads)"],
        lambda score, h, q, k: score + (k - q) * 2 ** (-((h + 1) * 8 / 2)),
        heads=2,
    ),
    "tanh_softcap": Case(["2 * tanh(score / 2)"], lambda score, h, q, k: 2 * math.tanh(score / 2)),
    "activation_gelu": Case(
        ["log(gelu(score) + 1)"], lambda score, h, q, k: math.log(gelu(score) + 1)
    ),
    "activation_relu": Case(
        ["log(relu(score) + 1)"], lambda score, h, q, k: math.log(max(score, 0) + 1)
    ),
    "graphormer_spatial": Case(
        [
            "far[t in n + 1, i, j] = (0 if i == j else 1 if adjacent[i,j] == 1 else 99) if t == 0 "
            "else min(far[t-1,i,j], far[t-1,i,t-1] + far[t-1,t-1,j])  # Floyd and Warshall",
            "score + spatial[h, min(far[n, q_idx, kv_idx], 3)]",
        ],
        lambda score, h, q, k: score + SPATIAL[h][DISTANCES[q, k]],
        heads=2,
        more={"adjacent": ADJACENT.tolist(), "spatial": SPATIAL},
    ),
    "graphormer_edge": Case(
        [
            "score + sum(edge[h, p, types[p, q_idx, kv_idx]] for p in heads(types) "
            "if p < length[q_idx, kv_idx]) / max(length[q_idx, kv_idx], 1)"
        ],
        with_edges,
        heads=2,
        more={"edge": EDGE_BIAS.tolist(), "types": TYPES.tolist(), "length": LENGTHS.tolist()},
    ),
    "latent_attention": Case(
        ["score + sum(q_rope[h, q_idx, c] * k_rope[kv_idx, c] for c in columns(k_rope)) / 2"],
        lambda score, h, q, k: score + OF_PLACES[h, q] @ OF_PLACES[2, k] / 2,
        heads=2,
        more={"q_rope": OF_PLACES[:2].tolist(), "k_rope": OF_PLACES[2].tolist()},
    ),
    "sandwich": Case(
        [
            "score + sum(cos(abs(q_idx - kv_idx) / 10000 ** (2 * r / 8)) for r in 4)"
            " * heads / (8 * (h + 1))"
        ],
        lambda score, h, q, k: (
            score
            + sum(math.cos((q - k) / 10000 ** (2 * r / 8)) for r in range(4)) / (8 * (h + 1) / 2)
        ),
        heads=2,
    ),
}
CASES = MASKS | MODS


def given(case: Case) -> dict[str, Any]:
    some = np.random.default_rng(3)
    sizes = {"Q": case.queries, "K": case.keys, "V": case.keys}
    made = {n: some.integers(-3, 4, (case.heads, size, 2)) / 2 for n, size in sizes.items()}
    return {n: (each if case.heads > 1 else each[0]).tolist() for n, each in made.items()}


def expected(case: Case) -> np.ndarray:
    """Return the weights, head by head, of scores that the function changes one by one."""
    Q, K = (np.reshape(given(case)[n], (case.heads, -1, 2)) for n in "QK")
    weights = np.zeros((case.heads, case.queries, case.keys))
    for h, q in np.ndindex(case.heads, case.queries):
        scores = [
            case.function(float(Q[h, q] @ K[h, k]) / math.sqrt(2), h, q, k)
            for k in range(case.keys)
        ]
        powers = np.exp(np.array(scores) - max(scores))
        weights[h, q] = powers / powers.sum()
    return weights


@pytest.mark.parametrize("name", CASES)
def test_an_equation_gives_the_weights_of_the_function(name: str) -> None:
    case = CASES[name]
    problem = Problem(
        **given(case),
        equations=case.lines,
        more=case.more,
        heads=case.heads if case.heads > 1 else None,
    )
    solution = solve(problem)
    weights = np.asarray(solution["A"], float).reshape(case.heads, case.queries, case.keys)
    np.testing.assert_allclose(weights, expected(case), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["gelu", "relu"])
def test_an_activation_needs_no_logarithm_that_undoes_a_softmax(name: str) -> None:
    case = MODS[f"activation_{name}"]
    matrices = given(case)
    solution = solve(Problem(**matrices, equations=[f"A[i,j] = {name}(S_scaled[i,j])"]))
    Q, K, V = (np.array(matrices[each]) for each in "QKV")
    function = np.vectorize(gelu if name == "gelu" else lambda x: max(x, 0.0))
    np.testing.assert_allclose(solution["O"], function(Q @ K.T / math.sqrt(2)) @ V, atol=1e-12)
