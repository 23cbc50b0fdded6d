"""The peer: what a person would write for the first sample alone, with typer, rich and numpy."""

import json
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table


def main(file: Annotated[str, typer.Argument()]) -> None:
    """Print the same tables as `attncalc self`, with numpy's own rounding."""
    with open(file, encoding="utf-8") as opened:  # noqa: PTH123 - as such a script is written
        problem = json.load(opened)
    X, W_Q, W_K, W_V = (np.array(problem[name], dtype=float) for name in ("X", "W_Q", "W_K", "W_V"))
    Q, K, V = (np.round(X @ W, 2) for W in (W_Q, W_K, W_V))
    S = np.round(Q @ K.T, 2)
    E = np.exp(S - S.max(axis=1, keepdims=True))
    A = np.round(E / E.sum(axis=1, keepdims=True), 2)
    steps = {"Q = X W_Q": Q, "K = X W_K": K, "V = X W_V": V, "S = Q Kᵀ": S}
    steps |= {"A = softmax(S)": A, "O = A V": np.round(A @ V, 2)}
    console = Console()
    for title, matrix in steps.items():
        table = Table(title=title)
        table.add_column("")
        for column in range(matrix.shape[1]):
            table.add_column(str(column + 1), justify="right")
        for number, row in enumerate(matrix, start=1):
            table.add_row(str(number), *(f"{value:.2f}" for value in row))
        console.print(table)
    for number, row in enumerate(A, start=1):
        console.print(f"Output {number}: most input {row.argmax() + 1}")


if __name__ == "__main__":
    typer.run(main)
