"""Pickles, and PyTorch files with one: never read, since reading one runs its code."""

import io
import shlex
from pathlib import Path

from attncalc.base.errors import InputError

_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The first bytes of PyTorch's files before they were zips."""
_PROTOCOLS = tuple(bytes((0x80, version)) for version in range(2, 6))
"""The first bytes of pickles; no text in UTF-8 begins with them."""


def refuse_pickles(data: bytes, place: str) -> None:
    """Refuse a pickle; the message says how to convert its arrays."""
    if data.startswith(_LEGACY) or _holds_pickle(data):
        named = place if Path(place).suffix else "FILE.pt"  # not so for standard input
        code = (
            "import sys, numpy, torch; _, given, made = sys.argv; "
            "numpy.savez(made, **torch.load(given, 'cpu', weights_only=True))"
        )
        raise InputError(
            f"{place}: a file of PyTorch's, which is a pickle: it could run any program, and is "
            "not read. This converts a state dict to an .npz file, which is read:\n"
            f"  {conversion(code, named, str(Path(named).with_suffix('.npz')))}"
        )
    if data.startswith(_PROTOCOLS):
        raise InputError(
            f"{place}: a pickle: it could run any program, and is not read: save its arrays with "
            "numpy.savez('FILE.npz', X=…, W_Q=…)"
        )


def conversion(code: str, *names: str) -> str:
    r"""Return the command that converts a file, its names quoted for a shell.

    code: Python that reads the names from `sys.argv`; without double quotes, `$` and backticks.

    >>> conversion("pass", "a b.pt", "a.npz")
    'python -c "pass" \'a b.pt\' a.npz'
    """
    return f'python -c "{code}" {shlex.join(names)}'


def _holds_pickle(data: bytes) -> bool:
    if not data.startswith(b"PK"):
        return False
    from zipfile import BadZipFile, ZipFile  # here, since most runs read no zip

    try:
        with ZipFile(io.BytesIO(data)) as file:
            return any(name.endswith("data.pkl") for name in file.namelist())
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return False  # the reader of its arrays reports the error
