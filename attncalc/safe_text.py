"""Text from a file is data: what could steer a terminal or a page is taken out or spelled out."""

import unicodedata

_LEFT_TO_RIGHT_MARK = "\u200e"
_RIGHT_TO_LEFT = ("R", "AL")
_SPELLED_OUT = {"\n": "⏎", "\r": "⏎", "\t": " "}


def harmless(text: str) -> str:
    r"""Return `text` without control characters and direction overrides.

    Examples
    --------
    >>> harmless("a\x1b[31mb")
    'a[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_SPELLED_OUT.get(c, c) for c in text if c in _SPELLED_OUT or _is_visible(c))


def on_a_line(text: str) -> str:
    """Return harmless text for a line of a terminal.

    Right-to-left words are fenced with marks, so that the numbers beside them keep their order.
    """
    kept = harmless(text)
    if any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in kept):
        return f"{_LEFT_TO_RIGHT_MARK}{kept}{_LEFT_TO_RIGHT_MARK}"
    return kept


def _is_visible(character: str) -> bool:
    """Say whether a character shows, or joins those that do (emoji are joined by U+200D)."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or (
        character == "\u200d"
    )


_ASCII = str.maketrans(
    {
        _LEFT_TO_RIGHT_MARK: None,
        "√": "sqrt ",
        "ᵀ": "^T",
        "×": "x",
        "·": "*",
        "≈": "~",
        "†": "'",
        "∞": "inf",
        "…": "...",
        "−": "-",
        "–": "-",
        "⏎": " ",
        "●": "*",
        "✗": "x",
        "→": ">",
        "○": "+",
    }
)


def within(encoding: str, text: str) -> str:
    """Return `text` in what an encoding can hold: our own signs in ASCII, the rest as escapes."""
    if encoding.lower().startswith("utf"):
        return text
    return (
        text.replace(" · ", " | ")
        .translate(_ASCII)
        .encode(encoding, "backslashreplace")
        .decode(encoding)
    )
