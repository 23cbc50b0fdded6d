"""Runs notebooks, and removes what changes from run to run."""

import base64
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tools.pictures import small

RICHEST = ("text/html", "image/svg+xml", "image/png", "text/plain")
SECONDS = 120


def executed(place: Path) -> str:
    """Return a notebook with the outputs of a new run in a separate folder.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        When a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(place, as_version=4)
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(
            notebook, timeout=SECONDS, iopub_timeout=SECONDS, resources=resources
        ).execute()
    return as_kept(json.loads(nbformat.writes(notebook)))


def as_kept(notebook: dict[str, Any]) -> str:
    """Return the text of a notebook without times, counters and machine names."""
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"cell-{number + 1}"
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
            cell["outputs"] = [_plain(output) for output in _joined(cell["outputs"])]
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return outputs with all printed text in one, however the kernel split it.

    Text on stderr is left out: libraries report details of the machine there, such as fonts.
    """
    found: list[dict[str, Any]] = []
    for output in outputs:
        last = found[-1] if found else {}
        if output.get("name") == "stderr":
            continue
        if output["output_type"] == "stream" and last.get("output_type") == "stream":
            printed = "".join([*last["text"], *output["text"]])
            last["text"] = printed.splitlines(keepends=True)
        else:
            found.append(output)
    return found


def _plain(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output without its number, in its richest form and as text."""
    kept = {name: each for name, each in output.items() if name not in ("execution_count",)}
    if "data" in kept:
        richest = next(kind for kind in RICHEST if kind in kept["data"])
        kinds = {richest, "text/plain"}
        kept["data"] = {kind: each for kind, each in kept["data"].items() if kind in kinds}
        kept["metadata"] = {}
        if picture := kept["data"].get("image/png"):
            kept["data"]["image/png"] = _smaller(picture)
    if output["output_type"] == "execute_result":
        kept["execution_count"] = None
    return kept


def _smaller(picture: str | list[str]) -> str:
    """Return a picture with few colors, as stored in a notebook."""
    given = base64.b64decode("".join(picture))
    return base64.b64encode(small(io.BytesIO(given))).decode()
