"""`attncalc playground`: a page that computes any small problem, without an installation."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.targets import check_targets, deliver, output, target_of
from attncalc.equations.operation import UnstatedError
from attncalc.problem.samples import GROUPS
from attncalc.reading import read_problem, read_stream
from attncalc.writing.live.data import MOST_ENTRIES
from attncalc.writing.live.made import Template, write_playground

X = {"X": [[1, 0, 1], [0, 2, 1], [1, 1, 0]]}
WEIGHTS = {
    "W_Q": [[1, 0], [0, 1], [1, -1]],
    "W_K": [[0, 1], [1, 0], [1, 1]],
    "W_V": [[1, 2], [0, 1], [2, 0]],
}
ACROSS = {"X1": [[1, 0, 1], [0, 2, 1]], "X2": [[1, 1, 0], [0, 1, 1], [2, 0, 1], [0, 0, 1]]}
GRADIENT = {"dO": [[1, 0], [0, 1], [1, 1]]}
HEADS = {
    "W_Q": [[[1, 0], [0, 1], [1, -1]], [[0, 1], [1, 1], [1, 0]]],
    "W_K": [[[0, 1], [1, 0], [1, 1]], [[1, 0], [0, -1], [1, 1]]],
    "W_V": [[[1, 2], [0, 1], [2, 0]], [[0, 1], [1, 1], [1, -1]]],
    "W_O": [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, -1, 1]],
}
LINEAR = [
    "F[i,c] = exp(Q[i,c])  # features of the queries",
    "G[j,c] = exp(K[j,c])  # features of the keys",
    "KV[a,c] = sum(G[j,a] * V[j,c] for j in m)  # keys times values",
    "O[i,c] = sum(F[i,a] * KV[a,c] for a in d_k) / sum(F[i,a] * G[j,a] for j in m for a in d_k)",
]
KINDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "self": ("Self-attention", X | WEIGHTS),
    "cross": ("Cross-attention", ACROSS | WEIGHTS),
    "heads": ("Two heads", X | HEADS),
    "causal": ("Causal mask", X | WEIGHTS | {"causal": True}),
    "padding": ("Padding mask", X | WEIGHTS | {"ignore": [[0, 0, 1], [0, 0, 1], [0, 0, 1]]}),
    "scores": (
        "Softmax of given scores",
        {"S": [[1, 2, 3], [0, 0, 4]], "V": [[1, 0], [0, 1], [1, 1]], "scale": "none"},
    ),
    "projected": (
        "Given Q, K and V",
        {"Q": [[1, 0], [0, 2]], "K": [[1, 1], [0, 1], [2, 0]], "V": [[1, 0], [0, 1], [1, 1]]},
    ),
    "gradients": ("Gradients", X | WEIGHTS | GRADIENT),
    "equations": ("Your own equations", X | WEIGHTS | {"equations": LINEAR}),
}
"""Problems to begin with, each with all conventions."""
LAYERS = ("encoder", "decoder", "gpt")
"""Samples with layers, with all conventions."""
YOURS = "yours"


def playground(flags: Mapping[str, Any]) -> None:
    """Write the page to where it is asked for."""
    target = target_of("--out", flags["out"])
    check_targets(target)
    templates, first = list(_templates()), "self"
    if flags["file"] is not None:
        problem = problem_from(flags, fallback="self")
        count = sum(problem.stored(name).size for name in problem.names)
        if count > MOST_ENTRIES:
            raise InputError(
                f"a playground has at most {MOST_ENTRIES:,} given numbers, not {count:,}"
            )
        own = Template(YOURS, "Yours", problem.title or "Your problem", problem, others=True)
        templates, first = [own, *templates], YOURS
    check_targets(target)  # again, since inputs are known now
    try:
        page = write_playground(templates, first)
    except UnstatedError as error:
        raise InputError(f"no equation states how {error} is computed") from None
    deliver(output(target, page))


def _templates() -> Iterator[Template]:
    for key, (title, fields) in KINDS.items():
        yield Template(key, "Attention", title, read_stream(json.dumps(fields).encode(), key), True)
    for group, samples in GROUPS.items():
        for each in samples:
            if each.path.suffix == ".json":
                is_layer = each.name in LAYERS
                key = each.name if each.name not in KINDS else f"sample-{each.name}"
                where = "Layers" if is_layer else f"Samples: {group.lower()}"
                yield Template(key, where, each.shows, read_problem(each.path), is_layer)
