"""From a path or a stream to text, with one message when that cannot be."""

import codecs
from pathlib import Path

from attncalc.errors import InputError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(path: Path) -> str:
    """Return the text of a file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, where a file is needed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None
    return decode(data, str(path))


def decode(data: bytes, place: str) -> str:
    """Return bytes as text: UTF-8, or UTF-16 as spreadsheets mark it."""
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{place}: not text in UTF-8 (line {line}): save it as UTF-8, JSON or CSV"
        ) from None
    if "\0" in text:
        raise InputError(f"{place}: not text but a binary file: give JSON or CSV")
    if not text.strip():
        raise InputError(f"{place}: empty")
    return text
