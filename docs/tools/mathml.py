"""Formulas as MathML, which browsers draw themselves: no script, and no network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Make this how Sphinx writes formulas."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))


def inline(writer: object, node: nodes.math) -> None:
    """Write a formula within a line."""
    _write(writer, node, "inline")


def block(writer: object, node: nodes.math_block) -> None:
    """Write a formula that stands alone, in a box that scrolls where it is too wide."""
    writer.body.append('<div class="formula" tabindex="0">')  # type: ignore[attr-defined]
    _write(writer, node, "block", end="</div>")


def _write(writer: object, node: nodes.Element, display: str, end: str = "") -> None:
    latex = node.astext().replace("{aligned}", "{align*}")  # which the converter knows
    writer.body.append(convert(latex, display=display) + end)  # type: ignore[attr-defined]
    raise nodes.SkipNode
