"""Measure pages of HTML: bytes, seconds to write, and to load and lay out in headless Chromium.

    python benchmarks/html_pages.py [--repeats 3] [--edits 25]

The peers are the same page in markdown, and in Chromium an empty page. Solving is not counted; all
take turns in one run; medians. Behind them, of 40 tokens: milliseconds to the first paint, and of
an edit by the form beside the entry up to its layout, beside those of an empty page and of a loop
that multiplies whole numbers; least, median and most. Without Chromium these are left out.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from attncalc import Problem, Solution, read_problem, solve
from attncalc.problem.samples import sample

sys.path.append(str(Path(__file__).parents[1] / "tests"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
EMPTY = "<!DOCTYPE html><title>empty</title>"
FRAME = """<!DOCTYPE html><body><script>
  const frame = document.createElement("iframe"), start = performance.now();
  frame.style = "width: 1280px; height: 900px";
  frame.onload = () => {
    frame.contentDocument.body.getBoundingClientRect();
    document.title = `took ${performance.now() - start} ms`;
  };
  frame.src = "page.html";
  document.body.append(frame);
</script>"""


def random_problem(tokens: int, heads: int) -> Problem:
    """Return self-attention of random tokens, each with a name."""
    random = np.random.default_rng(tokens)
    W_Q, W_K, W_V = (random.normal(size=(16, 16)).round(2) for _ in range(3))
    labels = [f"token {place}" for place in range(tokens)]
    X = random.normal(size=(tokens, 16)).round(2)
    return Problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, labels=labels, heads=heads)


def seconds(make: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    make()
    return time.perf_counter() - start


def milliseconds_in_chromium(page: str) -> float | None:
    """Return how long a page takes to load and to be laid out; None where it did not."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(page, encoding="utf-8")
        (Path(folder) / "frame.html").write_text(FRAME, encoding="utf-8")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
        asked = [str(CHROMIUM), *flags, "--dump-dom", "--timeout=20000"]
        done = subprocess.run(
            [*asked, f"file://{folder}/frame.html"], capture_output=True, text=True, check=True
        )
    found = re.search(r"took ([\d.]+) ms", done.stdout)
    return float(found[1]) if found else None


def row(name: str, solution: Solution, repeats: int) -> str:
    """Return a line of the table."""
    solution.to_html()  # parts computed when first shown
    pairs = [(seconds(solution.to_markdown), seconds(solution.to_html)) for _ in range(repeats)]
    markdown, html = (median(times) for times in zip(*pairs, strict=True))
    page = solution.to_html()
    cells = [f"{len(page.encode()) / 1000:10.0f} kB", f"{html:8.3f} s", f"{markdown:8.3f} s"]
    if CHROMIUM:
        taken = [(milliseconds_in_chromium(page), milliseconds_in_chromium(EMPTY))
                 for _ in range(repeats)]  # fmt: skip
        for times in zip(*taken, strict=True):
            known = [each for each in times if each is not None]
            cells.append(f"{median(known):8.0f} ms" if known else "       ?")
    return f"{name:24}{''.join(cells)}"


LOOP = """(() => {
  const start = performance.now();
  let product = 1n;
  for (let k = 1n; k < 60000n; k += 1n) product = (product * k) % (10n ** 29n + 57n);
  return performance.now() - start;
})()"""
EDIT = """(() => {
  document.querySelector("#X-%d-%d").click();
  const form = document.querySelector(".at-hand form");
  form.firstElementChild.value = "0.%d";
  const start = performance.now();
  form.requestSubmit();
  document.body.getBoundingClientRect();
  return performance.now() - start;
})()"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def times_of_forty_tokens(repeats: int, edits: int) -> dict[str, list[float]]:
    """Return milliseconds to the first paint, for edits, and for related updates."""
    from browser import Browser

    found: dict[str, list[float]] = {
        "first paint": [], "first paint, empty": [], "edit": [], "loop": [],
    }  # fmt: skip
    browser = Browser()
    with tempfile.TemporaryDirectory() as folder:
        page, empty = Path(folder) / "page.html", Path(folder) / "empty.html"
        page.write_text(solve(random_problem(40, 1)).to_html(), encoding="utf-8")
        empty.write_text(EMPTY + "<p>empty</p>", encoding="utf-8")
        for _ in range(repeats):
            for name, place in (("first paint", page), ("first paint, empty", empty)):
                browser.open(place)
                browser.until(f"{PAINT} !== undefined")
                found[name].append(browser.run(PAINT))
        browser.open(page)
        for k in range(-2, edits):  # the first two warm it up
            took = browser.run(EDIT % (1 + k % 40, 1 + k % 16, k + 11)), browser.run(LOOP)
            if k >= 0:
                found["edit"].append(took[0])
                found["loop"].append(took[1])
    browser.close()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--edits", type=int, default=25)
    asked = parser.parse_args()
    repeats = asked.repeats
    print(f"{'':24}{'page':>13}{'html':>10}{'markdown':>10}{'Chromium':>11}{'empty':>11}")
    for name in ("self", "cross", "encoder"):
        print(row(name, solve(read_problem(sample(name).path)), repeats), flush=True)
    for tokens, heads in ((40, 1), (40, 8), (128, 1)):
        solution = solve(random_problem(tokens, heads))
        print(row(f"{tokens} tokens, {heads} head(s)", solution, repeats), flush=True)
    if CHROMIUM:
        print("\n40 tokens, in ms             least  median    most")
        for name, took in times_of_forty_tokens(repeats, asked.edits).items():
            print(f"{name:24}{min(took):9.1f}{median(took):8.1f}{max(took):8.1f}")


if __name__ == "__main__":
    main()
