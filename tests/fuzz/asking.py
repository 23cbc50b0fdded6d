"""Command lines: every command and flag that the app declares, with values good and bad."""

from functools import cache
from random import Random
from typing import Any

from attncalc.cli.app import COMMANDS, app_for
from attncalc.problem.fields import GIVEN, SETTINGS
from attncalc.writing.forms import FORMS

from . import making, plainly
from .calling import Case

WEIGHTS = {"self": 50, "cross": 30, "check": 60, "plot": 10, "samples": 5}
"""How often a command is tried; one that is new, as often as this says of none."""
OFTEN, RARELY = 10, 1
PLAINLY = 0.85
"""How often a command line is one that its command takes: others end at the door."""
WRITTEN = ("--out", "--csv")
"""Flags that name what is written: nothing outside of the folder is."""
MOST_FLAGS = 5
STEPS = ["Q", "K", "V", "S", "S_scaled", "S_masked", "A", "H", "C", "O", "connections", "Q_rot"]
ENTRIES = [
    "A[1,1]",
    "O[2,1]",
    "A['1','1']",
    "S[9,9]",
    "A[1]",
    "Q[",
    "A[1,1,1]",
    "A[-1,1]",
    "A[1,*]",
]


@cache
def commands() -> dict[str, tuple[Any, ...]]:
    """Return the parameters of each command, as the app declares them."""
    from typer.main import get_command

    made: Any = get_command(app_for([]))
    assert set(made.commands) == set(COMMANDS)
    return {name: tuple(command.params) for name, command in made.commands.items()}


def command_line(some: Random) -> Case:
    """Return a command line, and the files that it names."""
    names = list(commands())
    name = some.choices(names, [WEIGHTS.get(each, OFTEN) for each in names])[0]
    if some.random() < PLAINLY:
        options = [each for each in commands()[name] if each.param_type_name == "option"]
        return plainly.command_line(some, name, options)
    files: dict[str, bytes] = {}
    arguments = [name]
    stdin = b""
    for parameter in commands()[name]:
        if parameter.param_type_name == "argument" and (parameter.required or some.random() < 0.9):
            arguments += _argument(some, name, parameter, files)
    options = [each for each in commands()[name] if each.param_type_name == "option"]
    weights = [RARELY if option.name in GIVEN else OFTEN for option in options]
    for option in some.choices(options, weights, k=some.randrange(MOST_FLAGS)):
        arguments += _option(some, option, files)
    if some.random() < 0.02:
        arguments.insert(some.randrange(len(arguments) + 1), _word(some))
    if "-" in arguments:
        _, stdin = some.choice([making.problem, making.answer])(some)
    return Case(tuple(map(_as_argument, arguments)), files, stdin)


def _as_argument(given: str) -> str:
    """Return what a shell can hand over."""
    return given.replace("\0", "").encode(errors="replace").decode()


def _argument(some: Random, command: str, parameter: Any, files: dict[str, bytes]) -> list[str]:
    """Return one argument, or some of them; its name says of what kind."""
    chance = some.random()
    if chance < 0.02:
        return [some.choice(["-", "", ".", "nowhere.json", _word(some)])]
    if command == "samples":
        from attncalc.problem.samples import ANSWERS, SAMPLES

        return [some.choice([each.name for each in (*SAMPLES, *ANSWERS)] + ["none", _word(some)])]
    if parameter.nargs != 1:
        return [
            _kept(files, making.answer(some, f"mine{n}")) for n in range(some.choice([1, 1, 1, 2]))
        ]
    if chance < 0.08:
        for name in ("X", "W_Q", "W_K", "W_V"):
            rows = making.rows(some, 2, 2)
            files[f"given/{name}.csv"] = "\n".join(",".join(row) for row in rows).encode(
                errors="replace"
            )
        return ["given"]
    if command == "check" and some.random() < 0.7:
        name, data = some.choice(making.problems())
        return [_kept(files, ("in" + name, data))]
    stem = some.choice(["in", "in", "in", _stem(some)])
    return [
        _kept(files, making.problem(some, stem, command if command in ("self", "cross") else ""))
    ]


def _stem(some: Random) -> str:
    """Return the name of a file, of letters that a folder takes."""
    kept = _as_argument(_word(some)).replace("/", "").strip(".- ")
    return kept[:40] or "in"


def _kept(files: dict[str, bytes], document: making.Document) -> str:
    name, data = document
    files[name] = data
    return name


def _option(some: Random, option: Any, files: dict[str, bytes]) -> list[str]:
    """Return a flag, with what it takes; rarely with something else."""
    flag = some.choice([*option.opts, *option.secondary_opts])
    if flag in ("--help", "--help-all") and some.random() < 0.9:
        return []
    if option.is_flag:
        return [flag]
    if set(option.opts) & set(WRITTEN):
        return [flag, _place(some, files)]
    value = _word(some) if some.random() < 0.05 else _value(some, option, files)
    return [f"{flag}={value}"] if flag.startswith("--") and some.random() < 0.5 else [flag, value]


def _place(some: Random, files: dict[str, bytes]) -> str:
    """Return where to write: in the folder, and not seldom over what is read."""
    endings = [ending for each in FORMS.values() for ending in each]
    stem = some.choice(["out", "out", "out", _stem(some), "no-folder/out"])
    over = list(files) or ["in.json"]
    return some.choice(
        [*(stem + each for each in endings), "out/", "-", "", stem + ".png", stem + ".svg", *over]
    )


def _value(some: Random, option: Any, files: dict[str, bytes]) -> str:
    choices = getattr(option.type, "choices", None)
    if choices:
        return some.choice([str(getattr(each, "value", each)) for each in choices])
    if option.name in GIVEN:
        rows = making.rows(some, some.randint(1, 4), some.randint(1, 4))
        if some.random() < 0.3:
            text = "\n".join(",".join(row) for row in rows).encode(errors="replace")
            data = making.spoilt(some, text) if some.random() < 0.5 else text
            return _kept(
                files, (f"matrix{some.choice(['.csv', '.txt', '.json', '.npy', '.npz'])}", data)
            )
        return some.choice(["; ", ";", "\n"]).join(" ".join(row) for row in rows)
    if option.name in SETTINGS:
        return str(making.setting(some, option.name))
    pools = [
        [making.number(some)],
        [",".join(some.sample(STEPS, some.randint(1, 3)))],
        ENTRIES,
        [f"{some.choice(STEPS)}={making.number(some)}"],
        ["8x6", "12", "mean", "1", "2", "1/2"],
        [making.text(some)],
    ]
    return some.choice(some.choice(pools))


def _word(some: Random) -> str:
    return some.choice(
        [making.text(some), making.number(some), some.choice(making.PIECES), "--", "-x", "--no"]
    )
