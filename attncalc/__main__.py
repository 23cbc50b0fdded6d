"""The door from the shell: `attncalc` and `python -m attncalc`."""

import gc
import sys
import warnings

OBJECTS = 100_000
"""How many are made before unused ones are looked for: a start makes half as many, to keep."""


def main() -> None:
    """Run the command line and exit with its code; 130 and 143 when a signal ends it."""
    gc.set_threshold(OBJECTS)
    if not sys.warnoptions:  # warnings of libraries are for programmers: python -W shows them
        warnings.simplefilter("ignore")
    try:
        from attncalc.base.signals import end_with_a_line

        end_with_a_line()
        from attncalc.cli import run

        sys.exit(run())
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gc.freeze()  # on the way out, all goes anyway


if __name__ == "__main__":
    main()
