"""The promises of docs/promises.md do not change unintentionally."""

import json
import re
import tomllib

from conftest import ROOT
from surface import WRITTEN, surface

from attncalc import __version__
from attncalc.cli import OWN_MISTAKE
from attncalc.schemas import NAMES

PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")


def told(written: dict[str, str], now: dict[str, str]) -> str:
    """Return what has changed and what is to be done, or nothing."""
    gone = [f"{name}: {written[name]}, which is gone" for name in written if name not in now]
    changed = [
        f"{name}: {written[name]}, which is now {now[name]}"
        for name in written
        if now.get(name, written[name]) != written[name]
    ]
    new = [f"{name}: {now[name]}" for name in now if name not in written]
    if not (gone or changed or new):
        return ""
    lines = [
        "What docs/promises.md promises has changed.",
        *("", "Gone or changed (a new second number before 1.0, a new first one after):")
        * bool(gone or changed),
        *(f"  {line}" for line in (*gone, *changed)),
        *("", "New (a new second number):") * bool(new),
        *(f"  {line}" for line in new),
        "",
        "If that is meant: say so in CHANGELOG.md, and write it down with",
        "  python tests/surface.py --write",
    ]
    return "\n".join(lines)


def test_the_public_interface_is_as_recorded() -> None:
    message = told(json.loads(WRITTEN.read_text(encoding="utf-8")), surface())
    assert not message, message


def test_a_change_is_reported_with_advice() -> None:
    message = told({"flag --a": "self", "exit code right": "0"}, {"flag --a": "cross", "new": ""})
    assert "  exit code right: 0, which is gone\n" in message
    assert "  flag --a: self, which is now cross\n" in message
    assert "  new: \n" in message
    assert message.endswith("\n  python tests/surface.py --write")
    assert told({"a": "b"}, {"a": "b"}) == ""


def test_the_snapshot_contains_the_public_interface() -> None:
    written = json.loads(WRITTEN.read_text(encoding="utf-8"))
    for name in ("attncalc.solve", "field W_Q", "exit code has mistakes", "schema steps"):
        assert name in written
    assert written["flag --decimals/-d a value"].startswith("self cross ")


def test_the_page_names_every_exit_code_and_schema() -> None:
    for code in ("0", "1", "2", str(OWN_MISTAKE), "130", "143"):
        assert f"`{code}`" in PAGE
    for name in NAMES:
        assert f"`{name}`" in PAGE


def test_the_version_is_semantic_and_the_same_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in cited
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == __version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
