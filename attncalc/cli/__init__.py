"""The command line: Typer parses, the rooms work, and here errors become exit codes."""

import os
import sys


def run() -> int:
    """Run the command line and return its exit code: 0, 1, 2 or 130."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy then loads 60 ms sooner
    from attncalc.cli.app import app_for
    from attncalc.cli.streams import complain, leave_quietly, prepare
    from attncalc.errors import AttncalcError
    from attncalc.sources import remembering

    prepare()
    try:
        with remembering():
            app_for(sys.argv[1:])(prog_name="attncalc")
    except AttncalcError as error:
        complain(str(error))
        return 2
    except MemoryError:
        complain("this problem is too large for the memory of this machine")
        return 2
    except OSError as error:  # a full disk behind standard output, say
        complain(f"cannot write to standard output: {error.strerror}")
        leave_quietly(2)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # nobody reads on: `--help | head`
            leave_quietly(0)
        return end.code if isinstance(end.code, int) else 0
    return 0
