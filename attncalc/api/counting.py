"""Counting from Python: parameters, multiply-adds and bytes, without solving."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attncalc.api.generating import is_model
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.problem.problem import Problem
from attncalc.studies.counting import Count, Counted, Growth, Load, count_problem

Source = Any
"""A problem, a path, or a model or a config of `transformers`."""


def count(
    source: Source,
    *,
    tokens: int | None = None,
    batch: int = 1,
    dtype: str = "fp32",
    compare: Source | None = None,
    vary: Mapping[str, Sequence[int]] | None = None,
    family: Any = None,
) -> dict[str, Any]:
    """Count parameters, multiply-adds and bytes, without solving anything.

    Parameters
    ----------
    source
        A problem, its file, a model's folder, or its config.json without weights; or a model or a
        config of `transformers`.
    tokens
        Tokens of a sequence; by default those of the problem, or 1024 for a model of text. A
        problem with more of them repeats its own.
    batch
        Sequences that are computed together.
    dtype
        The type of stored numbers: fp64, fp32, bf16, fp16 or int8.
    compare
        Another source, which is counted in the same way and compared.
    vary
        One size and its values: "tokens", "batch", or a key of the model's config.
    family
        A JSON file that describes the family of the source, or its content; None for the
        family.json of its folder, or a known family. The shapes of its tensors are read.

    Returns
    -------
    dict
        Totals and formulas, as ``attncalc count --format json`` prints them.

    Raises
    ------
    InputError
        If the source or a setting is wrong.

    Examples
    --------
    >>> W = [[1, 0], [0, 1]]
    >>> problem = Problem(X=[[1, 2], [3, 4], [5, 6]], W_Q=W, W_K=W, W_V=W)
    >>> count(problem)["parameters"]["formula"]
    '2 · 2 + 2 · 2 + 2 · 2 = 12'
    >>> count(problem, tokens=6)["multiply_adds"]["by_step"]["S"]
    72
    """
    return counted(source, Load(tokens, batch, dtype), compare, vary, family).as_json()


def counted(
    source: Source,
    load: Load,
    compare: Source | None,
    vary: Mapping[str, Sequence[int]] | None,
    family: Any = None,
) -> Counted:
    """Return the counts of a source, of one to compare with, and for each value of a size."""
    return Counted(
        count_of(source, load, family=family),
        None if compare is None else count_of(compare, load),
        None if vary is None else _growth(source, load, vary, family),
    )


def _growth(source: Source, load: Load, sizes: Mapping[str, Sequence[int]], family: Any) -> Growth:
    if len(sizes) != 1:
        raise InputError(f"{len(sizes)} sizes vary: give one, as tokens=8:1024:log")
    ((size, given),) = sizes.items()
    values = tuple(given)
    if len(values) < 2 or list(values) != sorted({*values}) or values[0] < 1:
        raise InputError(f"{quoted(size)} takes at least two increasing whole numbers from 1")
    if size in ("tokens", "batch"):
        loads = (Load(**{**load._asdict(), size: value}) for value in values)
        counts = [count_of(source, each, family=family) for each in loads]
    else:
        counts = [count_of(source, load, {size: value}, family) for value in values]
    return Growth(size, values, tuple(counts))


def _of_model(path: Path, family: Any, load: Load, sizes: Mapping[str, int]) -> Count:
    """Return the counts of a model: of its config, or of a file that describes its family."""
    from attncalc.reading.models.described import FILE as DESCRIBED
    from attncalc.reading.models.folder import read_config
    from attncalc.reading.models.gguf import ENDING as GGUF
    from attncalc.reading.models.gguf import open_gguf

    folder = path.parent if path.name == "config.json" else path
    if family is not None or (folder / DESCRIBED).is_file():
        return _of_a_file(folder, family, load, sizes)
    config = open_gguf(path)[0] if path.suffix.lower() == GGUF else read_config(folder)
    return _of_config(config.place, config.values, load, sizes)


def count_of(
    source: Source, load: Load, sizes: Mapping[str, int] = MappingProxyType({}), family: Any = None
) -> Count:
    """Return the counts of a problem, a file or a model; with other values of its config's keys."""
    said: Any = getattr(source, "config", source)
    if hasattr(said, "to_dict"):
        named = {} if said is source else {"architectures": [type(source).__name__]}
        return _of_config("config", {**said.to_dict(), **named}, load, sizes)
    if not isinstance(source, Problem | str | Path):
        what = "pass a problem, a path, or a model or a config of transformers"
        raise InputError(f"{type(source).__name__} cannot be counted: {what}")
    if not isinstance(source, Problem):
        path = Path(source)
        if path.name == "config.json" or is_model(path):
            return _of_model(path, family, load, sizes)
        from attncalc.reading import read_problem

        if family is not None:
            raise InputError(f"{source}: a family is for the folder of a model")
        source = read_problem(source)
    if sizes:
        raise InputError(f"{quoted(next(iter(sizes)))}: of a problem, tokens or batch can vary")
    return count_problem(source, load)


def _of_config(
    place: str, values: Mapping[str, Any], load: Load, sizes: Mapping[str, int]
) -> Count:
    """Return the counts of a config, with other values of some keys."""
    from attncalc.reading.models.counting import count_config
    from attncalc.reading.models.folder import Config

    config = Config(place, values)
    for key in sizes:
        if key not in values:
            raise InputError(f"{place}: it has no {quoted(key)}")
        config.number(key)
    return count_config(Config(place, {**values, **sizes}), load)


def _of_a_file(folder: Path, family: Any, load: Load, sizes: Mapping[str, int]) -> Count:
    from attncalc.reading.models.counting_described import count_described

    if sizes:
        name = quoted(next(iter(sizes)))
        raise InputError(f"{name}: of a family in a file, tokens or batch can vary")
    return count_described(folder, family, load)
