"""Pictures for pages: smaller, with few colors, and with the name of their library."""

import io
from pathlib import Path

from PIL import Image, ImageChops, PngImagePlugin

WIDEST = 1000
COLOURS = 64


def small(place: Path | io.BytesIO) -> bytes:
    """Return a small version of a picture, as PNG."""
    with Image.open(place) as picture:
        drawn_by = picture.info.get("Software", "")
        plain = picture.convert("RGB")
    if plain.width > WIDEST:
        height = round(plain.height * WIDEST / plain.width)
        plain = plain.resize((WIDEST, height), Image.Resampling.LANCZOS)
    few = plain.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    note = PngImagePlugin.PngInfo()
    note.add_text("Software", drawn_by)
    out = io.BytesIO()
    few.save(out, "PNG", optimize=True, pnginfo=note)
    return out.getvalue()


def drawn_by(picture: bytes | Path) -> str:
    """Return the library that drew a picture, with its version."""
    with Image.open(io.BytesIO(picture) if isinstance(picture, bytes) else picture) as opened:
        return str(opened.info.get("Software", ""))


def same(one: bytes | Path, other: bytes | Path, most: int = 24) -> bool:
    """Return whether two pictures are equivalent: almost all pixels are nearly equal."""
    first, second = (_points(each) for each in (one, other))
    if first.size != second.size:
        return False
    difference = ImageChops.difference(first, second).convert("L")
    beyond = sum(difference.histogram()[most:])
    return beyond <= first.width * first.height / 1000


def _points(picture: bytes | Path) -> Image.Image:
    given = io.BytesIO(picture) if isinstance(picture, bytes) else picture
    with Image.open(given) as opened:
        return opened.convert("RGB")
