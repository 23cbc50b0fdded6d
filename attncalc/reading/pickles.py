"""Pickles, and PyTorch's files that hold one: never read, for reading one runs what it says."""

import io
import re
from pathlib import Path

from attncalc.errors import InputError

_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How PyTorch's files began before they were zips."""
_PROTOCOLS = tuple(bytes((0x80, version)) for version in range(2, 6))
"""How pickles begin; no text in UTF-8 does."""
_PLAIN_NAME = re.compile(r"[\w./-]+")


def refuse_pickles(data: bytes, place: str) -> None:
    """Refuse a pickle, and say how its arrays become a file that is read.

    Raises
    ------
    InputError
        When the bytes are one, or PyTorch's.
    """
    if data.startswith(_LEGACY) or _holds_pickle(data):
        given = place if _PLAIN_NAME.fullmatch(place) else "FILE.pt"
        made = Path(given).with_suffix(".npz")
        raise InputError(
            f"{place}: a file of PyTorch's, which is a pickle: it could run any program, and is "
            "not read. This makes of a state dict an .npz file, which is:\n"
            f"  python -c \"import numpy, torch; numpy.savez('{made}', "
            f"**torch.load('{given}', 'cpu', weights_only=True))\""
        )
    if data.startswith(_PROTOCOLS):
        raise InputError(
            f"{place}: a pickle: it could run any program, and is not read: save its arrays with "
            "numpy.savez('FILE.npz', X=…, W_Q=…)"
        )


def _holds_pickle(data: bytes) -> bool:
    """Say whether it is a zip that holds a pickle among its parts."""
    if not data.startswith(b"PK"):
        return False
    from zipfile import BadZipFile, ZipFile  # here, for most runs read no zip

    try:
        with ZipFile(io.BytesIO(data)) as file:
            return any(name.endswith("data.pkl") for name in file.namelist())
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return False  # what is wrong with it is said where its arrays are read
