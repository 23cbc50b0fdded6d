"""README and docs are correct: their commands run, links resolve, and pictures are up to date.

README's two set-up commands are run by `.ci/run`, each in a fresh environment.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from conftest import PACKAGE, ROOT, Command, clean_environment, for_all

import attncalc
from attncalc.cli.flags.table import COMMANDS, topics
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules, Status
from attncalc.problem.fields import GIVEN, SETTINGS
from attncalc.problem.samples import sample
from attncalc.reading import read_problem

WRITTEN_BY_A_COMMAND = "key.md"
DOCS = sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != WRITTEN_BY_A_COMMAND)
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.md"))
PLACES = {path.name: path for path in (*DOCS, *EXAMPLES)}
PAGES = {
    path.name: path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *DOCS,
        *EXAMPLES,
    )
}
README = PAGES["README.md"]
SITE_ONLY = "reference/"
"""What is made when the site is built."""
TOURS = [
    "README.md",
    *(path.name for path in DOCS if "\n```text\n" not in PAGES[path.name]),
]
TOURS.remove("gallery.md")
"""Pages whose commands are run here; tests/test_site.py runs those that show outputs."""


def blocks(language: str, page: str = "README.md") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], flags=re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    """Return what a page tells to type, but for setting up."""
    return [block for block in blocks("sh", page) if ".venv" not in block]


@pytest.mark.slow
@pytest.mark.parametrize("page", TOURS)
def test_every_command_and_the_python_of_a_page_run(page: str, tmp_path: Path) -> None:
    run_all(commands(page), tmp_path)
    for program in blocks("python", page):
        subprocess.run(
            [sys.executable, "-c", program], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL
        )
    if page == "tour.md":
        assert json.loads((tmp_path / "steps.json").read_text(encoding="utf-8"))["kind"] == "cross"
        for picture in ("map.svg", "map.pdf", "vit.png"):
            assert (tmp_path / picture).stat().st_size > 5000
    if page == "arrays.md":
        (command,) = re.findall(r"`(attncalc cross long.npz[^`]*)`", PAGES[page])
        run_all([command.replace("\n", " ")], tmp_path)
        assert (tmp_path / "out.npz").stat().st_size > 1000


def run_all(given: list[str], folder: Path) -> None:
    """Run commands one after another in a folder, in which `attncalc` is this one."""
    (folder / "bin").mkdir(exist_ok=True)
    command = folder / "bin" / "attncalc"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m attncalc "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(given)],
        check=True,
        cwd=folder,
        env=clean_environment() | {"PATH": f"{folder}/bin:{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=300,
    )


def test_the_readme_is_short_and_shows_a_picture_before_its_first_command() -> None:
    assert README.count("\n") <= 170
    assert README.index("docs/self-map.png") < README.index("```sh\npython3 -m venv")
    assert README.index("attncalc self homework.json") < README.index("## For teachers")


def test_commands_for_windows_match_the_others() -> None:
    pages = ("README.md", "tour.md")
    typed = [line for page in pages for b in blocks("sh", page) for line in b.splitlines()]
    there = {line for page in pages for b in blocks("powershell", page) for line in b.splitlines()}
    assert there == {in_powershell(line) for line in typed if is_other(line)}
    assert not any(
        is_other(in_powershell(line).replace("; ", " ")) for line in typed if "<" in line
    )


BARE_COMMA = re.compile(r"(?<=[^\s,]),(?=[^\s,])")


@for_all("page", [page for page in PAGES if page != "README.md"])
def test_no_command_of_the_docs_has_a_comma_outside_quotes(page: str) -> None:
    """In PowerShell it makes two arguments of one."""
    typed = [line for word in ("sh", "console", "") for block in blocks(word, page)
             for line in block.splitlines() if line.startswith("attncalc")]  # fmt: skip
    typed += re.findall(r"`((?:attncalc|--[a-z-]+) [^`]*)`", PAGES[page])
    assert not [line for line in typed if BARE_COMMA.search(IN_QUOTES.sub("", line))]


def test_no_example_of_the_help_has_one_either() -> None:
    texts = (*(each.text for each in COMMANDS.values()), *topics().values())
    lines = [line for text in texts for line in text.splitlines()]
    examples = [line for line in lines if line.startswith("    attncalc ")]
    assert len(examples) > 40
    assert not [line for line in examples if BARE_COMMA.search(IN_QUOTES.sub("", line))]


IN_QUOTES = re.compile(r""""[^"]*"|'[^']*'""")


