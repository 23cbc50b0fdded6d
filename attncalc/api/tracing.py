"""`trace`: a model of PyTorch run once, with the tensors of a layer beside ours, step by step."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc.api.display import Displayed
from attncalc.api.marking import Marking, keyed_dump, rules_from
from attncalc.api.models import Given, Opened
from attncalc.api.objects import MODULES, from_module, unwrapped
from attncalc.api.plain import own_names, plain_problem
from attncalc.api.recording import Recorded, called, first_of_batch, record
from attncalc.api.saving import saved
from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.grading.marking import marked
from attncalc.problem.problem import Problem
from attncalc.reading.answers.expected import MINUS_INFINITY_WRITTEN
from attncalc.solving.plan import plan
from attncalc.writing.reports.trace import Traced, steps_of, trace_document

if TYPE_CHECKING:
    from attncalc.writing.document import Document

LAYER, ATTENTION = "layers.0", "self_attn"
"""Paths that say what a traced layer is, and an attention alone."""
_INPUTS = {
    # arguments of models of transformers, as fields of Given
    "input_ids": "tokens",
    "pixel_values": "image",
    "input_features": "spectrogram",
    "decoder_input_ids": "decoder_tokens",
    "token_type_ids": "type_ids",
}
_MASK, _MASK_OF_DECODER, _EMBEDDED = "attention_mask", "decoder_attention_mask", "inputs_embeds"
_MEMORY = ("encoder_hidden_states", "memory", "key", "value")
"""The arguments of a layer with the tokens of keys, and of values."""
_SHARES = {"bfloat16": 4e-2, "float16": 5e-3, "float32": 2e-5, "float64": 1e-10}


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Displayed):
    """The tensors of a layer beside the steps of its problem.

    It prints as a table of steps, with the first that differs; a notebook displays its page.

    Parameters
    ----------
    problem
        The layer, as attncalc computes it.
    marking
        The comparison, entry by entry.
    tensors
        All recorded arrays, by name: modules within the layer, their inputs, and operations.
    """

    problem: Problem
    marking: Marking
    tensors: Mapping[str, Matrix]

    @property
    def steps(self) -> tuple[Traced, ...]:
        """Every step of the layer: its tensor, and how it differs."""
        return steps_of(self.marking)

    @property
    def first(self) -> Traced | None:
        """The first step that differs; None if none does."""
        return next((each for each in self.steps if each.status == "differs"), None)

    @property
    def agrees(self) -> bool:
        """Whether no tensor differs."""
        return self.marking.is_done

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The tensors that match no step although their names do, each with the reason."""
        return tuple(f"{each.text}: {each.why}" for each in self.marking.answer.unread)

    def _as_document(self) -> "Document":
        return trace_document(self.marking)


def trace(
    model: Any,
    inputs: Any,
    layer: int | str | None = None,
    *,
    config: Any = None,
    problem: Problem | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    **conventions: Any,
) -> Trace:
    """Run a model of PyTorch once, and compare the tensors of a layer with ours, step by step.

    Parameters
    ----------
    model
        A model of `transformers` of a supported family; a MultiheadAttention,
        TransformerEncoderLayer or TransformerDecoderLayer; or a module of your own, whose attention
        has weights with usual names (q_proj, c_attn, qkv, query, w_q). It runs in evaluation mode.
    inputs
        Its inputs: a tensor, an array, token ids, several in a tuple, or arguments by name.
    layer
        The layer: its number, from 0, or the path of its module. By default the last one of a model
        of `transformers`, otherwise the model itself.
    config
        For a model of your own with the names of tensors of a supported family: its config, as in
        `open_model`.
    problem
        The right layer for a module of your own, instead of one with its weights.
    atol, rtol
        The tolerance; by default that of the type of the tensors.
    **conventions
        Fields of `Problem`, as in `open_model`. A module of your own needs those that its modules
        do not state: `causal`, `norm`, `activation`, `positions`.

    Returns
    -------
    Trace
        `trace.first` is the first step that differs, with its causes; `trace.steps` are all steps.

    Raises
    ------
    InputError
        If the model is not supported, cannot be run, or a convention is missing.

    Notes
    -----
    The tokens of the layer are those that the model gives it: earlier layers are not compared. Of a
    batch, the first sequence alone is run.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> trace(torch.nn.MultiheadAttention(4, 2), torch.rand(3, 4)).agrees  # doctest: +SKIP
    True
    """
    own = unwrapped(model)
    if isinstance(own, type) or not hasattr(own, "named_modules"):
        raise InputError(f"{type(own).__name__} is not a PyTorch model: pass one, not its folder")
    if inputs is None or isinstance(inputs, str):
        what = (
            "None: pass the inputs of the model" if inputs is None else "text: pass its token ids"
        )
        raise InputError(f"inputs is {what}")
    if isinstance(inputs, Mapping) and inputs.get("past_key_values") is not None:
        raise InputError(
            "past_key_values: each layer then also reads keys and values of earlier calls: pass "
            "all tokens in one call"
        )
    if not isinstance(layer, int | str | np.integer | None):
        raise InputError(
            f"layer is a {type(layer).__name__}, where a number or the path of a module is needed: "
            "pass several inputs in a tuple"
        )
    inputs, size = first_of_batch(own, inputs)
    if problem is None and (config is not None or hasattr(own, "save_pretrained")):
        found = _of_a_family(own, inputs, layer, config, conventions)
    else:
        found = _of_a_module(own, inputs, layer, problem, conventions)
    if size > 1:
        remarks = (*found.problem.remarks, f"of {size} sequences in the batch, the first alone")
        found = found._replace(problem=replace(found.problem, remarks=remarks))
    return _beside(found, rules_from({"atol": atol, "rtol": rtol}))


