"""Plans for planting: a problem, a step and what a wrong recipe makes of it, in plain numpy.

These contain what the random tasks of `planting` do not: positions, caps, masks, shared
heads, biases of scores and of outputs. All of it is made of four matrices of 3 × 3.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np
from planting import softmax

Fields = dict[str, Any]
P = np.array([[0.5, 0, 0.25], [0, 1, 0], [1, 0, 0.5]])
BIAS = np.array([[0.5, 0, 1], [0, 2, 0], [1, 0, -1]])
ROW = np.array([1.0, 2, 3])
CAUSAL = np.tril(np.ones((3, 3), dtype=bool))


class Plan(NamedTuple):
    """A mistake: its code, in which problem and step it is, and what is written there."""

    code: str
    fields: Fields
    step: str
    wrong: np.ndarray


class Given(NamedTuple):
    """Tokens and weights, 3 × 3 each, and what attention makes of them."""

    X: np.ndarray
    W_Q: np.ndarray
    W_K: np.ndarray
    W_V: np.ndarray

    @property
    def fields(self) -> Fields:
        """The matrices by name, as a problem has them."""
        return self._asdict()

    @property
    def Q(self) -> np.ndarray:
        """The queries."""
        return self.X @ self.W_Q

    @property
    def scaled(self) -> np.ndarray:
        """The scaled scores."""
        return self.Q @ (self.X @ self.W_K).T / 3**0.5

    @property
    def A(self) -> np.ndarray:
        """The weights."""
        return softmax(self.scaled)

    @property
    def O(self) -> np.ndarray:  # noqa: E743
        """The outputs."""
        return self.A @ self.X @ self.W_V


HAND = Given(
    np.array([[1.0, -1, 0.5], [0, 2, 1], [-1, 0.5, 2]]),
    np.array([[1.0, 0.5, 0], [0, 1, -1], [0.5, 0, 1.5]]),
    np.array([[0.5, 1, 0], [1, 0, 1], [0, -0.5, 1]]),
    np.array([[2.0, 0, 1], [0, 1, 1], [1, 0.5, 0]]),
)
"""Matrices for which each mistake differs from all others."""


def random_given(rng: Random) -> Given:
    """Return random matrices, with small whole and half numbers as in homework."""
    halves = [number / 2 for number in range(-4, 5)]
    matrices = ([[rng.choice(halves) for _ in range(3)] for _ in range(3)] for _ in range(4))
    return Given(*map(np.array, matrices))


def plans(given: Given = HAND) -> list[Plan]:
    """Return a plan of each mistake, in these matrices."""
    made = (*_of_projections(given), *_of_scores(given), *_of_masks(given), *_of_norms(given))
    made = (*made, *_of_distances(given), *_of_other_scores(given))
    return [*made, *_of_positions(given), *_of_heads(given), *_of_shared_heads(given)]


def _of_projections(given: Given) -> Iterator[Plan]:
    X, Q, fields = given.X, given.Q, given.fields
    yield Plan("negated", fields, "Q", -Q)
    yield Plan("transposed", fields, "V", (X @ given.W_V).T)
    yield Plan("rows-permuted:3,1,2", fields, "Q", Q[[2, 0, 1]])
    yield Plan("columns-permuted:3,1,2", fields, "Q", Q[:, [2, 0, 1]])
    S = Q @ (X @ given.W_K).T
    yield Plan("tokens-permuted:3,1,2", fields, "S", S[[2, 0, 1]][:, [2, 0, 1]])
    signed = given.W_Q - 0.75  # one sign alone may also have been miscopied
    yield Plan("weights-signless", fields | {"W_Q": signed}, "Q", X @ np.abs(signed))
    yield Plan("weights-first", fields, "Q", given.W_Q @ X)
    yield Plan("bias-subtracted", fields | {"b_Q": [ROW]}, "Q", Q - ROW)
    yield Plan("bias-multiplied", fields | {"b_Q": [ROW]}, "Q", Q * ROW)
    O = given.O  # noqa: E741
    yield Plan("unprojected", fields | {"W_O": given.W_K}, "O", O)
    yield Plan("bias-forgotten", fields | {"b_O": [ROW]}, "O", O)
    yield Plan("bias-subtracted", fields | {"b_O": [ROW]}, "O", O - ROW)
    yield Plan("bias-multiplied", fields | {"b_O": [ROW]}, "O", O * ROW)


def _of_scores(given: Given) -> Iterator[Plan]:
    fields, scaled = given.fields, given.scaled
    plain = scaled * 3**0.5
    yield Plan("scale-divided", fields | {"scale": "1/5"}, "S_scaled", plain * 5)
    yield Plan("scale-not-asked", fields | {"scale": "none"}, "A", given.A)
    yield Plan("cap-forgotten", fields | {"softcap": 2}, "S_capped", scaled)
    yield Plan("softmax-not-asked", fields | {"normalizer": "sum"}, "A", given.A)
    yield Plan("weights-scaled", fields, "A", given.A / 3**0.5)
    biased = fields | {"bias": BIAS}
    sinking, powers = fields | {"sinks": [2]}, np.exp(scaled)
    yield Plan("sink-forgotten", sinking, "A", given.A)
    yield Plan("sink-no-exp", sinking, "A", powers / (powers.sum(axis=1, keepdims=True) + 2))
    twos = 2**scaled
    yield Plan("base-2", sinking, "A", twos / (twos.sum(axis=1, keepdims=True) + 4))
    yield Plan("bias-not-added", biased, "S_masked", scaled)
    yield Plan("bias-subtracted", biased, "S_masked", scaled - BIAS)
    yield Plan("bias-multiplied", biased, "S_masked", scaled * BIAS)
    yield Plan("bias-before-scale", biased, "S_masked", (plain + BIAS) / 3**0.5)


W_S = np.array([[1.0, 0.5, -1], [0, 2, 0.5], [-0.5, 1, 1]])
V_S, B_S = np.array([[1.0, -2, 0.5]]), np.array([[0.5, -1, 1]])


def _of_other_scores(given: Given) -> Iterator[Plan]:
    X, Q, fields = given.X, given.Q, given.fields
    K = X @ given.W_K
    general = fields | {"score": "general", "W_S": W_S}
    yield Plan("score-weights-forgotten", general, "Q_S", Q)
    yield Plan("score-weights-transposed", general, "Q_S", Q @ W_S.T)
    yield Plan("score-weights-forgotten", general, "S", Q @ K.T)
    yield Plan("score-weights-transposed", general, "S", Q @ W_S.T @ K.T)

    def pairs(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return left[:, np.newaxis] + right

    additive = fields | {"score": "additive", "W_Sq": W_S, "W_Sk": W_S.T, "v_S": V_S}
    q, k, (v,) = Q @ W_S, K @ W_S.T, V_S
    yield Plan("score-weights-forgotten", additive, "Q_S", Q)
    yield Plan("score-weights-transposed", additive, "K_S", K @ W_S)
    yield Plan("tanh-forgotten", additive, "S", pairs(q, k) @ v)
    yield Plan("v_S-forgotten", additive, "S", np.tanh(pairs(q, k)).sum(axis=-1))
    yield Plan("bias-forgotten", additive | {"b_S": B_S}, "S", np.tanh(pairs(q, k)) @ v)
    yield Plan("tanh-forgotten", additive | {"b_S": B_S}, "S", (pairs(q, k) + B_S) @ v)
    tall = np.vstack([W_S, W_S.T + 1])
    concat = fields | {"score": "concat", "W_S": tall, "v_S": V_S}
    yield Plan("tanh-forgotten", concat, "S", pairs(Q @ tall[:3], K @ tall[3:]) @ v)
    yield Plan("concat-order", concat, "S", np.tanh(pairs(Q @ tall[3:], K @ tall[:3])) @ v)
    distance = fields | {"score": "distance"}
    squares = ((Q[:, np.newaxis] - K) ** 2).sum(axis=-1)
    yield Plan("scores-transposed", distance, "S", -squares.T / 2)
    yield Plan("distance-not-halved", distance, "S", -squares)
    yield Plan("distance-root", distance, "S", -np.sqrt(squares))
    yield Plan("distance-root-halved", distance, "S", -np.sqrt(squares) / 2)
    yield Plan("distance-sign", distance, "S", squares / 2)
    yield Plan("distance-sign-not-halved", distance, "S", squares)
    yield Plan("dot-for-distance", distance, "S", Q @ K.T)
    of_scores = {"S": given.scaled}
    yield Plan("no-exp", {"S": np.abs(given.scaled)}, "A", _shares(np.abs(given.scaled)))
    yield Plan("softmax-columns", of_scores, "A", softmax(given.scaled.T).T)
    yield Plan("scale-none", of_scores | {"scale": "1/2"}, "S_scaled", given.scaled)


def _shares(scores: np.ndarray) -> np.ndarray:
    return scores / scores.sum(axis=1, keepdims=True)


def _of_masks(given: Given) -> Iterator[Plan]:
    scaled = given.scaled

    def plan(code: str, fields: Fields, allowed: Any, otherwise: float = -np.inf) -> Plan:
        wrong = np.where(np.array(allowed, dtype=bool), scaled, otherwise)
        return Plan(code, given.fields | fields, "S_masked", wrong)

    yield plan("mask-turned", {"causal": True}, CAUSAL.T)
    yield plan("mask-zero", {"causal": True}, CAUSAL, 0.0)
    keep = [[1, 0, 1], [1, 1, 0], [0, 1, 1]]
    yield plan("mask-shifted", {"keep": keep}, [[1, 1, 0], [1, 1, 1], [0, 0, 1]])
    band = CAUSAL & ~np.tril(CAUSAL, -2)
    yield plan("window-off", {"window": 2}, np.eye(3))
    yield plan("window-off", {"window": 1, "causal": True}, band)
    yield plan("window-forgotten", {"window": 1}, CAUSAL)
    yield plan("window-off", {"keep": np.eye(3, dtype=int)}, [[1, 0, 0], [1, 1, 0], [0, 1, 1]])


def normed(matrix: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    """Return each row over the root of its mean square."""
    below: np.ndarray = np.sqrt((matrix**2).mean(axis=-1, keepdims=True) + eps)
    return matrix / below


def _of_norms(given: Given) -> Iterator[Plan]:
    Q, K = given.Q, given.X @ given.W_K
    gains: Fields = {"gamma_Q": ROW, "gamma_K": ROW[::-1]}
    fields = given.fields | gains | {"qk_norm": "rms"}
    yield Plan("norm-forgotten", fields, "Q_norm", Q)
    yield Plan("norm-forgotten", fields, "S", Q @ K.T)
    yield Plan("gain-forgotten", fields, "Q_norm", normed(Q))
    yield Plan("eps-forgotten", fields | {"qk_eps": 1}, "K_norm", normed(K, eps=0) * ROW[::-1])
    centred = given.fields | {"qk_norm": "layer"}
    yield Plan("variance-other-count", centred, "var_Q", Q.var(axis=1, ddof=1, keepdims=True))
    squares = (Q**2).mean(axis=1, keepdims=True)
    yield Plan("mean-not-subtracted", centred, "var_Q", squares)
    yield Plan("deviation-for-variance", centred, "var_Q", Q.std(axis=1, keepdims=True))
    yield Plan("variance-not-divided", centred, "var_Q", 3 * Q.var(axis=1, keepdims=True))
    bare = given.fields | {"qk_norm": "rms"}
    yield Plan("mean-subtracted", bare, "ms_Q", Q.var(axis=1, keepdims=True))
    wide = bare | {"qk_eps": 1}
    yield Plan("eps-outside", wide, "Q_norm", Q / (np.sqrt(squares) + 1))
    yield Plan("variance-for-deviation", wide, "Q_norm", Q / np.sqrt(squares**2 + 1))
    yield Plan("mean-over-tokens", bare, "Q_norm", normed(Q.T).T)


def _of_distances(given: Given) -> Iterator[Plan]:
    fields, scaled = given.fields, given.scaled
    far = np.abs(np.arange(3)[:, None] - np.arange(3))
    slopes = fields | {"alibi_slopes": [0.5]}
    yield Plan("alibi-forgotten", slopes, "S_alibi", scaled)
    yield Plan("alibi-forgotten", slopes, "A", given.A)
    yield Plan("alibi-added", slopes, "S_alibi", scaled + 0.5 * far)
    yield Plan("alibi-before-scale", slopes, "S_alibi", scaled - 0.5 * far / 3**0.5)
    of_paper = fields | {"alibi": True}
    yield Plan("alibi-slopes-halved", of_paper, "S_alibi", scaled - 0.5 * far)
    yield Plan("alibi-slopes-from-1", of_paper, "S_alibi", scaled - far)
    two = two_heads(given) | {"alibi": True}
    other = Given(given.X, given.W_K, given.W_V, given.W_Q)
    turned = [scaled - 2.0**-8 * far, other.scaled - 2.0**-4 * far]
    yield Plan("alibi-slopes-reversed", two, "S_alibi", np.stack(turned))
    table = np.array([1, -1, 2, 0.5])
    relative = fields | {"rel_bias": table, "rel_bidirectional": False}
    before = np.maximum(np.arange(3)[:, None] - np.arange(3), 0)
    yield Plan("rel-bias-forgotten", relative, "S_rel", scaled)
    yield Plan("rel-bias-forgotten", relative, "A", given.A)
    yield Plan("rel-bias-subtracted", relative, "S_rel", scaled - table[before])
    yield Plan("rel-bias-before-scale", relative, "S_rel", scaled + table[before] / 3**0.5)
    both = np.array([[0, 3, 3], [1, 0, 3], [1, 1, 0]])
    yield Plan("rel-bias-both-ways", relative, "S_rel", scaled + table[both])
    wide = relative | {"rel_bidirectional": True}
    yield Plan("rel-bias-one-way", wide, "S_rel", scaled + table[before])


def rotated(
    matrix: np.ndarray,
    *,
    paired: Callable[[int], tuple[int, int]],
    start: int = 0,
    sign: int = 1,
    base: int = 100,
) -> Any:
    """Turn pairs of columns by the token's place: rope with a base of 100."""
    out = matrix.copy()
    pairs = matrix.shape[1] // 2
    for t in range(len(matrix)):
        for pair in range(pairs):
            i, j = paired(pair)
            angle = sign * (t + start) / base ** (2 * pair / matrix.shape[1])
            x, y = matrix[t, i], matrix[t, j]
            out[t, i] = x * np.cos(angle) - y * np.sin(angle)
            out[t, j] = x * np.sin(angle) + y * np.cos(angle)
    return out


