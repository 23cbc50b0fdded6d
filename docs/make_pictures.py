"""Make the README's pictures from the real commands: `python docs/make_pictures.py`.

The pages need `pdflatex` (Debian's texlive-latex-base) and `pdftoppm` (poppler-utils); the
animation of the interactive page, `chromium`.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).parent / "attncalc"
COLUMNS = 84
SCREEN = 960, 780
SCENES = (
    ("", ""),
    ("", "#A-3-1"),
    ("", "#O-3-1"),
    ("#X[5]=1/2", ""),
    ("#X[5]=1/2", "#A-3-1"),
    ("#X[5]=1/2", "#O-3-1"),
)
"""Addresses of the interactive page, with edits, and the entries to click on."""
TARGET, DRAW = "1/2 v_a + 1/2 v_b", "K[a] ~ N(mu, 0.01 I + 1/2 mu muT)"


def main() -> None:
    """Write the pictures of the tables, of the map and of the pages, and the page in markdown."""
    draw_terminal(["cross", "--only", "S,A,O"], HERE / "cross.svg")
    subprocess.run([COMMAND, "plot", "--out", HERE / "self-map.png"], check=True)
    subprocess.run([COMMAND, "self", "--work", "-o", HERE / "key.md"], check=True)
    draw_live()
    draw_patches()
    draw_studies()
    for name, flag in (("key", "--work"), ("worksheet", "--blank")):
        draw_page(["self", flag, "--standalone"], name)


def draw_live() -> None:
    """Write the interactive page, and animate it: click on entries, edit a number, click again."""
    subprocess.run([COMMAND, "self", "-o", HERE / "self.html"], check=True)
    subprocess.run([COMMAND, "playground", "-o", HERE / "playground.html"], check=True)
    sys.path.append(str(HERE.parent / "tests"))
    from browser import Browser

    browser, frames = Browser(), []
    with tempfile.TemporaryDirectory() as folder:
        try:
            browser.screen(*SCREEN)
            for address, pointed in SCENES:
                browser.open(HERE / "self.html", address)
                if pointed:
                    browser.click(pointed)
                browser.run("document.querySelector('#step-S').scrollIntoView()")
                browser.look(Path(folder) / "live.png", SCREEN[0], height=SCREEN[1])
                with Image.open(Path(folder) / "live.png") as frame:
                    small = frame.convert("RGB").resize((720, 585), Image.Resampling.LANCZOS)
                    frames.append(small.quantize(64))
        finally:
            browser.close()
    first, *others = frames
    first.save(HERE / "live.gif", save_all=True, append_images=others, duration=2000, loop=0)


def draw_patches() -> None:
    """Draw what the class token of the sample attends to, on its image."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([COMMAND, "samples", "vit", "-o", "vit.json"], check=True, cwd=folder)
        drawn = [COMMAND, "plot", "vit.json", "-o", HERE / "vit.png"]
        subprocess.run(drawn, check=True, cwd=folder)


def draw_studies() -> None:
    """Draw the studies of a longer key and of one and two queries."""
    with tempfile.TemporaryDirectory() as folder:
        aim = ["aim", "average.json", TARGET, "--title"]
        noise = ["simulate", "one.json", "two.json", DRAW, "--seed", "1", "-o"]
        for command in (
            ["samples", "average", "-o", "average.json"],
            ["vary", "average.json", "K[a] *= 0:3", "-o", HERE / "long-key.png"],
            [*aim, "One query", "--save", "one.json"],
            [*aim, "Two queries", "--heads", "2", "--save", "two.json"],
            [*noise, HERE / "two-queries.png"],
        ):
            subprocess.run([COMMAND, *command], check=True, cwd=folder)


def draw_page(arguments: list[str], name: str) -> None:
    """Typeset a page of LaTeX and draw the first of its pages."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([COMMAND, *arguments, "-o", f"{name}.tex"], check=True, cwd=folder)
        latex = ["pdflatex", "-interaction=batchmode", f"{name}.tex"]
        subprocess.run(latex, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        first = ["pdftoppm", "-singlefile", "-gray", "-r", "80", "-png", f"{name}.pdf"]
        subprocess.run([*first, HERE / name], check=True, cwd=folder)


def draw_terminal(arguments: list[str], place: Path) -> None:
    """Run the command in a terminal's colors and draw its output."""
    shown = subprocess.run(
        [COMMAND, *arguments],
        env=os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(shown))
    svg = console.export_svg(title=" ".join(["attncalc", *arguments]), unique_id="attncalc")
    # remove web fonts, so that the picture needs no network
    own_fonts = re.sub(r"@font-face \{.*?\}\n?", "", svg, flags=re.DOTALL)
    place.write_text(own_fonts, encoding="utf-8")


if __name__ == "__main__":
    main()
