"""JSON Schemas: what attncalc reads and prints is as they say, and they say all that there is."""

import json
import re
import shutil
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import ROOT, SLOW, Command, for_all, mostly_slow
from live_pages import drawn

from attncalc import InputError, Solution, read_problem
from attncalc.base.typed import is_number
from attncalc.problem.fields import GIVEN, NESTED, SETTINGS, TEXTS, WHOLE, read_setting
from attncalc.problem.samples import ANSWERS, KERNELS, MODELS, SAMPLES, sample
from attncalc.problem.serialising import in_json
from attncalc.schemas import NAMES, OF, schema
from attncalc.schemas.problem import NUMBER_TEXT
from attncalc.writing.page import Contents, make_page
from attncalc.writing.page_data import write_json

pytestmark = pytest.mark.campaign(4)

jsonschema = pytest.importorskip("jsonschema")


@cache
def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(schema(name))


def faults(name: str, content: Any) -> list[str]:
    found = validator(name).iter_errors(content)
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


@pytest.mark.parametrize("name", mostly_slow(sorted(NAMES), every=11))
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert json.loads(json.dumps(schema(name))) == schema(name)


# -- problems -------------------------------------------------------------------------------------


def test_the_schema_of_a_problem_has_every_declared_field() -> None:
    told = schema("problem")["$defs"]
    fields = {*GIVEN, *SETTINGS, *NESTED, *TEXTS, "labels"}
    assert fields <= set(told["problem"]["properties"])
    of_layers = (set(GIVEN) | set(SETTINGS)) - set(WHOLE)
    assert set(told["layer"]["properties"]) == of_layers | {"self", "cross"}


@pytest.mark.campaign(6)
@pytest.mark.parametrize("each", SAMPLES, ids=lambda each: each.name)
def test_samples_are_problems_as_files_and_as_they_are_written(each: Any) -> None:
    if each.path.suffix == ".json":
        assert faults("problem", json.loads(each.path.read_text(encoding="utf-8"))) == []
    assert faults("problem", in_json(read_problem(each.path))) == []


BROKEN = [
    {"X": [[1, 2]], "W_QQ": [[1]]},
    {"X": [["a"]]},
    {"X": []},
    {"X": {"rows": 1}},
    {"X": [[1, None]]},
    {"decimals": 13},
    {"decimals": 2.5},
    {"scale": "half"},
    {"rounding": "up"},
    {"causal": "perhaps"},
    {"layers": {"W_Q": [[1]]}},
    {"layers": []},
    {"layers": [{"X": [[1]]}]},
    {"self": {"W_1": [[1]]}},
    {"keep": [[2]]},
    {"labels": [1, 2]},
    {"rope_dims": 3},
    {"step": 0},
    {"eps": "-1"},
]


@pytest.mark.parametrize("broken", BROKEN, ids=json.dumps)
def test_impossible_settings_are_refused_by_both(
    broken: dict[str, Any], attncalc: Command, tmp_path: Path
) -> None:
    good = {"X": [[1, 2]], "W_Q": [[1], [1]], "W_K": [[1], [1]], "W_V": [[1], [1]]}
    assert faults("problem", good) == []
    assert faults("problem", broken)
    (tmp_path / "in.json").write_text(json.dumps({**good, **broken}))
    assert attncalc("self", "in.json").code == 2


@pytest.mark.slow
def test_a_number_as_text_is_one_for_both() -> None:
    pattern = re.compile(NUMBER_TEXT)
    rng = Random(7)
    texts = ["".join(rng.choices("12.e+-−–/½⁄ ,_", k=rng.randint(1, 6))) for _ in range(20_000)]
    differ = [text for text in texts if bool(pattern.search(text)) != is_number(text)]
    assert differ == []
    assert sum(map(is_number, texts)) > 1000


@for_all("name", SETTINGS)
def test_a_setting_accepts_what_its_schema_allows(name: str) -> None:
    said = schema("problem")["$defs"]["problem"]["properties"][name]["anyOf"][0]
    values = [*said.get("enum", ()), said.get("minimum"), said.get("maximum"), said.get("default")]
    for value in values:
        if value is not None:
            read_setting(name, value)
    if "maximum" in said:
        with pytest.raises(InputError):
            read_setting(name, said["maximum"] + 1)
    if "enum" in said:
        with pytest.raises(InputError):
            read_setting(name, "x" + said["enum"][0])


def test_a_file_may_name_its_schema(attncalc: Command, tmp_path: Path) -> None:
    said = {"$schema": "problem.schema.json", "X": [[1]], "W_Q": 1, "W_K": [[1]], "W_V": [[1]]}
    said["W_Q"] = [[1]]
    (tmp_path / "in.json").write_text(json.dumps(said))
    assert attncalc("self", "in.json").code == 0
    assert faults("problem", said) == []


# -- what is printed ------------------------------------------------------------------------------

