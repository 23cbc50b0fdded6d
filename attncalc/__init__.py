"""attncalc, the attention calculator: every step between Q, K, V and the output.

The public names are loaded on first use, so that ``import attncalc`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from attncalc.base import __version__

if TYPE_CHECKING:
    from attncalc.api import Solution, check, cross_attention, self_attention, solve
    from attncalc.api.conforming import conform
    from attncalc.api.counting import count
    from attncalc.api.generating import generate
    from attncalc.api.layers import Layers, layers
    from attncalc.api.making import new
    from attncalc.api.models import open_model
    from attncalc.api.objects import from_module
    from attncalc.api.studies import Study, aim, simulate, train, vary
    from attncalc.api.tracing import Trace, trace
    from attncalc.base.errors import AttncalcError, InputError, OutputError, ShapeError
    from attncalc.problem.problem import Problem
    from attncalc.reading import read_problem
    from attncalc.solving.connections import Connection


__all__ = [
    "AttncalcError",
    "Connection",
    "InputError",
    "Layers",
    "OutputError",
    "Problem",
    "ShapeError",
    "Solution",
    "Study",
    "Trace",
    "__version__",
    "aim",
    "check",
    "conform",
    "count",
    "cross_attention",
    "from_module",
    "generate",
    "layers",
    "new",
    "open_model",
    "read_problem",
    "self_attention",
    "simulate",
    "solve",
    "trace",
    "train",
    "vary",
]

_HOMES = {
    name: home
    for home, names in {
        "api": "Solution check cross_attention self_attention solve",
        "api.conforming": "conform",
        "api.counting": "count",
        "api.generating": "generate",
        "api.layers": "Layers layers",
        "api.making": "new",
        "api.models": "open_model",
        "api.objects": "from_module",
        "api.studies": "Study aim simulate train vary",
        "api.tracing": "Trace trace",
        "base.errors": "AttncalcError InputError OutputError ShapeError",
        "problem.problem": "Problem",
        "reading": "read_problem",
        "solving.connections": "Connection",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'attncalc' has no attribute {name!r}")
    return getattr(import_module(f"attncalc.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
