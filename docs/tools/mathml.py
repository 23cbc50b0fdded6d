"""Formulas as MathML, which browsers render without scripts or network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Register the renderer of formulas."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))


def inline(writer: object, node: nodes.math) -> None:
    """Write a formula within a line."""
    _write(writer, node, "inline")


def block(writer: object, node: nodes.math_block) -> None:
    """Write a displayed formula, in a box that scrolls if it is too wide."""
    writer.body.append('<div class="formula" tabindex="0">')  # type: ignore[attr-defined]
    _write(writer, node, "block", end="</div>")


def _write(writer: object, node: nodes.Element, display: str, end: str = "") -> None:
    latex = node.astext().replace("{aligned}", "{align*}")  # which the converter supports
    writer.body.append(convert(latex, display=display) + end)  # type: ignore[attr-defined]
    raise nodes.SkipNode
