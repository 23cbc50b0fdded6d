"""What docs/promises.md promises, as lines to compare: `python tests/surface.py --write`."""

import hashlib
import inspect
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import attncalc
from attncalc.api.marking import Marking
from attncalc.cli import OWN_MISTAKE
from attncalc.cli.app import app_for
from attncalc.cli.commands.check import DIFFERENT, RIGHT, UNREAD
from attncalc.grading.rules import STATUSES
from attncalc.problem.fields import GIVEN, NESTED, SETTINGS, TEXTS
from attncalc.problem.samples import ANSWERS, MODELS, SAMPLES
from attncalc.schemas import NAMES, schema
from attncalc.studies.patterns.pattern import CODES
from attncalc.writing.forms import FORMS

ROOT = Path(__file__).parent.parent
WRITTEN = ROOT / "tests" / "surface.json"
SHOWN_TO_USERS = ("Solution", "Study", "Connection")
"""Classes of which what docs/python.md names is promised; of a Problem, its fields are."""

Surface = dict[str, str]


def surface() -> Surface:
    """Return all that is promised, with its current form."""
    return {
        **_api(),
        **_fields(),
        **_flags(),
        **_exit_codes(),
        **{f"schema {name}": _hash(schema(name)) for name in NAMES},
        **{f"sample {each.name}": each.kind for each in (*SAMPLES, *ANSWERS, *MODELS)},
        **{f"code of a marking {each.value}": "" for each in STATUSES},
        **{f"code of a pattern {each}": "" for each in CODES},
        **{f"form {name}": " ".join(endings) for name, endings in FORMS.items()},
    }


def _api() -> Surface:
    found: Surface = {}
    for name in attncalc.__all__:
        each = getattr(attncalc, name)
        if inspect.isfunction(each):
            found[f"attncalc.{name}"] = _signature(each)
        elif inspect.isclass(each):
            bases = [base.__name__ for base in each.__mro__ if issubclass(base, Exception)]
            found[f"attncalc.{name}"] = f"class {' '.join(bases[1:])}".strip()
    told = set(re.findall(r"\w+", (ROOT / "docs" / "python.md").read_text(encoding="utf-8")))
    for each in (*(getattr(attncalc, name) for name in SHOWN_TO_USERS), Marking):
        for name in (name for name in dir(each) if not name.startswith("_") and name in told):
            member = inspect.getattr_static(each, name)
            says = _signature(member) if inspect.isfunction(member) else "value"
            found[f"{each.__name__}.{name}"] = says
    return found


def _signature(function: Any) -> str:
    """Return the parameters of a function, with their defaults."""
    parts = []
    for each in inspect.signature(function).parameters.values():
        start = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        only = " (by name)" if each.kind == each.KEYWORD_ONLY else ""
        unsaid = "" if each.default is each.empty else f" = {each.default!r}"
        parts.append(f"{start}{each.name}{unsaid}{only}")
    return f"({', '.join(part for part in parts if part != 'self')})"


def _fields() -> Surface:
    matrices = {f"field {name}": f"matrix, {each.role}" for name, each in GIVEN.items()}
    settings = {
        f"field {name}": f"setting, unsaid {each.default}" for name, each in SETTINGS.items()
    }
    return matrices | settings | {f"field {name}": "" for name in (*NESTED, *TEXTS, "labels")}


def _flags() -> Surface:
    """Return each flag, and the commands that have it."""
    import typer

    group: Any = typer.main.get_command(app_for([]))
    commands = {name: _alone(name) for name in group.commands}
    having: dict[str, list[str]] = defaultdict(list)
    for name, command in commands.items():
        for each in command.params:
            having[_flag(each)].append(name)
    return {flag: " ".join(names) for flag, names in sorted(having.items())}


def _alone(name: str) -> Any:
    import typer

    made: Any = typer.main.get_command(app_for([name]))
    return made.commands[name]


def _flag(each: Any) -> str:
    takes = getattr(each.type, "choices", None) or ("" if _is_switch(each) else "a value")
    said = takes if isinstance(takes, str) else " ".join(map(str, takes))
    if each.param_type_name == "argument":
        return f"argument {each.name} {said}".rstrip()
    names = "/".join((*each.opts, *each.secondary_opts))
    several = ", again and again" if each.multiple else ""
    return f"flag {names} {said}".rstrip() + several


def _is_switch(each: Any) -> bool:
    return bool(getattr(each, "is_flag", False))


def _exit_codes() -> Surface:
    codes = {"right": RIGHT, "has mistakes": DIFFERENT, "refused": UNREAD, "ours": OWN_MISTAKE}
    return {f"exit code {what}": str(code) for what, code in codes.items()}


def _hash(described: Any) -> str:
    """Return a digest of a schema without its descriptions."""
    plain = json.dumps(_without_words(described), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def _without_words(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_words(each) for each in value]
    if not isinstance(value, dict):
        return value
    words = {name for name in ("description", "title") if isinstance(value.get(name), str)}
    return {name: _without_words(each) for name, each in value.items() if name not in words}


def write() -> None:
    """Write down what is promised now."""
    text = json.dumps(surface(), indent=1, ensure_ascii=False, sort_keys=True)
    WRITTEN.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write()
