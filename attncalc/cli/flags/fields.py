"""A flag for each field of a problem, as `attncalc.problem.fields` declares them."""

import re
from collections.abc import Callable, Iterator

from attncalc.cli.flags.flag import Flag
from attncalc.problem.field import (
    CONVENTIONS,
    IMAGE,
    LAYER_PANELS,
    LAYERS,
    OF_BLOCK,
    PANELS,
    Setting,
)
from attncalc.problem.fields import GIVEN, NESTED, SETTINGS

ALL_PANELS = (*PANELS, *LAYER_PANELS)
OF_THE_ANSWER = ("asked", "equations")
"""Settings of one given problem, and not of new ones."""
OTHERS = {
    "labels": 'Token names, e.g. ["cat", "dog"].',
    "title": "Title of the page.",
    "student": "Student of a class that this problem is for.",
    "code": "The code of a problem of a class.",
    "made_by": "The command that generated the problem.",
    **{name: f"{each.says[0].upper()}{each.says[1:]}." for name, each in NESTED.items()},
}
"""The fields that are neither matrices nor settings."""
ALL_FIELDS = (*GIVEN, *SETTINGS, *OTHERS)


def flags_for(kind: str) -> Iterator[Flag]:
    """Yield the flags of fields of a kind ("attention": no layers, "": all), panel by panel."""
    kinds = OF_BLOCK.get(kind, ("", kind) if kind else ("", "self", "cross", LAYERS, IMAGE))
    for panel in ALL_PANELS:
        for name, matrix in GIVEN.items():
            # the patches of an image are the tokens
            is_made = kind == "vit" and matrix.role in ("tokens", "ids", "table")
            if matrix.panel == panel and matrix.kind in kinds and not is_made:
                yield Flag(f"--{name} MATRIX", matrix.says, panel)
        for name, setting in SETTINGS.items():
            if setting.panel == panel and setting.kind in kinds:
                yield from _of_setting(name, setting)
        if panel == CONVENTIONS:
            yield Flag("--title TEXT", OTHERS["title"], panel)


def settings_of_new() -> Iterator[Flag]:
    """Yield the flags of the settings that a new problem can have."""
    for panel in ALL_PANELS:
        for name, setting in SETTINGS.items():
            if setting.panel == panel and name not in OF_THE_ANSWER:
                yield from _of_setting(name, setting)


def flag_of(setting: str) -> str:
    """Return the name of the flag of a setting.

    >>> flag_of("weights_layout")
    '--weights-layout'
    """
    own = SETTINGS[setting].flag if setting in SETTINGS else ""
    return own or f"--{setting.replace('_', '-')}"


def _of_setting(name: str, setting: Setting) -> Iterator[Flag]:
    flag, panel, default = flag_of(name), setting.panel, default_of(setting)
    if setting.is_switch:
        yield Flag(f"{flag}/{flag.replace('--', '--no-')}", setting.says, panel, bool)
    elif setting.flag:
        yield Flag(f"{flag} TEXT", setting.says, panel, list, name=name)
    else:
        typed = f"{flag} {setting.short} VALUE"
        values = _suggesting(name)
        yield Flag(typed, setting.says, panel, name=name, unsaid=default, complete=values)
    if setting.off:
        text = f"Same as {flag} {setting.off}."
        yield Flag(flag.replace("--", "--no-"), text, panel, bool, False)


def _suggesting(name: str) -> Callable[[], list[str]]:
    return lambda: values_of(name)  # Typer reads the signature


def default_of(setting: Setting) -> str:
    """Return the default of a setting as typed; "" without one."""
    if setting.default in (None, ()):
        return ""
    default = str(setting.default).lower()
    return "1e-5" if default == "1/100000" else default


def values_of(name: str) -> list[str]:
    """Return the values of a field that a shell can suggest.

    >>> values_of("combine"), values_of("causal"), values_of("window")
    (['concat', 'mean'], ['true', 'false'], [])
    """
    takes = SETTINGS[name].takes if name in SETTINGS else ""
    is_switch = takes.startswith("true or false")
    return ["true", "false"] if is_switch else re.findall(r'"([\w-]+)"', takes)


def completed(incomplete: str) -> list[str]:
    """Return completions after `--set`: fields, and for one field its values.

    >>> completed("comb"), completed("qk"), completed("softcap=")
    (['combine=concat', 'combine=mean'], ['qk_norm=', 'qk_eps='], [])
    """
    name, sign, _ = incomplete.partition("=")
    names = [each for each in ALL_FIELDS if (each == name if sign else each.startswith(name))]
    if len(names) != 1:
        return [f"{each}=" for each in names]
    found = [f"{names[0]}={value}" for value in values_of(names[0])]
    # after a single suggestion, a shell would append a blank
    return found or ([] if sign else [f"{names[0]}=", f"{names[0]}=null"])