class _Run(NamedTuple):
    """A recorded layer, its problem, and the names of tensors with a special meaning."""

    recorded: Recorded
    problem: Problem
    names: Mapping[str, str]
    is_of_a_family: bool = False


def _beside(run: _Run, rules: Any) -> Trace:
    tensors = run.recorded.tensors
    kinds = run.recorded.kinds
    if run.is_of_a_family and {"Q_rot", "angle"} & {each.name for each in plan(run.problem)}:
        kinds = {*kinds, "float32"}  # of these angles, in any model of transformers
    share = max((_SHARES.get(kind, 2e-5) for kind in kinds), default=2e-5)
    key, answer, rules = keyed_dump(
        run.problem, tensors, "the model", rules, run.names, share, run.recorded.known
    )
    return Trace(run.problem, marked(Marking, key, answer, rules), tensors)


def _of_a_family(
    model: Any, inputs: Any, layer: int | str | None, config: Any, conventions: Mapping[str, Any]
) -> _Run:
    """Run a model of transformers, or one with the names of a supported family."""
    if isinstance(layer, str):
        raise InputError("pass the number of a layer, from 0, for a model of a supported family")
    first = str(getattr(model, "main_input_name", "input_ids"))
    if isinstance(inputs, tuple):
        inputs = dict(zip(inspect.signature(model.forward).parameters, inputs, strict=False))
    arguments = dict(inputs) if isinstance(inputs, Mapping) else {first: inputs}
    arguments = {n: each for n, each in arguments.items() if each is not None}
    read = (*_INPUTS, _MASK, _MASK_OF_DECODER)
    arguments |= {n: _batch(each) for n, each in arguments.items() if n in read}
    given = {_INPUTS[n]: as_array(each)[0] for n, each in arguments.items() if n in _INPUTS}
    if (embedded := arguments.get(_EMBEDDED)) is not None:  # only their number is read
        given["tokens"] = [0] * embedded.shape[-2]
    keep, own = (_padding(n, arguments.get(n)) for n in (_MASK, _MASK_OF_DECODER))
    conventions = {**conventions} if keep is None else {**conventions, "keep": keep}
    given |= {} if own is None else {"decoder_ignore": own == 0}
    state = model if config is None else model.state_dict()
    with saved(state, config) as folder:
        opened = Opened(folder, Given(**given))
        number = opened.model.count - 1 if layer is None else layer
        opened.take(conventions)
        fields = opened.layer(opened.model, number)
        _check_positions(arguments.get("position_ids"), fields)
        path, *others = opened.model.places_of(number)
        if others:
            raise InputError(
                f"a layer of {opened.model.family.title} is not a module, so it is not traced"
            )
        module = _module(model, path, opened.model.count)
        by_name = isinstance(inputs, Mapping) or hasattr(model, "main_input_name")
        call = called(model, arguments if by_name else _batch(inputs))
        recorded = record(model, module, call, LAYER)
        tokens = _tokens(recorded, has_memory="cross" in fields)
        if opened.asks and "X" in tokens and len(tokens["X"]) != len(opened.asks):
            raise InputError(
                f"layer {number} reads {len(tokens['X'])} tokens, where the model reads "
                f"{len(opened.asks)}: a model that pads tokens, or keeps them before the batch, is "
                "not traced"
            )
        is_named = opened.model.family.takes == "tokens" and embedded is None
        words = opened.named(opened.asks) if is_named else []
        labels: Any = words if len(words) == len(tokens.get("X", ())) else None
        title = f"{opened.model.family.title}, layer {number}"
        problem = Problem(
            **{**fields, **tokens, "title": title, "labels": labels, "remarks": opened.remarks}
        )
        return _Run(recorded, problem, opened.model.meanings, is_of_a_family=True)


def _padding(name: str, mask: Any) -> Matrix | None:
    """Return where a padding mask has tokens; None without one, or if it has them everywhere."""
    if mask is None:
        return None
    found = as_array(mask)
    if found.ndim != 2:
        raise InputError(
            f"{name} has {found.ndim} axes: it is read as that of padding, (batch, tokens)"
        )
    return None if found[0].all() else found[0]


def _check_positions(given: Any, fields: Mapping[str, Any]) -> None:
    """Refuse positions of rope that are not those of one token after another."""
    if given is None or fields.get("positions") != "rope":
        return
    if (np.diff(as_array(given)) != 1).any():
        raise InputError("position_ids are not those of one token after another: leave them out")


