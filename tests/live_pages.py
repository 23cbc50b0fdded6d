"""Problems of every kind, drawn at random, and Node to compute them as a page does."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from live_kinds import matrix, rarer, with_gradients

import attncalc
from attncalc.base.errors import AttncalcError
from attncalc.base.rounding import fixed
from attncalc.equations.operation import UnstatedError
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import in_json
from attncalc.reading import read_stream
from attncalc.solving.solution import Solution, solve
from attncalc.writing.live.data import stated_steps

KINDS = (
    "self",
    "self",
    "cross",
    "cross",
    "given",
    "encoder",
    "encoder",
    "decoder",
    "rarer",
    "rarer",
)
WAY_BACK, OF_RARER = 0.2, 0.6
"""How many of the problems are differentiated, too, and of those of rarer kinds."""
LIVE = Path(attncalc.__file__).parent / "writing" / "live"
NODE = shutil.which("node") or shutil.which("nodejs")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node here")


ANSWER = """
    for (const line of readFileSync(0, "utf-8").split("\\n").filter(Boolean)) {
      let said;
      try { said = answer(JSON.parse(line)); }
      catch (error) {
        said = { error: error instanceof $numbers.Refusal ? error.message : error.stack };
      }
      console.log(JSON.stringify(said));
    }"""


@cache
def folder() -> Path:
    """Return a folder where Node reads the files of pages as modules."""
    place = Path(tempfile.mkdtemp())
    for each in LIVE.iterdir():
        if each.name in ("equations", "playground") or each.suffix == ".js":
            (place / each.name).symlink_to(each)
    (place / "package.json").write_text('{"type": "module"}')
    return place


def in_node(program: str, lines: Iterable[Any]) -> Iterator[Any]:
    """Yield what a program makes of each line: the body of (line), with modules of pages."""
    names = [f"equations/{each.stem}" for each in (LIVE / "equations").glob("*.js")]
    imports = "".join(
        f'import * as ${name.rpartition("/")[2]} from "{folder()}/{name}.js";\n'
        for name in (*names, "numbers", "expressions")
    )
    text = f"""{imports}
    import {{ readFileSync }} from "node:fs";
    const answer = (line) => {{ {program} }};
    {ANSWER}"""
    assert NODE is not None
    given = "\n".join(map(json.dumps, lines))
    done = subprocess.run(
        [NODE, "--preserve-symlinks", "--input-type=module", "-e", text],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return map(json.loads, done.stdout.splitlines())


def is_stated(solution: Solution) -> bool:
    """Return whether an equation states each step of a problem."""
    try:
        stated_steps(solution.problem, solution.plan)
    except UnstatedError:
        return False
    return True


def shown(solution: Solution) -> dict[str, list[str]]:
    """Return the entries of all steps as they are shown, tokens as rows."""
    decimals = solution.problem.decimals
    return {
        step.name: [fixed(value, decimals) for value in solution.digits[step.name].flat]
        for step in solution.plan
    }


def drawn(rng: Random) -> Solution:
    """Return a problem of any kind that can be solved, and its solution."""
    while True:
        try:
            solution = _solved(rng)
            _ = solution.digits if solution.is_exact else None
        except AttncalcError:  # what divides by nothing, say
            continue
        except ArithmeticError:  # what divides by the dust of decimals: there is nothing to compare
            continue
        if solution.is_exact and is_stated(solution):
            return solution


def drawn_with(rng: Random, operation: str) -> Solution:
    """Return a problem of a rarer kind whose gradients take an operation, to several numbers."""
    while True:
        try:
            solution = _solved(rng, "rarer")
            names = [s.name for s in solution.plan if s.operation.name == operation]
            if names and len({*solution.digits[names[0]].flat}) > 1 and solution.is_exact:
                return solution
        except (AttncalcError, ArithmeticError):
            continue


def _solved(rng: Random, kind: str | None = None) -> Solution:
    kind = kind or rng.choice(KINDS)
    fields = _fields(rng, kind)
    solution = solve(Problem(**fields))
    if rng.random() < (OF_RARER if kind == "rarer" else WAY_BACK):
        back = with_gradients(rng, _numbers(rng), solution)
        return solve(Problem(**fields, **back))
    return solution


def reread(problem: Problem) -> Problem:
    """Return the problem that its file says."""
    return read_stream(json.dumps(in_json(problem)).encode(), "problem.json")


def _fields(rng: Random, kind: str) -> dict[str, Any]:
    number = _numbers(rng)
    fields = _conventions(rng)
    if kind == "rarer":
        return fields | rarer(rng, number)
    if kind in ("encoder", "decoder"):
        return fields | _layer(rng, number, kind)
    return _turned(rng, fields | _attention(rng, number, kind, fields))


def _turned(rng: Random, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with tokens as columns, or weights (out, in), now and then."""
    way = rng.choice(["rows", "rows", "rows", "columns", "torch"])
    if way == "rows":
        return fields
    said = {"layout": "columns"} if way == "columns" else {"weights_layout": "torch"}
    turned = {
        name: _transposed(given)
        for name, given in fields.items()
        if isinstance(given, list) and name[0] != "b" and (way == "columns" or name[0] == "W")
    }
    if way == "columns" and "bias" in fields:
        turned["bias"] = _transposed(fields["bias"])
    return fields | turned | said


