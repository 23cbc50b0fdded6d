"""A flag for each field of a problem, as `attncalc.problem.fields` declares them."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Annotated, Any

import typer

from attncalc.problem.field import (
    CONVENTIONS,
    IMAGE,
    LAYER_PANELS,
    LAYERS,
    OF_BLOCK,
    PANELS,
    Setting,
)
from attncalc.problem.fields import GIVEN, SETTINGS

Command = Callable[..., None]
Decorator = Callable[[Command], Command]

OF_THE_ANSWER = ("asked", "equations")
"""Settings of one problem alone, and none of new ones."""


def for_problems(kind: str | None) -> Decorator:
    """Give a command a flag for each matrix and each convention, before its own options.

    Parameters
    ----------
    kind
        "self", "cross", "encoder", "decoder" or "vit" for a command that takes problems of one
        kind, "attention" for one that takes no layers; None for one that takes all there are.
    """

    def decorate(command: Command) -> Command:
        own = [
            parameter
            for parameter in inspect.signature(command).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        needed = sum(parameter.default is parameter.empty for parameter in own)
        first = max(2, needed)  # the context and the file, and what must be given
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # Typer reads it
            [*own[:first], *_flags(kind), *own[first:]]
        )
        return command

    return decorate


def with_parameters(*further: Callable[[], Iterable[inspect.Parameter]]) -> Decorator:
    """Give a command further parameters, behind its own."""

    def decorate(command: Command) -> Command:
        own = [
            each
            for each in inspect.signature(command).parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        more = [each for make in further for each in make()]
        command.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        return command

    return decorate


def settings_of_problems() -> Iterator[inspect.Parameter]:
    """Yield the parameters of all conventions, those of layers too."""
    for panel in (*PANELS, *LAYER_PANELS):
        for name, setting in SETTINGS.items():
            if setting.panel == panel and name not in OF_THE_ANSWER:
                yield from _of_setting(name, setting)


def flag_of(setting: str) -> str:
    """Return what the flag of a setting is called.

    Examples
    --------
    >>> flag_of("weights_layout")
    '--weights-layout'
    """
    own = SETTINGS[setting].flag if setting in SETTINGS else ""
    return own or f"--{setting.replace('_', '-')}"


def _flags(kind: str | None) -> Iterator[inspect.Parameter]:
    """Yield the parameters for problems of a kind, or of any, panel by panel."""
    kinds = OF_BLOCK.get(kind or "", ("", kind) if kind else ("", "self", "cross", LAYERS, IMAGE))
    for panel in (*PANELS, *LAYER_PANELS) if LAYERS in kinds else PANELS:
        for name, matrix in GIVEN.items():
            # where an image is cut, its patches are the tokens
            is_made = kind == "vit" and matrix.role in ("tokens", "ids", "table")
            if matrix.panel == panel and matrix.kind in kinds and not is_made:
                yield _value(name, f"--{name}", "MATRIX", matrix.says, panel)
        for name, setting in SETTINGS.items():
            if setting.panel == panel and setting.kind in kinds:
                yield from _of_setting(name, setting)
        if panel == CONVENTIONS:
            yield _value("title", "--title", "TEXT", "The heading.", panel)


def _given(values: list[str] | None) -> list[str] | None:
    """Return the values of a flag that may be repeated; None where it is not given."""
    return values or None


def _of_setting(name: str, setting: Setting) -> Iterator[inspect.Parameter]:
    flag = flag_of(name)
    if setting.is_switch:
        either = f"{flag}/{flag.replace('--', '--no-')}"
        yield _switch(name, either, setting.says, setting.panel, None)
    else:
        short = [setting.short] if setting.short else []
        if setting.flag:
            option = typer.Option(
                setting.flag,
                metavar="TEXT",
                help=setting.says,
                rich_help_panel=setting.panel,
                callback=_given,
            )
            yield parameter(name, list[str] | None, option)
            return
        yield _value(name, flag, "VALUE", setting.says, setting.panel, *short)
    if setting.off:
        same = f"The same as {flag} {setting.off}."
        yield _switch(f"no_{name}", flag.replace("--", "--no-"), same, setting.panel, False)


@cache
def _value(
    name: str, flag: str, metavar: str, says: str, panel: str, *short: str
) -> inspect.Parameter:
    option = typer.Option(flag, *short, metavar=metavar, help=says, rich_help_panel=panel)
    return parameter(name, str | None, option, None)


@cache
def _switch(name: str, flag: str, says: str, panel: str, default: bool | None) -> inspect.Parameter:
    option = typer.Option(flag, help=says, rich_help_panel=panel)
    return parameter(name, bool if default is False else bool | None, option, default)


def parameter(name: str, kind: Any, option: Any, default: Any = None) -> inspect.Parameter:
    """Return the parameter of an option, as Typer reads it."""
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=default,
        annotation=Annotated[kind, option],
    )
