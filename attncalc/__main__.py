"""The door from the shell: `attncalc` and `python -m attncalc`."""

import sys


def main() -> None:
    """Run the command line and leave with its exit code: 0, 1, 2 or 130."""
    try:
        from attncalc.cli import run

        sys.exit(run())
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