def _of_a_module(
    model: Any,
    inputs: Any,
    layer: int | str | None,
    problem: Problem | None,
    conventions: Mapping[str, Any],
) -> _Run:
    """Run a layer of PyTorch, or a module of a user's own."""
    module = model if layer is None else _module(model, str(layer))
    kind = type(module).__name__
    if kind == MODULES[0] and module is model and not isinstance(inputs, tuple | Mapping):
        inputs = (inputs, inputs, inputs)
    is_layer = kind in MODULES[1:] or any(
        "norm" in name or "mlp" in name or "ln" in name for name, _ in module.named_modules()
    )
    recorded = record(model, module, called(model, inputs), LAYER if is_layer else ATTENTION)
    names = own_names(module)
    if problem is not None:
        return _Run(recorded, replace(problem, **conventions), names)
    if kind not in MODULES:
        said = {**_causal(recorded), **conventions}
        if "remarks" in said and said["causal"] is not True:
            said["remarks"] = ("the module's own scores are causal, and this layer is not",)
        return _Run(recorded, plain_problem(module, _tokens(recorded), said), names)
    attention = module if kind == MODULES[0] else module.self_attn
    tokens = _tokens(recorded, has_memory=True, by_tokens=not attention.batch_first)
    said = {**_masks(recorded, is_decoder=kind == MODULES[2]), **conventions}
    X, X2, X3 = tokens.get("X", tokens.get("X1")), tokens.get("X2"), tokens.get("X3")
    return _Run(recorded, from_module(module, X, X2, X3, **said), {})


def _tokens(
    recorded: Recorded, *, has_memory: bool = False, by_tokens: bool = False
) -> dict[str, Matrix]:
    """Return the fields of the tokens that a layer reads: the first sequence of a batch."""
    floats = {
        name: each
        for name, each in recorded.given.items()
        if getattr(each, "ndim", 0) in (2, 3) and each.is_floating_point() and "mask" not in name
    }
    if not floats:
        raise InputError("the layer reads no tensor of tokens: pass layer=, of a whole model")
    first = next(iter(floats.values()))
    listed = [first, *(floats[n] for n in _MEMORY if n in floats and has_memory)]
    if len(listed) > 1 and listed[-1] is listed[-2]:  # the values are those of the keys
        listed.pop()
    if len(listed) > 1 and listed[-1] is first:
        listed = listed[:1]
    rows = [np.array(as_array(each)) for each in listed]
    one = [each if each.ndim == 2 else each[:, 0] if by_tokens else each[0] for each in rows]
    names = ("X",) if len(one) == 1 else ("X1", "X2", "X3")
    return dict(zip(names, one, strict=False))


def _causal(recorded: Recorded) -> dict[str, Any]:
    """Return that a module is causal, if nothing states it and its own scores show it."""
    for name, scores in recorded.tensors.items():
        if name.endswith("softmax.input()") and scores.shape[-1] == scores.shape[-2] > 1:
            later = np.triu_indices(scores.shape[-1], 1)
            if (scores[..., later[0], later[1]] <= MINUS_INFINITY_WRITTEN).all():
                said = "causal, as the module's own scores are: pass causal=False otherwise"
                return {"causal": True, "remarks": (said,)}
    return {}


def _masks(recorded: Recorded, *, is_decoder: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, given in recorded.given.items():
        if not hasattr(given, "ndim") or "mask" not in name:
            continue
        mask = np.array(as_array(given))
        forbidden = mask if mask.dtype == bool else np.isneginf(mask)
        later = np.tri(*mask.shape[-2:], dtype=np.bool_) == 0
        is_causal = mask.ndim == 2 and np.array_equal(forbidden, later)
        if is_causal and (mask.dtype == bool or not mask[~forbidden].any()):
            found["causal"] = True
        elif is_decoder or mask.ndim > 2:
            raise InputError(f"{name}: of a decoder, and of heads, only a causal mask is read")
        elif "padding" in name:
            found["ignore"] = (mask[0] if mask.ndim == 2 else mask)[np.newaxis] != 0
        else:
            found["ignore" if mask.dtype == bool else "bias"] = mask
    return found


def _module(model: Any, path: str, count: int = 0) -> Any:
    """Return the module of a layer, by the end of its path.

    A model may save its layers under other names: then the one in a list of so many is it.
    """
    named = dict(model.named_modules())
    path = path.rstrip(".")
    ends = [name for name in named if name == path or name.endswith(f".{path}")]
    if not ends and count:
        lists = [n for n, each in named.items() if type(each).__name__ == "ModuleList"]
        lists = [name for name in lists if len(named[name]) == count]
        number = path.rpartition(".")[2]
        ends = [f"{name}.{number}" for name in lists] if len(lists) == 1 else []
    if not ends:
        listed = [name for name in named if name.rpartition(".")[2].isdigit()]
        more = f": it has {', '.join(listed)}" if listed else ""
        raise InputError(f"{type(model).__name__} has no module {path}{more}")
    return named[min(ends, key=len)]


def _batch(inputs: Any) -> Any:
    """Return token ids, or another input, as a batch of one."""
    array = inputs if hasattr(inputs, "ndim") else np.asarray(inputs)
    return array[None] if array.ndim == 1 else array