def is_other(line: str) -> bool:
    """Return whether PowerShell takes a line otherwise: a comma alone makes two arguments there."""
    bare = IN_QUOTES.sub("", line)
    return bool(re.search(r"&&|\|\||[<>,$`{}@%]|printf|\.venv/bin", bare))


def in_powershell(line: str) -> str:
    """Return a line as it is typed in PowerShell."""
    line = line.replace("python3 -m", "py -m").replace(".venv/bin/", ".venv\\Scripts\\")
    line = line.replace(" && ", "; ").removesuffix(" || true")
    if found := re.fullmatch(r"(attncalc .*) < (\S+)", line):
        return f"Get-Content {found[2]} | {found[1]}"
    if found := re.fullmatch(r"printf '(.*)' > (\S+)", line):
        lines = ", ".join(f"'{each}'" for each in found[1].split("\\n") if each)
        return f"{lines} | Set-Content {found[2]}"
    return line


def test_the_json_of_the_readme_is_a_problem(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(blocks("json")[0], encoding="utf-8")
    run = attncalc("self", "in.json")
    assert run.code == 0
    assert "Self-attention: The cat" in run.out


@pytest.mark.slow
def test_the_work_in_the_tour_is_current(attncalc: Command) -> None:
    attncalc("samples", "sentence", "-o", "cat.json")
    printed = attncalc("self", "--work").out
    printed += attncalc("self", "cat.json", "--entry", "A['cat','dog']", "--fractions").out
    lines = blocks("console", "tour.md")[0].splitlines()
    assert len(lines) == 3
    assert set(lines) <= set(printed.splitlines())


@pytest.mark.slow
def test_the_marking_in_the_readme_is_current(attncalc: Command) -> None:
    attncalc("samples", "self", "-o", "given.json")
    attncalc("samples", "transposed-scores", "-o", "mine.py")
    run = attncalc("check", "given.json", "mine.py")
    assert run.code == 1
    assert run.out == blocks("text")[0]


@pytest.mark.slow
def test_the_page_of_the_readme_is_current(attncalc: Command, tmp_path: Path) -> None:
    attncalc("self", "--work", "-o", "key.md")
    page = (tmp_path / "key.md").read_text(encoding="utf-8")
    assert page == (ROOT / "docs" / WRITTEN_BY_A_COMMAND).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["sh", "powershell"])
def test_the_start_page_sets_up_as_the_readme_does(language: str) -> None:
    here, there = (
        next(block for block in blocks(language, page) if ".venv" in block)
        for page in ("README.md", "start.md")
    )
    assert here == there


def test_set_up_is_one_command_each() -> None:
    set_up = [block for block in blocks("sh") if ".venv" in block]
    assert [block.count("\n") for block in set_up] == [1, 1]


def test_its_pictures_exist_and_load_nothing_from_elsewhere() -> None:
    for place in re.findall(r"!\[[^]]+\]\(([^)]+)\)", README):
        assert (ROOT / place).stat().st_size > 1000
    assert "@font-face" not in (ROOT / "docs" / "cross.svg").read_text(encoding="utf-8")


