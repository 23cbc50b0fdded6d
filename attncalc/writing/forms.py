"""The forms a page can be written in, and how the names of their files end."""

FORMS = {
    "table": (".txt",),
    "markdown": (".md", ".markdown"),
    "latex": (".tex",),
    "html": (".html", ".htm"),
    "csv": (".csv",),
    "json": (".json",),
    "npz": (".npz",),
}
"""The forms, and how the names of their files end."""


def form_of(ending: str) -> str | None:
    """Return the form that the ending of a file asks for, if there is one.

    >>> form_of(".MD")
    'markdown'
    """
    for form, endings in FORMS.items():
        if ending.lower() in endings:
            return form
    return None