PRINTED = [
    ("steps", ("self", "--work", "--explain")),
    ("steps", ("self", "--blank")),
    ("steps", ("self", "heads.json", "--work", "--fractions")),
    ("steps", ("self", "rope.json", "--backward")),
    ("steps", ("cross", "masks.json", "--explain")),
    ("steps", ("cross", "target.json", "--work")),
    ("steps", ("encoder", "--work")),
    ("steps", ("decoder", "--explain")),
    ("steps", ("vit",)),
    ("steps", ("explain", "convolution.json")),
    ("steps", ("open", "model", "--tokens", "2 4", "--layer", "0", "--only", "A,Y")),
    ("next", ("open", "model", "--tokens", "2 4")),
    ("layers", ("open", "model", "--tokens", "2 4", "--layer", "all")),
    ("layers", ("open", "model", "--tokens", "2 4", "--lens")),
    ("layers", ("open", "model", "--tokens", "2 4", "--rollout")),
    ("layers", ("open", "model", "--tokens", "2 4", "--ablate", "0.1")),
    ("generation", ("open", "model", "--tokens", "2 4", "--generate", "2", "--beams", "2")),
    ("marking", ("check", "given.json", "answers/hand.json")),
    ("marking", ("check", "given.json", "answers/transposed-scores.txt")),
    ("marking", ("check", "given.json", "answers/full-precision.md", "--atol", "1e-6")),
    ("class", ("check", "given.json", "answers")),
    ("reading", ("check", "given.json", "answers/hand.json", "--reading")),
    ("lessons", ("check", "--lesson", "answers/hand.json", "given.json")),
    ("variation", ("vary", "average.json", "scale=0:inf", "--watch", "A, entropy(A)")),
    ("variation", ("vary", "scale=0.1,1", "W_Q[1,1]=0,1")),
    ("simulation", ("simulate", "X ~ U(0, 1)", "--draws", "5")),
    (
        "simulation",
        (
            "simulate",
            "X ~ U(0, 1)",
            "--draws",
            "50",
            "--given",
            "X[1,1] > 1/2",
            "--watch",
            "X[1,1]",
        ),
    ),
    (
        "simulation",
        ("simulate", "average.json", "two.json", "K[a] ~ N(mu, 0.01 I)", "--draws", "5"),
    ),
    ("training", ("train", "--steps", "2")),
    ("aim", ("aim", "average.json", "1/2 v_a + 1/2 v_b", "--within", "0.001")),
    ("aim", ("aim", "average.json", "1/2 v_a + 1/2 v_b", "--heads", "2")),
    ("counts", ("count", "rope.json")),
    ("counts", ("count", "rope.json", "--compare", "heads.json", "--vary", "tokens=4:8")),
    ("conformance", ("conform", "kernels/wrong.py", "--quick", "--only", "additive mask")),
    ("why", ("why", "rope.json", "S[1,1]")),
    ("doctor", ("doctor",)),
    ("doctor", ("doctor", "given.json")),
]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name in ("heads", "rope", "masks", "convolution", "average"):
        shutil.copy(sample(name).path, tmp_path)
    for name, place in (("gradients-target", "target"), ("two-queries", "two"), ("self", "given")):
        shutil.copy(sample(name).path, tmp_path / f"{place}.json")
    shutil.copytree(sample(MODELS[0].name).path, tmp_path / "model")
    shutil.copytree(sample(ANSWERS[0].name).path, tmp_path / "answers")
    shutil.copytree(KERNELS[0].path, tmp_path / "kernels")
    return tmp_path


@pytest.mark.parametrize(("name", "asked"), mostly_slow([pytest.param(*p) for p in PRINTED]))
def test_output_is_valid_by_its_schema(
    name: str, asked: tuple[str, ...], attncalc: Command, here: Path
) -> None:
    run = attncalc(*asked, *(() if "--reading" in asked else ("--format", "json")))
    assert run.code in (0, 1), run.err
    if "--reading" in asked:
        attncalc(*asked, "-o", "read.json")
        run = type(run)(0, (here / "read.json").read_text(encoding="utf-8"), "")
    assert faults(name, json.loads(run.out)) == []


@SLOW
def test_two_dumps_are_valid_by_their_schema(attncalc: Command, here: Path) -> None:
    for name in ("one", "two"):
        attncalc("self", "--decimals", "3" if name == "one" else "2", "-o", f"{name}.npz")
    run = attncalc("check", "one.npz", "two.npz", "--format", "json")
    name = "dumps" if "arrays" in json.loads(run.out) else "marking"
    assert faults(name, json.loads(run.out)) == []


def test_every_schema_is_tested() -> None:
    assert set(NAMES) == {name for name, _ in PRINTED} | {"problem", "dumps", "rubric"}


def test_a_name_too_many_too_few_or_of_another_kind_is_seen(attncalc: Command) -> None:
    """What is printed is held against a schema that says all: else nothing would be noticed."""
    content = json.loads(attncalc("self", "--format", "json").out)
    assert faults("steps", {**content, "more": 1})
    assert faults("steps", {k: v for k, v in content.items() if k != "notes"})
    content["steps"][0]["values"][0][0] = "1.0"
    assert len(faults("steps", content)) == 1


def held(solution: Solution) -> None:
    page = make_page(solution, Contents(solution.steps))
    assert faults("steps", json.loads("".join(write_json(page)))) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=SLOW) for n in range(1, 60))])
def test_random_problems_are_valid_by_their_schemas(seed: int) -> None:
    solution = drawn(Random(seed))
    held(solution)
    assert faults("problem", in_json(solution.problem)) == []


# -- the command ----------------------------------------------------------------------------------


def test_schemas_are_listed_and_written_out(attncalc: Command, tmp_path: Path) -> None:
    listed = attncalc("schema").out
    for name in NAMES:
        assert f"\n{name} " in f"\n{listed}"
        assert OF[name] in listed
    assert json.loads(attncalc("schema", "marking").out) == schema("marking")
    attncalc("schema", "problem", "-o", "problem.schema.json")
    written = (tmp_path / "problem.schema.json").read_text(encoding="utf-8")
    assert json.loads(written) == schema("problem")


def test_an_unknown_schema_is_reported(attncalc: Command) -> None:
    run = attncalc("schema", "steqs")
    assert (run.code, run.out) == (2, "")
    assert run.err == f'error: there is no schema "steqs": there are {", ".join(NAMES)}\n'


def test_the_docs_name_every_schema() -> None:
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"`{name}`" in page, name
