"""Splits long pages of the site: an overview, and a page for each section."""

import re


def split(text: str, name: str) -> dict[str, str]:
    """Return the pages by path: the overview `name.md`, and `name/section.md` for each section.

    The overview keeps the text before the first section, and lists the sections.
    """
    opening, *sections = _sections(text)
    pages, listed, hidden = {}, [], []
    for title, body in sections:
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        pages[f"{name}/{slug}.md"] = f"# {title}\n{_a_folder_down(body)}"
        first = re.match(r"\s*([A-Z][^\n]*?[.])(?:\s|$)", body)
        listed.append(f"- [{title}]({name}/{slug}.md)" + (f": {first[1]}" if first else ""))
        hidden.append(f"{name}/{slug}")
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *hidden, "```"])
    return {f"{name}.md": "\n".join([opening[1], *listed, "", toctree, ""]), **pages}


def _sections(text: str) -> list[tuple[str, str]]:
    """Return the title and the text of each section, with headings one level up."""
    found, fence = [("", list[str]())], ""
    for line in text.split("\n"):
        marks = re.match(r"`{3,}", line)
        if marks and fence in ("", marks[0]):
            fence = "" if fence else marks[0]
        if not fence and line.startswith("## "):
            found.append((line[3:], []))
        else:
            is_heading = not fence and line.startswith("### ")
            found[-1][1].append(line[1:] if is_heading else line)
    return [(title, "\n".join(lines)) for title, lines in found]


def _a_folder_down(text: str) -> str:
    """Return text with its links to other pages as they are from a subfolder."""
    return re.sub(r"\]\((?=[\w./-]+\.md)", "](../", text)