def _transposed(given: Any) -> Any:
    if isinstance(given[0][0], list):
        return [_transposed(head) for head in given]
    return [list(column) for column in zip(*given, strict=True)]


def _numbers(rng: Random) -> Any:
    """Return what draws numbers of one sort: whole, of a few decimals, fractions, ties."""
    sort = rng.choice(["whole", "whole", "halves", "decimals", "fractions", "long", "mixed"])

    def number() -> Any:
        own = sort if sort != "mixed" else rng.choice(["whole", "halves", "decimals", "fractions"])
        if own == "whole":
            return rng.randint(-4, 6)
        if own == "halves":
            return rng.randint(-12, 12) / rng.choice([2, 4, 8])
        if own == "decimals":
            return Decimal(f"{rng.randint(-300, 300) / 100:.2f}")
        if own == "fractions":
            return Fraction(rng.randint(-9, 9), rng.randint(1, 9))
        return Decimal(f"{rng.uniform(-2, 2):.17f}")

    return number


def _conventions(rng: Random) -> dict[str, Any]:
    return {
        "decimals": rng.choice([0, 1, 2, 2, 2, 3, 4, 6, 12]),
        "rounding": rng.choice(["display", "each-step"]),
        "scale": rng.choice(["sqrt_dk", "sqrt_dk", "none", "1/3", "0.5", "2", "-1", "0"]),
        "causal": rng.random() < 0.3,
        "softcap": rng.choice([None, None, None, "2", "50", "1/3"]),
        "normalizer": rng.choice(["softmax"] * 6 + ["hardmax", "sum"]),
    }


def _attention(rng: Random, number: Any, kind: str, said: dict[str, Any]) -> dict[str, Any]:
    n, d_k, d_v = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 4)
    m = n if kind == "self" else rng.randint(1, 4)
    d, e = rng.randint(1, 4), rng.randint(1, 4)
    heads = rng.choice([0, 0, 0, 1, 2, 4])
    shared = heads if heads < 2 else rng.choice([1, 2, heads])
    if rng.random() < 0.25:
        said["positions"] = rng.choice(["sinusoidal", "rope"])
        said |= {"rope_pairing": rng.choice(["halves", "interleaved"])}
        d_k = 2 * rng.randint(1, 2) if said["positions"] == "rope" else d_k
        if rng.random() < 0.5:
            said |= {"rope_base": rng.choice([100, "10000", "2.5"])}
            said |= {"rope_offset": rng.choice([1, "1/2", 1000]), "positions_base": 100}
    past = _past(rng, number, d_k, d_v, heads) if said.get("positions") != "sinusoidal" else {}
    if kind == "self" and past:
        m += len(past["past_K"])
    if kind == "given":
        said.pop("positions", None) if said.get("positions") == "sinusoidal" else None
        return _masks(rng, number, n, m) | {
            "Q": matrix(rng, number, n, d_k, heads),
            "K": matrix(rng, number, m, d_k, shared),
            "V": matrix(rng, number, m, d_v, shared),
        }
    tokens = {"X": matrix(rng, number, n, d)}
    if kind == "cross":
        tokens = {"X1": matrix(rng, number, n, d), "X2": matrix(rng, number, m, e)}
    wide = e if kind == "cross" else d
    past = past if kind == "self" else {}
    return {
        **tokens,
        **past,
        "W_Q": matrix(rng, number, d, d_k, heads),
        "W_K": matrix(rng, number, wide, d_k, shared),
        "W_V": matrix(rng, number, wide, d_v, shared),
        **_biases(rng, number, d_k, d_v, heads),
        **_projected(rng, number, d_v, heads),
        **_masks(rng, number, n, m),
        "causal_alignment": rng.choice(["top-left", "bottom-right"])
        if m >= n and not past
        else "top-left",
    }