def wide(given: Given) -> np.ndarray:
    """Return tokens of four features, for rotations."""
    return np.hstack([given.X, given.X[:, :1] + 1])


def rope(given: Given) -> Fields:
    """Return a problem whose queries and keys are rotated."""
    fields = {"X": wide(given), "W_Q": np.eye(4), "W_K": np.eye(4)[::-1], "W_V": np.eye(4)}
    return fields | {"positions": "rope", "rope_base": 100}


def _of_positions(given: Given) -> Iterator[Plan]:
    positioned = given.fields | {"P": P}
    yield Plan("positions-forgotten", positioned, "Q", given.Q)
    yield Plan("positions-subtracted", positioned, "X_P", given.X - P)
    yield Plan("positions-multiplied", positioned, "X_P", given.X * P)
    X, fields = wide(given), rope(given)
    halves: Fields = {"paired": lambda pair: (pair, pair + 2)}
    beside: Fields = {"paired": lambda pair: (2 * pair, 2 * pair + 1)}
    yield Plan("rope-forgotten", fields, "Q_rot", X)
    yield Plan("rope-pairing", fields, "Q_rot", rotated(X, **beside))
    yield Plan("rope-offset", fields, "Q_rot", rotated(X, start=1, **halves))
    yield Plan("rope-offset", fields, "Q_rot", rotated(X, start=-1, **halves))
    yield Plan("rope-sign", fields, "Q_rot", rotated(X, sign=-1, **halves))
    yield Plan("rope-base", fields, "Q_rot", rotated(X, base=10_000, **halves))
    scaled = fields | {"rope_scaling": "linear factor=4"}
    yield Plan("rope-unscaled", scaled, "Q_rot", rotated(X, **halves))
    own = fields | {"rope_base": 10_000, "rope_frequencies": [2, 0.5]}
    yield Plan("rope-unscaled", own, "Q_rot", rotated(X, base=10_000, **halves))
    yield Plan("rope-all-columns", fields | {"rope_dims": 2}, "Q_rot", rotated(X, **halves))
    later = fields | {"rope_query_offset": 5}
    yield Plan("places-of-keys", later, "Q_rot", rotated(X, **halves))


