"""The interpreter of equations in Node, and the plans that it reads."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import is_grouped
from attncalc.operations.distances import Alibi, exponents_of_slopes
from attncalc.problem.problem import Problem
from attncalc.writing.live.stated import stated_data

LIVE = Path(__file__).parents[1] / "attncalc" / "writing" / "live"
NODE = shutil.which("node") or shutil.which("nodejs")


def data_of(problem: Problem) -> dict[str, Any]:
    """Return the plan of a problem as the interpreter reads it."""
    return stated_data(problem, _statement)


def is_stated(problem: Problem) -> bool:
    """Say whether each step of a problem has an equation."""
    try:
        data_of(problem)
    except NotImplementedError:
        return False
    return True


def _statement(operation: Any, shapes: Any) -> Any:
    found = operation.statement(*shapes)
    if is_grouped(shapes) and not found.name.startswith("Grouped"):
        return None
    tree, inputs = equation(found.name, found.given), inputs_of(found.name, found.given)
    tables = found.tables
    if isinstance(operation, Alibi) and not operation.has_own:
        slopes = [f"2^{-x}" for x in exponents_of_slopes(operation.heads)]
        shape = (1, 1) if len(shapes[0]) < 3 else (len(slopes), 1, 1)
        tables = {"slope": np.array(slopes, object).reshape(shape)}
    return SimpleNamespace(equation=tree, inputs=inputs, settings=found.settings, tables=tables)


@cache
def _folder() -> Path:
    """Return a folder where Node reads the files as modules."""
    folder = Path(tempfile.mkdtemp())
    for name in ("numbers.js", "expressions.js", "equations"):
        (folder / name).symlink_to(LIVE / name)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def in_node(program: str, lines: Iterable[Any]) -> Iterator[Any]:
    """Yield what a program makes of each line: the body of (line), with all modules at hand."""
    assert NODE is not None
    names = sorted(path.stem for path in (LIVE / "equations").glob("*.js"))
    imports = "".join(
        f'import * as ${name} from "{_folder()}/equations/{name}.js";\n' for name in names
    )
    text = f"""{imports}
    import * as $numbers from "{_folder()}/numbers.js";
    import {{ readFileSync }} from "node:fs";
    const answer = (line) => {{ {program} }};
    for (const line of readFileSync(0, "utf-8").split("\\n").filter(Boolean)) {{
      let said;
      try {{ said = answer(JSON.parse(line)); }}
      catch (error) {{ said = {{ error: error.stack }}; }}
      console.log(JSON.stringify(said));
    }}"""
    done = subprocess.run(
        [NODE, "--preserve-symlinks", "--input-type=module", "-e", text],
        input="\n".join(map(json.dumps, lines)),
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return map(json.loads, done.stdout.splitlines())
