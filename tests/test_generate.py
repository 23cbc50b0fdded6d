"""Generated tokens: equal to full passes; draws, beams, pages, pictures and errors."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import validate

from attncalc import InputError, Problem, generate, read_problem, solve
from attncalc.problem.samples import sample
from attncalc.schemas import schema
from attncalc.studies.generate import OfProblem, Settings, filtered

pytestmark = pytest.mark.campaign(4)

MODEL, IDS = sample("model").path, sample("ids").path
SHARED: dict[str, Any] = {"block": "decoder", "norm": "pre", "residual": True}


def layer(rng: np.random.Generator, heads: int, d: int) -> dict[str, Any]:
    names = {"W_Q": (d, d), "W_K": (d, d), "W_V": (d, d), "W_O": (d, d)}
    names |= {"W_1": (d, 6), "W_2": (6, d)}
    return {name: rng.normal(size=shape) for name, shape in names.items()} | {"heads": heads}


def a_problem(seed: int, kind: str) -> Problem:
    """Return a random decoder over 7 tokens."""
    rng = np.random.default_rng(seed)
    fields: dict[str, Any] = {**SHARED, "ids": [1, 4, 2], "W_E": rng.normal(size=(7, 4))}
    fields |= {"tied": True} if seed % 2 else {"W_out": rng.normal(size=(4, 7)), "read": "all"}
    if kind == "layers":
        fields |= {"layers": [layer(rng, 2, 4), layer(rng, 1, 4)], "positions": "sinusoidal"}
    elif kind == "cross":
        own = {name: rng.normal(size=(4, 4)) for name in ("W_Q", "W_K", "W_V")}
        fields |= {"self": own, "cross": own, "X2": rng.normal(size=(3, 4))}
    elif kind == "columns":
        own = layer(rng, 2, 4)
        turned = {n: e.T if n.startswith("W") else e for n, e in own.items()}
        fields |= turned | {"layout": "columns", "W_E": fields["W_E"].T}
        fields |= {"W_out": fields["W_out"].T} if "W_out" in fields else {}
    elif kind == "whole":
        fields |= layer(rng, 2, 4) | {"causal": False}
    else:
        fields |= layer(rng, 2, 4)
        more = {"rope": {"positions": "rope"}, "window": {"window": 2}, "alibi": {"alibi": True}}
        more["rounded"] = {"rounding": "each-step", "decimals": 3}
        more["places"] = {"P": rng.normal(size=(3, 4))}
        more["norms"] = {"qk_norm": "rms", "softcap_out": 3, "first_id": 1}
        fields |= more[kind]
    return Problem(**fields)


KINDS = [
    "layers",
    "cross",
    "columns",
    "whole",
    "rope",
    "window",
    "alibi",
    "rounded",
    "places",
    "norms",
]


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 999), st.sampled_from(KINDS))
def test_each_token_is_that_of_a_full_pass(seed: int, kind: str) -> None:
    check_full_passes(seed, kind)


@pytest.mark.campaign(10)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_each_token_of_each_kind_is_that_of_a_full_pass(seed: int, kind: str) -> None:
    check_full_passes(seed, kind)


def check_full_passes(seed: int, kind: str) -> None:
    problem = a_problem(seed, kind)
    prompt = [1] if kind == "places" else None
    made = generate(problem, 3, tokens=prompt).found
    assert bool(made.cache) == (kind != "whole")
    for number, step in enumerate(made.steps):
        ids = (*made.source.prompt, *made.tokens[:number])
        logits, _ = OfProblem(problem, [each + problem.first_id for each in ids]).logits(ids, {})
        order = np.argsort(-logits, kind="stable")
        found = [(each.token, each.logit, each.probability) for each in step.candidates]
        shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        expected = [(token, logits[token], shares[token]) for token in order[: len(found)]]
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
        assert made.tokens[number] == order[0]
    ids = [each + problem.first_id for each in made.source.prompt]
    if prompt is None:
        fresh = solve(problem).floats["prob"].reshape(-1, 7)[-1]
        assert math.isclose(fresh.max(), made.steps[0].candidates[0].probability, abs_tol=1e-3)


@pytest.mark.slow
def test_a_model_with_its_cache_is_a_model_without() -> None:
    made = generate(MODEL, tokens=[2, 4, 7]).found
    assert made.tokens == (10, 2, 6, 1)
    assert {name: each.shape for name, each in made.cache.items()} == {
        f"{layer}.{name}": (2, 6, 4) for layer in (1, 2) for name in "KV"
    }
    for number, step in enumerate(made.steps):
        (first, *_) = generate(MODEL, 1, tokens=[2, 4, 7, *made.tokens[:number]]).found.steps
        for each, other in zip(step.candidates, first.candidates, strict=True):
            assert each.token == other.token
            assert math.isclose(each.logit, other.logit, abs_tol=1e-4)


@pytest.mark.slow
def test_draws_are_followed_by_hand() -> None:
    """Candidates are those of numpy: the first sum above the drawn number is chosen."""
    made = generate(a_problem(3, "rope"), 6, temperature=1.5, top_k=4, top_p=0.95, seed=5).found
    rng = np.random.default_rng(5)
    for step in made.steps:
        assert step.drawn == rng.random()
        sums = np.cumsum([each.share for each in step.candidates if each.share])
        chosen = [each.is_chosen for each in step.candidates].index(True)
        assert chosen == int((sums <= step.drawn).sum())
        assert math.isclose(sums[-1], 1)
    again = generate(a_problem(3, "rope"), 6, temperature=1.5, top_k=4, top_p=0.95, seed=5).found
    assert again.tokens == made.tokens


def test_filters_keep_the_most_probable() -> None:
    logits = np.log([0.1, 0.4, 0.2, 0.3])
    kept, shares = filtered(logits, Settings(top_k=2))
    assert (kept.tolist(), shares.round(6).tolist()) == ([1, 3], [0.571429, 0.428571])
    assert filtered(logits, Settings(top_p=0.7))[0].tolist() == [1, 3]
    assert filtered(logits, Settings(top_p=0.71))[0].tolist() == [1, 3, 2]
    assert filtered(logits, Settings(top_p=1e-9))[0].tolist() == [1]
    _, shares = filtered(logits, Settings(temperature=0.5))
    assert np.allclose(shares, np.array([16, 9, 4, 1]) / 30)


@pytest.mark.slow
def test_many_beams_find_the_best_sequence() -> None:
    """As many beams as sequences are a search of all."""
    problem = a_problem(4, "rope")
    made = generate(problem, 2, beams=49, length_penalty=0).found
    source, best = OfProblem(problem), (-math.inf, ())
    for first in range(7):
        logits, _ = source.logits(source.prompt, {})
        total = logits[first] - np.log(np.exp(logits).sum())
        later, _ = source.logits((*source.prompt, first), {})
        each = total + later - np.log(np.exp(later).sum())
        best = max(best, (each.max(), (first, int(each.argmax()))))
    assert made.tokens == best[1]
    assert math.isclose(made.beams[0].score, best[0], rel_tol=1e-9)


FORMS = ("json", "csv", "md", "tex", "html", "npz", "png", "svg", "pdf")


@pytest.mark.parametrize("form", mostly_slow(FORMS))
def test_it_is_written_in_each_form(form: str, attncalc: Command, tmp_path: Path) -> None:
    run = attncalc(
        "open", str(MODEL), "--tokens", "2 4", "--generate", "3", "--beams", "2", "-o", f"a.{form}"
    )
    assert run.code == 0, run.err
    assert (tmp_path / f"a.{form}").stat().st_size > 100
    if form == "npz":
        assert np.load(tmp_path / "a.npz")["tokens"].shape == (3,)


@pytest.mark.parametrize(
    "more", mostly_slow([(), ("--beams", "2"), ("--top-k", "3"), ("--cache",)])
)
def test_its_json_is_of_its_schema(more: tuple[str, ...], attncalc: Command) -> None:
    asked = ("generate", str(IDS), "--tokens", "0", "--count", "2", "--format", "json", *more)
    run = attncalc(*asked)
    assert (run.code, run.err) == (0, "")
    content = json.loads(run.out)
    validate(content, schema("generation"))
    assert content["tokens"] == [step["chosen"] for step in content["steps"]]


def test_the_terminal_shows_candidates_tree_and_cache(attncalc: Command) -> None:
    run = attncalc(
        "generate", str(MODEL), "--tokens", "2 4 7", "--count", "3", "--beams", "2", "--cache"
    )
    assert run.code == 0
    for each in ("Finished beams", "sum of ln p", "├─", "Cached keys 1.K, head 2", "(chosen)"):
        assert each in run.out
    run = attncalc("generate", str(IDS), "--tokens", "0", "--count", "2", "--seed", "1")
    assert "drawn number 0.5118" in run.out
    assert "Generated: cat" in run.out


NAN = ("--length-penalty", "nan")
REFUSED = [
    (("generate", "MODEL", "--tokens", "2", *NAN), "--length-penalty nan: from -50 to 50"),
    (("generate", "MODEL", "--tokens", "2", "--temperature", "0"), "--temperature 0 divides by 0"),
    (("generate", "MODEL", "--tokens", "2", "--top-p", "1.5"), "--top-p 1.5: it must be above 0"),
    (("generate", "MODEL", "--tokens", "2", "--top-k", "0"), "--top-k 0: keep at least 1"),
    (("generate", "MODEL", "--tokens", "2", "--beams", "0"), "--beams 0: from 1 to 100"),
    (("generate", "MODEL", "--tokens", "2", "--beams", "2", "--seed", "1"), "draws nothing"),
    (("generate", "MODEL", "--tokens", "2", "--count", "0"), "--count 0: generate at least 1"),
    (("generate", "MODEL", "--tokens", "2", "--count", "9"), "generate at most 8"),
    (("generate", "MODEL", "--tokens", "2", "--count", "200000"), "at most 10,000"),
    (
        ("generate", "MODEL", "--tokens", "2", "--count", "2", "--eos", "99"),
        "--eos 99: there is no",
    ),
    (("generate", "MODEL", "--tokens", "99", "--count", "2"), "there is no token 99"),
    (("generate", "MODEL", "--count", "2"), "needs an input"),
    (("generate", "IDS", "--tokens", "7", "--count", "1"), "--tokens: there is no token 7"),
    (("open", "MODEL", "--tokens", "2", "--generate", "9"), "--generate 9: the prompt has 1 token"),
    (("generate", "IDS", "--count", "2"), "generate at most 1"),
    (("generate", "IDS", "--text", "a"), "--text is for models"),
    (("generate", "HOMEWORK"), "a head is needed"),
    (("generate", "GPT"), "give ids and their table W_E"),
    (("open", "MODEL", "--tokens", "2", "--beams", "2"), "--beams needs --generate"),
    (
        ("open", "MODEL", "--tokens", "2", "--generate", "2", "--layer", "0"),
        "--layer and --generate",
    ),
]


@pytest.mark.parametrize(("asked", "said"), mostly_slow([pytest.param(*p) for p in REFUSED]))
def test_impossible_requests_are_refused(
    asked: tuple[str, ...], said: str, attncalc: Command
) -> None:
    places = {"MODEL": MODEL, "IDS": IDS}
    places |= {"HOMEWORK": sample("self").path, "GPT": sample("gpt").path}
    run = attncalc(*(str(places.get(each, each)) for each in asked))
    assert run.code == 2
    assert said in run.err
    assert run.out == ""


def test_a_mask_of_the_given_tokens_is_refused() -> None:
    problem = read_problem(IDS)
    with pytest.raises(InputError, match="ignore is about the given tokens alone"):
        generate(Problem(**{**SHARED, **fields_of(problem), "ignore": [0, 1, 0]}), 1)


def fields_of(problem: Problem) -> dict[str, Any]:
    names = ("ids", "W_E", "W_Q", "W_K", "W_V", "W_1", "W_2", "tied")
    return {name: getattr(problem, name) for name in names}