def _past(rng: Random, number: Any, d_k: int, d_v: int, heads: int) -> dict[str, Any]:
    """Return earlier keys and values, of one head."""
    if heads or rng.random() < 0.8:
        return {}
    count = rng.randint(1, 2)
    return {
        "past_K": matrix(rng, number, count, d_k),
        "past_V": matrix(rng, number, count, d_v),
    }


def _biases(rng: Random, number: Any, d_k: int, d_v: int, heads: int) -> dict[str, Any]:
    if heads or rng.random() < 0.6:
        return {}
    sizes = {"b_Q": d_k, "b_K": d_k, "b_V": d_v}
    return {
        name: [number() for _ in range(size)] for name, size in sizes.items() if rng.random() < 0.7
    }


def _projected(rng: Random, number: Any, d_v: int, heads: int) -> dict[str, Any]:
    said: dict[str, Any] = {"combine": rng.choice(["concat", "mean"])} if heads > 1 else {}
    joined = d_v * (heads if heads and said.get("combine") == "concat" else 1)
    if rng.random() < 0.3:
        width = rng.randint(1, 3)
        said["W_O"] = matrix(rng, number, joined, width)
        if rng.random() < 0.5:
            said["b_O"] = [number() for _ in range(width)]
    return said


def _masks(rng: Random, number: Any, n: int, m: int) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if rng.random() < 0.15:
        said["keep"] = matrix(rng, lambda: rng.randint(0, 1), n, m)
    if rng.random() < 0.1:
        said["ignore"] = matrix(rng, lambda: rng.randint(0, 1), 1, m)
    if rng.random() < 0.15:
        said["bias"] = matrix(rng, lambda: float("-inf") if rng.random() < 0.2 else number(), n, m)
    return said


def _layer(rng: Random, number: Any, kind: str) -> dict[str, Any]:
    n, d, d_k = rng.randint(1, 3), rng.randint(2, 4), rng.randint(1, 3)
    said: dict[str, Any] = {
        "block": kind,
        "X": matrix(rng, number, n, d),
        "residual": rng.random() < 0.8,
        **_normalised(rng, number, d),
        **_fed_forward(rng, number, d),
    }
    if "W_1" in said and said["norm"] != "output" and rng.random() < 0.2:
        said["parallel"] = rng.choice(["shared", "own"] if said["norm"] == "pre" else ["shared"])
    if kind == "encoder":
        return said | _weights(rng, number, d, d_k)
    said["self"] = _weights(rng, number, d, d_k)
    if rng.random() < 0.5:
        said["X1"] = said.pop("X")
        said["X2"] = matrix(rng, number, rng.randint(1, 3), d)
        said["cross"] = _weights(rng, number, d, d_k)
    return said


def _normalised(rng: Random, number: Any, d: int) -> dict[str, Any]:
    norm = rng.choice(["post", "pre", "output", "none"])
    if norm == "none":
        return {"norm": norm}
    said: dict[str, Any] = {
        "norm": norm,
        "normalization": rng.choice(["layer", "layer", "rms"]),
        "eps": rng.choice(["0.00001", "0.001", "0", "1/7"]),
        "eps_place": rng.choice(["inside", "outside"]),
    }
    if said["normalization"] == "layer":
        said["ddof"] = rng.choice([0, 0, 1])
    if rng.random() < 0.5:
        said |= {name: [number() for _ in range(d)] for name in ("gamma_1", "beta_1")}
    return said


def _fed_forward(rng: Random, number: Any, d: int) -> dict[str, Any]:
    inner = rng.randint(1, 4)
    said: dict[str, Any] = {
        "W_1": matrix(rng, number, d, inner),
        "W_2": matrix(rng, number, inner, d),
        "activation": rng.choice(["relu", "relu2", "gelu", "gelu-tanh", "gelu-quick", "silu"]),
    }
    if rng.random() < 0.3:
        said["W_3"] = matrix(rng, number, d, inner)
    if rng.random() < 0.5:
        said |= {"b_1": [number() for _ in range(inner)], "b_2": [number() for _ in range(d)]}
    if rng.random() < 0.3:
        said |= {"W_out": matrix(rng, number, d, 3)}
        said |= {"read": rng.choice(["all", "first", "last", "mean"])}
    return said


def _weights(rng: Random, number: Any, d: int, d_k: int) -> dict[str, Any]:
    return {
        "W_Q": matrix(rng, number, d, d_k),
        "W_K": matrix(rng, number, d, d_k),
        "W_V": matrix(rng, number, d, d_k),
        "W_O": matrix(rng, number, d_k, d),
    }
