"""What is released: a wheel and an sdist, with all that is needed in them and nothing else.

That both install and pass the tests outside the clone is what `.ci/run` tries.
"""

import re
import subprocess
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from attncalc import __version__

pytest.importorskip("hatchling")
pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="packages are made in a clone")

MOST = 1_895_000
"""Bytes of the wheel."""
REPOSITORY = "https://example.org/someone/attncalc"


def built(kind: str, folder: Path) -> Path:
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    builder: Any = {"wheel": WheelBuilder, "sdist": SdistBuilder}[kind](str(ROOT))
    return Path(next(iter(builder.build(directory=str(folder)))))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", tmp_path_factory.mktemp("sdist"))


def files(package: Path) -> set[str]:
    """Return the files of a package, those of an sdist without the name of its folder."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return set(archive.namelist())
    with tarfile.open(package) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def of_the_clone(folder: str) -> set[str]:
    """Return all files of a folder except those that git ignores."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.splitlines() if (ROOT / name).exists()}


@pytest.mark.slow
def test_the_wheel_contains_the_package_and_its_samples_and_nothing_else(wheel: Path) -> None:
    about = {f"attncalc-{__version__}.dist-info/{name}" for name in ABOUT}
    samples = {f"attncalc/{name}" for name in of_the_clone("samples")}
    assert files(wheel) == of_the_clone("attncalc") | samples | about
    kinds = {Path(name).suffix for name in of_the_clone("attncalc")}
    assert kinds >= {".py", ".js", ".css", ".typed"}  # what pages are made of is in it


ABOUT = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")


def test_no_test_and_no_tool_is_in_the_wheel(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in files(wheel)}
    assert tops == {"attncalc", f"attncalc-{__version__}.dist-info"}


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST


@pytest.mark.slow
def test_the_sdist_contains_the_files_of_the_tests(sdist: Path) -> None:
    held = files(sdist)
    for folder in ("attncalc", "samples", "tests", "docs", "benchmarks"):
        assert of_the_clone(folder) - held == set()
    assert {"README.md", "CITATION.cff", "pyproject.toml", "hatch_build.py", "LICENSE"} <= held


def metadata(package: Path) -> Any:
    with zipfile.ZipFile(package) as archive:
        name = f"attncalc-{__version__}.dist-info/METADATA"
        return message_from_string(archive.read(name).decode())


def test_the_wheel_has_its_metadata(wheel: Path) -> None:
    told = metadata(wheel)
    assert (told["Name"], told["Version"]) == ("attncalc", __version__)
    assert told["Requires-Python"] == ">=3.11"
    assert told["License-Expression"] == "MIT"
    assert told["Description-Content-Type"] == "text/markdown"
    assert told.get_payload().startswith("# attncalc")


def test_the_oldest_set_is_the_lower_bounds() -> None:
    """What is promised is what is tried: each bound of pyproject.toml, pinned."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {
        name: low
        for each in project["dependencies"]
        for name, low in re.findall(r"^([a-z]+)>=([0-9.]+)", each)
    }
    pins = dict(
        line.split("==")
        for line in (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    )
    assert set(pins) == set(bounds)
    for name, low in bounds.items():
        assert pins[name].removesuffix(".0") in (low, low.removesuffix(".0")), name
    ran = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f"=python{project['requires-python'].removeprefix('>=')}\n" in ran


# -- addresses ------------------------------------------------------------------------------------


def hook() -> Any:
    import runpy

    return runpy.run_path(str(ROOT / "hatch_build.py"))


def test_addresses_follow_from_one_line() -> None:
    made = hook()
    assert made["addresses"]("", "v0.1.0") == {}
    found = made["addresses"](REPOSITORY, "v0.1.0")
    assert found["Changelog"] == f"{REPOSITORY}/blob/v0.1.0/CHANGELOG.md"
    assert all(address.startswith(REPOSITORY) for address in found.values())
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "repository" in settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]


def test_links_of_the_readme_lead_somewhere_from_an_index() -> None:
    made, text = hook(), (ROOT / "README.md").read_text(encoding="utf-8")
    assert made["readme"](text, "", "v0.1.0") == text
    outside = made["readme"](text, REPOSITORY, "v0.1.0")
    places = re.findall(r"\]\(([^)]+)\)", outside)
    assert len(places) > 20
    assert all(place.startswith(("#", "https://")) for place in places)
    assert f"]({REPOSITORY}/blob/v0.1.0/docs/layers.md)" in outside
    assert f"]({REPOSITORY}/raw/v0.1.0/docs/cross.svg)" in outside


def test_the_recipe_of_a_release_is_ten_lines_and_names_all_that_has_the_version() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = page.split("## To release\n")[1].split("\n## ")[0].strip()
    assert len(recipe.splitlines()) <= 10
    for named in ("attncalc/__init__.py", "CITATION.cff", "CHANGELOG.md", ".ci/run", "twine check"):
        assert named in recipe


# -- citation -------------------------------------------------------------------------------------


def test_the_citation_is_valid_by_its_schema() -> None:
    """Every key of schema 1.2.0 that must be there, and none that it does not know."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    keys = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    assert {"cff-version", "message", "title", "authors"} <= keys
    assert keys <= {
        *("abstract", "authors", "cff-version", "date-released", "doi", "identifiers", "keywords"),
        *("license", "message", "repository-code", "title", "type", "url", "version"),
    }
    assert re.search(r"^cff-version: 1\.2\.0$", text, re.MULTILINE)
    assert re.search(r"^license: MIT$", text, re.MULTILINE)
    assert re.search(r"^authors:\n  - name: .+$", text, re.MULTILINE)
