"""Make the README's pictures from the real commands: `python docs/make_pictures.py`."""

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).parent / "attncalc"
COLUMNS = 84


def main() -> None:
    """Write the picture of the tables and the picture of the map."""
    draw_terminal(["cross", "--only", "S,A,O"], HERE / "cross.svg")
    subprocess.run([COMMAND, "plot", "--out", HERE / "self-map.png"], check=True)


def draw_terminal(arguments: list[str], place: Path) -> None:
    """Run the command in a terminal's colours and draw what it prints."""
    shown = subprocess.run(
        [COMMAND, *arguments],
        env=os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    console.print(Text.from_ansi(shown))
    svg = console.export_svg(title=" ".join(["attncalc", *arguments]), unique_id="attncalc")
    # without the fonts that it would load from elsewhere, the picture needs no network
    own_fonts = re.sub(r"@font-face \{.*?\}\n?", "", svg, flags=re.DOTALL)
    place.write_text(own_fonts, encoding="utf-8")


if __name__ == "__main__":
    main()
