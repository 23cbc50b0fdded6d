"""The command line: Typer parses, other packages work, and errors become exit codes here."""

import gc
import os
import sys

OWN_MISTAKE = 3
"""The exit code of an error in attncalc itself."""


def run() -> int:
    """Run the command line and return its exit code: 0, 1, 2, or 3 for an internal error."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy then loads 60 ms sooner
    os.environ["MPLBACKEND"] = "agg"  # a notebook's own may not be there, and stops matplotlib
    from attncalc.base.errors import AttncalcError
    from attncalc.base.sources import remembering
    from attncalc.cli.streams import complain, give_up_on, leave_quietly, nobody_reads, prepare

    prepare()
    gc.set_threshold(50_000)  # steps and entries are many objects, and hardly any are cyclic
    try:
        from attncalc.cli.app import app_for  # inside `try`: a dependency may be missing

        with remembering():
            app_for(sys.argv[1:])(prog_name="attncalc")
    except AttncalcError as error:
        complain(str(error))
        return 2
    except MemoryError:
        complain("this problem is too large for the memory of this machine")
        return 2
    except OSError as error:  # for example, help that cannot be printed
        give_up_on(error)
    except SystemExit as end:
        if nobody_reads(end.__context__):  # the reader of a pipe has ended: `--help | head`
            leave_quietly(0)
        return end.code if isinstance(end.code, int) else 0
    except Exception as error:  # unexpected; 1 would mean "has mistakes" in `check`
        if os.environ.get("ATTNCALC_TRACEBACK"):
            raise
        complain(_own_mistake(error))
        return OWN_MISTAKE
    return 0


def _own_mistake(error: Exception) -> str:
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    asked = " ".join(sys.argv[1:])
    return (
        f"internal error: {what}\n"
        f"  please report it with the command (attncalc {asked}), the files it names and what "
        "attncalc doctor prints; ATTNCALC_TRACEBACK=1 shows where it happened"
    )
