"""Notebooks as pages of the site: text, code and outputs."""

import json
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser


class NotebookParser(MystParser):
    """Parses a notebook as a page: text, code and outputs."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Turn a notebook into a document."""
        super().parse("\n\n".join(_page(json.loads(inputstring))), document)


def _page(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield text
        elif cell["cell_type"] == "code":
            yield f"```python\n{text}\n```"
            yield from map(_shown, cell["outputs"])


def _shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output["data"]
    if "text/html" in data:
        return _raw(re.sub(r"\n\s*\n", "\n", "".join(data["text/html"])))
    if "image/png" in data:
        encoded = "".join(data["image/png"]).replace("\n", "")
        return _raw(f'<img alt="What this program draws" src="data:image/png;base64,{encoded}">')
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def _raw(html: str) -> str:
    return f'```{{raw}} html\n<div class="output">{html}</div>\n```'
