"""Command lines that mostly are right: what they ask for is done, and not refused at the door.

Each command has a line that it takes, with a problem of its kind; a flag or two of those below are
added, with values they take. What is odd here is the content: numbers, labels, sizes, tokenizers.
"""

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from attncalc.problem.fields import GIVEN, SETTINGS
from attncalc.problem.samples import ANSWERS, SAMPLES, sample
from attncalc.schemas import NAMES

from . import answering, making
from .calling import Case

Files = dict[str, bytes]
KINDS = ("self", "cross", "encoder", "decoder", "vit")
SPOILT = 0.1
"""How often a problem is spoilt in the same way."""
VALUES = {
    "only": ("A", "A", "Q,A,O"),
    "set": ("softcap=9", "heads=null", "layout=rows", 'weights_layout="in-out"'),
    "entry": ("A[1,1]", "O[1,1]"),
    "steps": ("A", "Q,A,O", "O"),
    "weight": ("A=2", "O=1/2"),
    "follow_penalty": ("0", "1/2", "1"),
    "rounding_penalty": ("0", "1/4"),
    "precision_penalty": ("0", "1"),
    "marks_decimals": ("0", "3", "6"),
    "atol": ("1e-3", "0.5"),
    "rtol": ("1e-6",),
    "points": ("10", "1/3", "7.5"),
    "watch": ("A[1,:]", "entropy(A)", "norm(O)", "A[1,1]"),
    "draws": ("5", "50"),
    "seed": ("0", "7", str(2**127)),
    "until": ("0.1",),
    "beta": ("10", "1/2", "1e308"),
    "within": ("0.01", "1e-9"),
    "tokens": ("2", "3"),
    "d": ("2", "4"),
    "d_k": ("1", "2"),
    "entries": ("-2:2", "0,1", "-2:2:1/2"),
    "margin": ("0.01", "none"),
    "ties": ("any",),
    "decimals": ("0", "3", "12"),
    "scale": ("none", "1/3", "sqrt_dk", "0"),
    "rounding": ("display", "each-step"),
}
"""What flags take, of those that most problems have a use for."""
SWITCHES = (
    *("no_scale", "work", "fractions", "mixed", "blank", "explain", "full", "brief", "reading"),
    *("causal", "backward", "values", "words", "same_digits"),
)
CHANGES = ("scale=0.1:10:log", "scale=0:inf", "W_K *= 0:3", "W_V *= -1:1", "X[1,1] = -2:2")
DRAWS = ("W_K[1] ~ N(mu, 0.1 I)", "X[1,1] ~ U(-1, 1)", "X[1] ~ N(mu, 0.5 I + mu muT)")
TARGETS = ("v_1", "1/2 v_1 + 1/2 v_2", "v_2", "1/3 v_1 + 2/3 v_2")
BY_ITSELF = {"--again", "--class"}
"""Flags that say all there is to say."""
SYSTEMS = {"moodle": "out.xml", "numbas": "out.exam", "prairielearn": "out"}
"""Systems and where their files go; a Gradescope zip takes seconds, whatever the problem."""
MARKS = (".md", ".json", ".html", ".csv")


def command_line(some: Random, name: str, options: list[Any]) -> Case:
    """Return a command line of a command, and the files that it names."""
    files: Files = {}
    line = [name, *BASES.get(name, _any_problem)(some, files)]
    known = {option.name: option for option in options}
    taken = [each for each in (*VALUES, *SWITCHES) if each in known and each not in _in(line)]
    for each in some.sample(taken, min(len(taken), some.choice([0, 0, 1, 1, 2, 3]))):
        if BY_ITSELF & set(line) or (name == "open" and each not in ("decimals", "full")):
            break
        option = known[each]
        if option.is_flag or each in SWITCHES:
            line.append(some.choice(option.opts))
        else:
            line += [some.choice(option.opts), some.choice(VALUES[each])]
    if "title" in known and some.random() < 0.2:
        line += ["--title", making.text(some).replace("\0", "") or "x"]
    if "format" in known and "-o" not in line and some.random() < 0.3:
        choices = getattr(known["format"].type, "choices", None) or ["json"]
        forms = [str(getattr(each, "value", each)) for each in choices]
        line += ["--format", some.choice([each for each in forms if each != "npz"])]
    elif "format" in known and "-o" not in line and some.random() < 0.3:
        line += ["-o", f"out{some.choice(MARKS)}"]
    return Case(tuple(_as_argument(each) for each in line), files)


def _as_argument(given: str) -> str:
    return given.replace("\0", "").encode(errors="replace").decode()


def _in(line: list[str]) -> set[str]:
    return {each.removeprefix("--").replace("-", "_") for each in line if each.startswith("--")}


@cache
def _samples(kind: str) -> tuple[tuple[str, bytes], ...]:
    """Return the bundled problems of a kind, or all."""
    found = (each for each in SAMPLES if each.path.is_file() and kind in ("", each.kind))
    return tuple((each.path.suffix, each.path.read_bytes()) for each in found)


