"""Pickles, and PyTorch's files that hold one: never read, for reading one runs what it says."""

import io
import shlex
from pathlib import Path

from attncalc.base.errors import InputError

_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How PyTorch's files began before they were zips."""
_PROTOCOLS = tuple(bytes((0x80, version)) for version in range(2, 6))
"""How pickles begin; no text in UTF-8 does."""


def refuse_pickles(data: bytes, place: str) -> None:
    """Refuse a pickle, and say how its arrays become a file that is read.

    Raises
    ------
    InputError
        When the bytes are one, or PyTorch's.
    """
    if data.startswith(_LEGACY) or _holds_pickle(data):
        named = place if Path(place).suffix else "FILE.pt"  # not so standard input
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


def conversion(code: str, given: str, made: str) -> str:
    r"""Return the command that converts a file, its names quoted for a shell.

    Parameters
    ----------
    code
        Python that takes both names from `sys.argv`; without double quotes, `$` and backticks.
    given, made
        The names.

    Examples
    --------
    >>> conversion("pass", "a b.pt", "a.npz")
    'python -c "pass" \'a b.pt\' a.npz'
    """
    return f'python -c "{code}" {shlex.join([given, made])}'


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