@for_all("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    folder = PLACES[page].parent if page in PLACES else ROOT
    for place, _, heading in re.findall(r"\]\(([^)#:]*)(#([^)]+))?\)", PAGES[page]):
        assert place.startswith(SITE_ONLY) or (folder / place).exists(), place
        if heading:
            target = PAGES[Path(place).name] if place else PAGES[page]
            assert heading in map(anchor, re.findall(r"^#+ (.*)$", target, re.MULTILINE))


def anchor(heading: str) -> str:
    """Return what GitHub calls a heading in links."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@for_all("page", [page for page in TOURS[1:] if PAGES[page].count("\n## ") > 2])
def test_a_page_of_several_parts_begins_with_their_list(page: str) -> None:
    headings = re.findall(r"^## (.*)$", PAGES[page], re.MULTILINE)
    assert re.findall(r"\]\(#([^)]+)\)", PAGES[page])[: len(headings)] == list(
        map(anchor, headings)
    )


def test_the_reference_names_every_field_and_its_values() -> None:
    page = PAGES["fields.md"] + PAGES["layers.md"]
    for name in (*GIVEN, *SETTINGS, "labels", "title"):
        assert f"`{name}`" in page, name
    for name, setting in SETTINGS.items():
        (row,) = re.findall(rf"^\| `{name}` \|(.*)$", page, re.MULTILINE)
        for value in re.findall(r'"([\w-]+)"', setting.takes):
            assert f"`{value}`" in row.split("|")[0], (name, value)
        if isinstance(setting.default, str):
            assert row.strip().startswith(f"`{setting.default}`"), name


def test_the_reference_names_every_code_of_a_marking() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGES["check.md"], re.MULTILINE)
    assert re.findall(r"`([\w-]+)`", " ".join(rows)) == [each.value for each in Status]


def test_the_reference_names_every_code_of_a_deduction() -> None:
    listed = PAGES["check.md"].split("The codes of a self-attention", 1)[1].split("\n\n", 1)[0]
    keys = [key_of(read_problem(sample(name).path), Rules()) for name in ("self", "causal")]
    expected = {
        each.code.split(":")[0] for key in keys for of in key.recipes.values() for each in of
    }
    assert re.findall(r"`([\w-]+)`", listed) == sorted(expected)


# ARCHITECTURE.md and the packages


def packages() -> set[str]:
    """Return the packages of attncalc, and its modules outside packages, by path."""
    root = Path(attncalc.__file__).parent
    folders = (path.parent for path in root.rglob("__init__.py") if path.parent != root)
    modules = (path for path in root.glob("*.py") if not path.name.startswith("__"))
    return {path.relative_to(root).as_posix() for path in (*folders, *modules)}


def test_architecture_names_every_package() -> None:
    page = PAGES["ARCHITECTURE.md"]
    for package in packages():
        name = package if package.endswith(".py") else f"{package}/"
        assert f"`{name}`" in page, name


def test_every_path_in_architecture_exists() -> None:
    root = PACKAGE
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        named = re.findall(r"`(\w[\w./]*(?:\.py|/))`", PAGES[page])
        assert len(named) > 5
        for place in named:
            assert (root / place).exists() or (ROOT / place).exists(), place


def test_packages_import_only_those_above_them() -> None:
    table = PAGES["ARCHITECTURE.md"].split("## Packages")[1].split("\n## ")[0]
    order = [
        package
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for package in re.findall(r"`([^/`]+/?)`", row)  # subpackages share its level
    ]
    arrows = set(imports_between_packages())
    wrong = {(a, b) for a, b in arrows if order.index(a) < order.index(b)}
    assert not wrong
    assert not arrows & {("reading/", "writing/"), ("writing/", "reading/")}


@cache
def imports_of(path: Path) -> list[ast.ImportFrom]:
    """Return what a file imports from others, wherever in it."""
    text = path.read_text(encoding="utf-8")
    lines = re.findall(r"^ *(from [\w.]+ import (?:\([^)]*\)|[^(\n]*))", text, re.MULTILINE)
    nodes = [ast.parse(line).body[0] for line in lines]
    return [node for node in nodes if isinstance(node, ast.ImportFrom)]


def imports_between_packages() -> Iterator[tuple[str, str]]:
    """Yield which package imports which, including imports for types."""
    root = PACKAGE
    for path in root.glob("*/**/*.py"):
        for node in imports_of(path):
            if (node.module or "").startswith("attncalc."):
                name = str(node.module).split(".")[1]
                target = f"{name}/" if (root / name).is_dir() else f"{name}.py"
                own = f"{path.relative_to(root).parts[0]}/"
                if target != own:
                    yield own, target


def test_no_files_import_each_other_in_a_circle() -> None:
    """Also not for types alone, or later, inside a function."""
    root = PACKAGE
    names = {
        ".".join(("attncalc", *path.relative_to(root).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in root.glob("**/*.py")
    }
    read = {
        name: {target for target in imported(path) if target in names and target != name}
        for name, path in names.items()
    }
    # a package that re-exports its modules, also lazily, is not a cycle
    own = {name for name in names if names[name].name == "__init__.py"}
    tuple(TopologicalSorter({name: read[name] - own for name in names}).static_order())


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, wherever in it."""
    for node in imports_of(path):
        if node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_architecture_names_every_question_that_an_operation_answers() -> None:
    from attncalc.equations.operation import Operation

    questions = {name for name in vars(Operation) if not name.startswith("_")}
    listed = PAGES["ARCHITECTURE.md"].split("## The questions")[1].split("\n## ")[0]
    first_cells = re.findall(r"^\| (`.+?`) \|", listed, re.MULTILINE)
    assert {name for cell in first_cells for name in re.findall(r"\w+", cell)} == questions


def test_architecture_is_one_page() -> None:
    assert PAGES["ARCHITECTURE.md"].count("\n") < 160
