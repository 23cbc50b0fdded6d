"""Token ids: typed, or made of a text by the tokenizer that lies in a model's folder."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attncalc.errors import InputError
from attncalc.numbers.typed import quoted
from attncalc.reading.files import decode, read_bytes
from attncalc.sources import remember

TOKENIZER = "tokenizer.json"
MASKS = ("[MASK]", "<mask>")
_WHOLE = re.compile(r"[0-9]{1,12}")
_PACKAGE = "pip install 'attncalc[models]' installs it"


def read_ids(text: str, flag: str = "--tokens") -> list[int]:
    """Return token ids that are typed, with commas or spaces between them.

    Raises
    ------
    InputError
        When something among them is no id, or there is none.

    Examples
    --------
    >>> read_ids("15496, 995"), read_ids("[1 2]")
    ([15496, 995], [1, 2])
    """
    cells = text.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    for cell in cells:
        if not _WHOLE.fullmatch(cell):
            raise InputError(f"{flag}: {quoted(cell)} is no token id: give whole numbers, as 3, 7")
    if not cells:
        raise InputError(f"{flag} names no token: give ids, as 3, 7")
    return [int(cell) for cell in cells]


def ids_of(folder: Path, text: str) -> list[int]:
    """Return the token ids of a text, by the folder's tokenizer.

    Raises
    ------
    InputError
        When there is none, or what reads it is not installed; the message says what mends it.
    """
    if not (folder / TOKENIZER).exists():
        raise InputError(f"{folder}: it holds no {TOKENIZER}, which --text needs: give --tokens")
    tokenizer = _tokenizer(folder)
    if tokenizer is None:
        raise InputError(f"--text needs the package tokenizers: {_PACKAGE} (or give --tokens)")
    found = [int(each) for each in tokenizer.encode(text).ids]
    if not found:
        raise InputError("--text holds no token: it is empty")
    return found


def words_of(folder: Path, ids: Sequence[int]) -> list[str]:
    """Return what tokens are called: their texts where a tokenizer tells them, else their ids."""
    tokenizer = _tokenizer(folder) if (folder / TOKENIZER).exists() else None
    if tokenizer is None:
        return [str(each) for each in ids]
    return [_word(tokenizer, each) for each in ids]


def masked_of(folder: Path) -> int | None:
    """Return the id of the token that stands for what is masked; None where no file says it."""
    path = folder / TOKENIZER
    if not path.exists():
        return None
    try:
        said = json.loads(decode(read_bytes(path), str(path)))
        added = [(each["content"], each["id"]) for each in said["added_tokens"]]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return next((found for name, found in added if name in MASKS and type(found) is int), None)


def _word(tokenizer: Any, token: int) -> str:
    """Return the text of a token, or its name where it has none alone: half a letter, a mark."""
    text: str = tokenizer.decode([token], skip_special_tokens=False)
    if not text.strip() or "\ufffd" in text:
        text = tokenizer.id_to_token(token) or str(token)
    return text


def _tokenizer(folder: Path) -> Any:
    """Return the folder's tokenizer; None where the package is not installed."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return None
    path = folder / TOKENIZER
    remember(path)
    try:
        return Tokenizer.from_file(str(path))
    except Exception as why:  # the package raises Exception itself, for whatever it is
        reason = str(why).partition("\n")[0]
        raise InputError(f"{path}: cannot be read as a tokenizer: {reason}") from None
