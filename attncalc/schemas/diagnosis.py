"""The output of `attncalc doctor --format json`."""

from attncalc.schemas.pieces import TEXT, Schema, either, listed, named, or_none, thing


def doctor() -> Schema:
    """Return the schema of the data for a bug report."""
    versions = named(or_none(TEXT))
    stream = thing("A standard stream.", "terminal:yes encoding:text")
    words = "library:text? version:text? threads:count?"
    blas = thing("The library for matrix products.", words)
    interpreter = "version:text implementation:text bits:place virtual:yes"
    machine = "name:text release:text machine:text cores:place"
    terminal = "width:count output errors files:text color:text"
    labels = "count:count no_font:text* no_encoding:text*"
    return thing(
        "The environment: versions, platform and encodings.",
        "attncalc:text installed:text python system libraries extras threads terminal environment "
        "latex:text*",
        "labels",
        python=thing("The interpreter.", interpreter),
        system=thing("The machine.", machine),
        libraries=versions,
        extras=named(versions),
        threads=either(listed(blas), TEXT),
        terminal=thing("The terminal.", terminal, output=stream, errors=stream),
        environment=named(TEXT),
        labels=thing("Letters of a problem's labels that cannot be shown.", labels),
    )
