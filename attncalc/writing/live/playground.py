"""The playground: one page that computes any small problem, without an installation."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from attncalc.problem.problem import Problem
from attncalc.writing.html.elements import element
from attncalc.writing.html.page import data_script, whole_page
from attncalc.writing.html.style import style
from attncalc.writing.live.data import LOOK, page_data
from attncalc.writing.live.script import PLAYGROUND, script

TITLE = "Attention, by hand: the attncalc playground"
KEPT = ("settings", "given", "problem", "digits", "weights")
"""What a template has of the data of a page, besides its plans."""


class Template(NamedTuple):
    """A problem to begin with.

    key: its name in the address of the page.
    group, title: where it is listed, and how it is called.
    others: whether a reader may choose other conventions than its own.
    """

    key: str
    group: str
    title: str
    problem: Problem
    others: bool = False


def write_playground(templates: Iterable[Template], first: str) -> str:
    """Return the page: templates, and the one that it opens with."""
    problem = json.dumps(_data(templates, first), separators=(",", ":"))
    start = data_script(json.dumps(f"problem={first}"), "start")
    scripts = [data_script(problem, "problem"), start, script(PLAYGROUND)]
    body = element("div", element("h1", TITLE), element("p", "This page needs JavaScript."),
                   id="playground")  # fmt: skip
    look = style("attncalc.writing.live", "playground.css")
    return whole_page(TITLE, body, look, scripts, allows="img-src data:")


def _data(templates: Iterable[Template], first: str) -> dict[str, Any]:
    """Return all templates; steps that several have are stored once."""
    known: dict[str, int] = {}
    found = {}
    for key, group, title, problem, others in templates:
        data = page_data(problem, others=others)
        place = [known.setdefault(json.dumps(each), len(known)) for each in data["steps"]]
        plans = {
            name: {"steps": [place[k] for k in each["steps"]], "longest": each["longest"]}
            for name, each in data["plans"].items()
        }
        given = data["given"].values()
        turned = any("from" in each or each["shape"] != each["given"] for each in given)
        named = {"group": group, "title": title, "command": problem.what}
        found[key] = {each: data[each] for each in KEPT} | named
        found[key] |= {"plans": plans, "isTurned": turned}
    return {"first": first, "templates": found, "steps": list(map(json.loads, known)), "look": LOOK}