def two_heads(given: Given) -> Fields:
    """Return a problem of two heads: the second one has the weights of others."""
    _, W_Q, W_K, W_V = given
    pairs = {"W_Q": (W_Q, W_K), "W_K": (W_K, W_V), "W_V": (W_V, W_Q)}
    return {"X": given.X, "heads": 2} | {name: np.hstack(pair) for name, pair in pairs.items()}


def _of_heads(given: Given) -> Iterator[Plan]:
    X, W_Q, W_K, W_V = given
    other = Given(X, W_K, W_V, W_Q)
    fields, H = two_heads(given), np.stack([given.O, other.O])
    mean = fields | {"combine": "mean"}
    yield Plan("mean-for-concat", fields, "C", H.mean(axis=0))
    yield Plan("sum-for-concat", fields, "C", H.sum(axis=0))
    yield Plan("concat-for-mean", mean, "C", np.hstack(list(H)))
    yield Plan("sum-for-mean", mean, "C", H.sum(axis=0))
    yield Plan("heads-order:2,1", fields, "H", H[::-1])
    yield Plan("head-repeated:1", fields, "H", H[[0, 0]])
    yield Plan("head-repeated:2", fields, "C", np.hstack(H[[1, 1]]))
    yield Plan("heads-interleaved", fields, "C", np.dstack(list(H)).reshape(3, 6))
    yield Plan("heads-viewed", fields, "C", np.array(H.ravel()).reshape(3, 6))
    Q = X @ fields["W_Q"]
    yield Plan("heads-interleaved", fields, "Q", np.stack([Q[:, ::2], Q[:, 1::2]]))
    yield Plan("heads-viewed", fields, "Q", Q.reshape(2, 3, 3))
    yield Plan("axes-swapped", fields, "Q", Q.reshape(3, 2, 3))
    two = [each._replace(X=X[:2]).O for each in (given, other)]  # the shape is right then
    yield Plan("axes-swapped", fields | {"X": X[:2]}, "H", np.stack(two).swapaxes(0, 1))


def _of_shared_heads(given: Given) -> Iterator[Plan]:
    X, W_Q, W_K, W_V = given
    queries = (W_Q, W_K, W_V, W_Q.T)
    fields = two_heads(Given(X, W_Q, W_K, W_V)) | {"heads": 4, "W_Q": np.hstack(queries)}
    Q, K = [X @ W for W in queries], [X @ W for W in (W_K, W_V)]
    yield Plan("heads-tiled", fields, "S", np.stack([Q[i] @ K[i % 2].T for i in range(4)]))
