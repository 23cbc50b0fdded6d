"""What the packages say of where attncalc lives.

All of it follows from `repository` of [tool.hatch.metadata.hooks.custom] in pyproject.toml.
While it is empty no address is said, and the links of the README stay as they are in the clone;
with one, they lead to the files of this version.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!\[[^\]]*)?\]\((?![a-z]+:|#)([^)]+)\)")
"""The end of a link to a file of the clone, in Markdown: the start of a picture, and the place."""


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


def version_of(folder: Path) -> str:
    """Return the version of the package."""
    text = (folder / "attncalc" / "base" / "__init__.py").read_text(encoding="utf-8")
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
        picture, place = found.groups(default="")
        return f"{picture}]({repository}/{'raw' if picture else 'blob'}/{tag}/{place})"

    return _LINK.sub(outside, text)
