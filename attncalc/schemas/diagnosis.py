"""The output of `attncalc doctor --format json`."""

from attncalc.schemas.pieces import (
    COUNT,
    LIST_OF_TEXTS,
    PLACE,
    TEXT,
    YES_NO,
    Schema,
    either,
    listed,
    named,
    or_none,
    thing,
)


def doctor() -> Schema:
    """Return the schema of the data for a bug report."""
    versions = named(or_none(TEXT))
    stream = thing("A standard stream.", {"terminal": YES_NO, "encoding": TEXT})
    blas = thing(
        "The library for matrix products.",
        {"library": or_none(TEXT), "version": or_none(TEXT), "threads": or_none(COUNT)},
    )
    return thing(
        "The environment: versions, platform and encodings.",
        {
            "attncalc": TEXT,
            "installed": TEXT,
            "python": thing(
                "The interpreter.",
                {"version": TEXT, "implementation": TEXT, "bits": PLACE, "virtual": YES_NO},
            ),
            "system": thing(
                "The machine.",
                {"name": TEXT, "release": TEXT, "machine": TEXT, "cores": PLACE},
            ),
            "libraries": versions,
            "extras": named(versions),
            "threads": either(listed(blas), TEXT),
            "terminal": thing(
                "The terminal.",
                {"width": COUNT, "output": stream, "errors": stream, "files": TEXT, "colour": TEXT},
            ),
            "environment": named(TEXT),
            "latex": LIST_OF_TEXTS,
        },
        {
            "labels": thing(
                "Letters of a problem's labels that cannot be shown.",
                {"count": COUNT, "no_font": LIST_OF_TEXTS, "no_encoding": LIST_OF_TEXTS},
            )
        },
    )
