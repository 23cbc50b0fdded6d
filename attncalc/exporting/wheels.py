"""Wheels of the installed packages, so that an exported problem needs no network."""

import base64
import hashlib
import io
import platform
import sys
import zipfile
from collections.abc import Iterator, Mapping
from email import message_from_string
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from attncalc import base
from attncalc.problem.samples import SAMPLES

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of everything in an archive: the same files give the same bytes."""
EXECUTABLE, PLAIN = 0o755, 0o644
LEVEL = 3
"""The compression level of numpy: a higher one takes twice the time for a tenth of the size."""
_OF_THE_INSTALLER = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
_OURS = """Wheel-Version: 1.0
Generator: attncalc {version}
Root-Is-Purelib: true
Tag: py3-none-any
"""


class Wheel(NamedTuple):
    """A wheel, its name, and its Python, such as cp312; py3 for any."""

    name: str
    python: str
    content: bytes


def packed(files: Mapping[str, bytes], level: int | None = None) -> bytes:
    """Return files as a zip archive; what starts with `#!` can be run."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = 3  # Unix, whose permissions are kept
            entry.external_attr = (EXECUTABLE if content[:2] == b"#!" else PLAIN) << 16
            is_packed = name.endswith(".whl")
            entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=level)  # an entry has its own level
    return buffer.getvalue()


def wheel_of_attncalc() -> Wheel:
    """Return the wheel of this package, from its files."""
    version = base.__version__
    folder = f"attncalc-{version}.dist-info"
    files = dict(_files_of_attncalc())
    files[f"{folder}/METADATA"] = _metadata(version).encode()
    files[f"{folder}/WHEEL"] = _OURS.format(version=version).encode()
    return _wheel(f"attncalc-{version}-py3-none-any.whl", "py3", files, folder)


def wheel_of_numpy() -> Wheel | None:
    """Return the wheel of the installed numpy, or None if it is for other machines.

    Course systems run Linux on x86-64. None also for a numpy that was not installed from a wheel.
    """
    try:
        numpy = metadata.distribution("numpy")
    except metadata.PackageNotFoundError:
        return None
    known = message_from_string(numpy.read_text("WHEEL") or "").get_all("Tag", [])
    tags = [tag for tag in known if tag.count("-") == 2 and "linux" in tag and "x86_64" in tag]
    if not tags or sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    folder = f"numpy-{numpy.version}.dist-info"
    files = {
        file.as_posix(): file.read_binary()
        for file in numpy.files or ()  # without those created at installation
        if not ({"..", "__pycache__"} & {*file.parts} or file.name in _OF_THE_INSTALLER)
    }
    python, abi, _ = tags[0].split("-")
    systems = ".".join(tag.split("-")[2] for tag in tags)
    return _wheel(f"numpy-{numpy.version}-{python}-{abi}-{systems}.whl", python, files, folder)


def _files_of_attncalc() -> Iterator[tuple[str, bytes]]:
    package = Path(base.__file__).parents[1]
    samples = next(each.path for each in SAMPLES if each.path.is_file()).parent
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        if path.is_file() and not {"__pycache__", "samples"} & set(inside.parts):
            yield f"attncalc/{inside.as_posix()}", path.read_bytes()
    for path in sorted(samples.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"attncalc/samples/{path.relative_to(samples).as_posix()}", path.read_bytes()


def _metadata(version: str) -> str:
    """Return the metadata of the package; if it is only run from its folder, its name."""
    try:
        said = metadata.distribution("attncalc").read_text("METADATA")
    except metadata.PackageNotFoundError:
        said = None
    return said or f"Metadata-Version: 2.1\nName: attncalc\nVersion: {version}\n"


def _wheel(name: str, python: str, files: dict[str, bytes], folder: str) -> Wheel:
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{folder}/RECORD"] = f"{record}{folder}/RECORD,,\n".encode()
    return Wheel(name, python, packed(files, LEVEL))
