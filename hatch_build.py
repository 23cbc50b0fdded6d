"""What the packages say of where attncalc lives, and how a wheel has the script of pages.

All of the first follows from `repository` of [tool.hatch.metadata.hooks.custom] in pyproject.toml.
While it is empty no address is said, and the links of the README stay as they are in the clone;
with one, they lead to the files of this version.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)]+)\)")
"""A link to a file of the clone, in Markdown: whether it shows a picture, its text, its place."""


class CustomMetadataHook(MetadataHookInterface):
    """Adds the readme and the addresses."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what `dynamic` names."""
        folder = Path(self.root)
        repository = self.config.get("repository", "").rstrip("/")
        text = (folder / "README.md").read_text(encoding="utf-8")
        tag = f"v{version_of(folder)}"
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": readme(text, repository, tag),
        }
        metadata["urls"] = addresses(repository, tag)


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Joins the modules of the page's script for a wheel, of which they would be a tenth."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put them into one file; where the clone itself is installed, they stay as they are."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from attncalc.writing.live.joined import JOINED, join

        inside = "attncalc/writing/live"
        modules = sorted(Path(self.root, inside).glob("*.js"))
        self.folder = TemporaryDirectory()
        made = Path(self.folder.name, JOINED)
        made.write_text(join({each.stem: each.read_text("utf-8") for each in modules}), "utf-8")
        build_data["force_include"][str(made)] = f"{inside}/{JOINED}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the file away again."""
        if version != "editable":
            self.folder.cleanup()


def version_of(folder: Path) -> str:
    """Return the version of the package."""
    text = (folder / "attncalc" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0]


def addresses(repository: str, tag: str) -> dict[str, str]:
    """Return what an index shows beside a project."""
    if not repository:
        return {}
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/{tag}/docs",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
        "Source": repository,
    }


def readme(text: str, repository: str, tag: str) -> str:
    """Return the README with links that lead somewhere from outside the clone."""
    if not repository:
        return text

    def outside(found: re.Match[str]) -> str:
        picture, said, place = found.groups()
        return f"{picture}{said}({repository}/{'raw' if picture else 'blob'}/{tag}/{place})"

    return _LINK.sub(outside, text)
