"""Counting from Python: parameters, multiply-adds and bytes, without solving."""

from pathlib import Path
from typing import Any

from attncalc.problem.problem import Problem
from attncalc.studies.counting import Count, Load, count_problem


def count(
    source: Problem | str | Path,
    *,
    tokens: int | None = None,
    batch: int = 1,
    dtype: str = "fp32",
) -> dict[str, Any]:
    """Count parameters, multiply-adds and bytes, without solving anything.

    Parameters
    ----------
    source
        A problem, its file, a model's folder, or its config.json without weights.
    tokens
        Tokens of a sequence; by default those of the problem, or 1024 for a model of text.
    batch
        Sequences that are computed together.
    dtype
        The type of stored numbers: fp64, fp32, bf16, fp16 or int8.

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
    >>> found = count(Problem(X=[[1, 2], [3, 4], [5, 6]], W_Q=W, W_K=W, W_V=W))
    >>> found["parameters"]["formula"]
    '2 · 2 + 2 · 2 + 2 · 2 = 12'
    """
    return counted(source, Load(tokens, batch, dtype)).as_json()


def counted(source: Problem | str | Path, load: Load) -> Count:
    """Return the counts of a problem, a file, a model's folder or its config."""
    if isinstance(source, Problem):
        return count_problem(source, load)
    path = Path(source)
    if path.name == "config.json" or (path / "config.json").exists():
        from attncalc.reading.models.counting import count_config
        from attncalc.reading.models.folder import read_config

        return count_config(read_config(path.parent if path.is_file() else path), load)
    from attncalc.reading import read_problem

    return count_problem(read_problem(source), load)
