"""Counting from Python: parameters, multiply-adds and bytes, without solving."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.problem.problem import Problem
from attncalc.studies.counting import Count, Counted, Growth, Load, count_problem

Source = Problem | str | Path


def count(
    source: Source,
    *,
    tokens: int | None = None,
    batch: int = 1,
    dtype: str = "fp32",
    compare: Source | None = None,
    vary: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """Count parameters, multiply-adds and bytes, without solving anything.

    Parameters
    ----------
    source
        A problem, its file, a model's folder, or its config.json without weights.
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
    return counted(source, Load(tokens, batch, dtype), compare, vary).as_json()


def counted(
    source: Source, load: Load, compare: Source | None, vary: Mapping[str, Sequence[int]] | None
) -> Counted:
    """Return the counts of a source, of one to compare with, and for each value of a size."""
    return Counted(
        count_of(source, load),
        None if compare is None else count_of(compare, load),
        None if vary is None else _growth(source, load, vary),
    )


def _growth(source: Source, load: Load, sizes: Mapping[str, Sequence[int]]) -> Growth:
    if len(sizes) != 1:
        raise InputError(f"{len(sizes)} sizes vary: give one, as tokens=8:1024:log")
    ((size, given),) = sizes.items()
    values = tuple(given)
    if len(values) < 2 or list(values) != sorted({*values}) or values[0] < 1:
        raise InputError(f"{quoted(size)} takes at least two increasing whole numbers from 1")
    if size in ("tokens", "batch"):
        counts = [count_of(source, Load(**{**load._asdict(), size: value})) for value in values]
    else:
        counts = [count_of(source, load, {size: value}) for value in values]
    return Growth(size, values, tuple(counts))


def count_of(source: Source, load: Load, sizes: Mapping[str, int] = MappingProxyType({})) -> Count:
    """Return the counts of a problem, a file or a model; with other values of its config's keys."""
    if not isinstance(source, Problem):
        path = Path(source)
        if path.name == "config.json" or (path / "config.json").exists():
            from attncalc.reading.models.counting import count_config
            from attncalc.reading.models.folder import Config, read_config

            config = read_config(path.parent if path.is_file() else path)
            for key in sizes:
                if key not in config.values:
                    raise InputError(f"{config.place}: it has no {quoted(key)}")
                config.number(key)
            return count_config(Config(config.place, {**config.values, **sizes}), load)
        from attncalc.reading import read_problem

        source = read_problem(source)
    if sizes:
        raise InputError(f"{quoted(next(iter(sizes)))}: of a problem, tokens or batch can vary")
    return count_problem(source, load)