def _problem(some: Random, files: Files, kind: str = "") -> str:
    """Put a problem of a kind among the files, and return its name."""
    if kind in ("", "self", "cross") and some.random() < 0.4:
        kind = kind or some.choice(["self", "cross"])
        ending = some.choice(list(making.WRITERS))
        data = making.WRITERS[ending](making.whole_fields(some, kind), some)
    else:
        ending, data = some.choice(_samples(kind))
        data = making.with_other_numbers(some, data)
    if some.random() < SPOILT:
        data = making.spoilt(some, data)
    files["in" + ending] = data
    return "in" + ending


def _any_problem(some: Random, files: Files) -> list[str]:
    return [_problem(some, files)]


def _of_kind(kind: str) -> Callable[[Random, Files], list[str]]:
    return lambda some, files: [_problem(some, files, kind)]


def _check(some: Random, files: Files) -> list[str]:
    problem = some.choice(answering.keyed())
    ending = problem.name.rpartition(".")[2]
    files[f"in.{ending}"] = problem.data
    count, names = some.choice([1, 1, 1, 3]), []
    for number in range(count):
        stem = f"answers/mine{number}" if count > 1 else "mine"
        is_of_it = some.random() < 0.8
        name, data = (
            answering.answer_to(some, problem, stem) if is_of_it else making.answer(some, stem)
        )
        if some.random() < SPOILT:
            data = making.spoilt(some, data)
        files[name] = data
        names.append(name)
    line = [f"in.{ending}", *(["answers"] if count > 1 else names)]
    return line + (["--csv", "marks.csv"] if some.random() < 0.1 else [])


def _plot(some: Random, files: Files) -> list[str]:
    line = [_problem(some, files), "-o", f"out{some.choice(['.png', '.svg'])}"]
    return line + (["--kind", "heatmap"] if some.random() < 0.4 else [])


def _study(things: tuple[str, ...]) -> Callable[[Random, Files], list[str]]:
    def line(some: Random, files: Files) -> list[str]:
        out = ["-o", f"out{some.choice(['.json', '.csv', '.svg'])}"]
        return [
            _problem(some, files, "self"),
            some.choice(things),
            *(out if some.random() < 0.3 else []),
        ]

    return line


def _aim(some: Random, files: Files) -> list[str]:
    sizes = [some.randint(1, 4) for _ in range(3)]
    made = {"K": making.rows(some, sizes[0], sizes[1]), "V": making.rows(some, sizes[0], sizes[2])}
    files["in.json"] = json.dumps(made).encode(errors="replace")
    return ["in.json", some.choice(TARGETS)]


def _export(some: Random, files: Files) -> list[str]:
    system, out = some.choice(list(SYSTEMS.items()))
    return [_problem(some, files), "--to", system, "-o", out]


def _new(some: Random, files: Files) -> list[str]:
    if some.random() < 0.2:
        return ["--again", _problem(some, files, some.choice(["self", "cross"]))]
    if some.random() < 0.2:
        names = "\n".join(making.text(some).replace(",", " ") or "x" for _ in range(3))
        files["names.csv"] = f"name\n{names}\nAda\n".encode(errors="replace")
        files["spec.json"] = json.dumps({"problems": [{"tokens": 2}], "seed": 1}).encode()
        return ["--class", "names.csv", "--problems", "spec.json", "-o", "set", "--jobs", "1"]
    return ["--kind", some.choice(["self", "cross", "encoder", "decoder"])]


def _open(some: Random, files: Files) -> list[str]:
    """Return how a model is opened: that of the samples, with a strange config or tokenizer."""
    for path in sample("model").path.iterdir():
        files[f"model/{path.name}"] = path.read_bytes()
    line = ["model"]
    if some.random() < 0.3:
        files["model/tokenizer.json"] = making.tokenizer(some)
        line += ["--text", some.choice(["a cat", "a" * 50, "", "…"])]
    else:
        line += ["--tokens", some.choice(["1 2", "0", "3 1 2 0"])]
    if some.random() < 0.1:
        files["model/config.json"] = making.spoilt(some, files["model/config.json"])
    return line + (["--layer", some.choice(["0", "0", "9"])] if some.random() < 0.7 else [])


def _generate(some: Random, files: Files) -> list[str]:
    line = [each for each in _open(some, files) if each not in ("--layer", "9")]
    return [*line[:3], "--count", some.choice(["1", "2", "0"])]


def _samples_command(some: Random, files: Files) -> list[str]:
    name = some.choice([each.name for each in (*SAMPLES, *ANSWERS)])
    return [name, "-o", "out"] if some.random() < 0.7 else [name]


BASES: dict[str, Callable[[Random, Files], list[str]]] = {
    **{kind: _of_kind(kind) for kind in KINDS},
    "check": _check,
    "plot": _plot,
    "vary": _study(CHANGES),
    "simulate": _study(DRAWS),
    "aim": _aim,
    "export": _export,
    "new": _new,
    "open": _open,
    "generate": _generate,
    "samples": _samples_command,
    "schema": lambda some, _: [some.choice(NAMES)],
}
assert not set(VALUES) & set(GIVEN)
assert {"decimals", "scale", "rounding"} <= set(SETTINGS)
