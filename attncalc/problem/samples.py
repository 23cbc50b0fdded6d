"""The bundled problems, one for every form of input, and worked answers."""

from dataclasses import dataclass
from pathlib import Path, PurePath

from attncalc.base.errors import InputError


@dataclass(frozen=True)
class Sample:
    """A bundled file or folder: its name, its kind, and what it shows."""

    file: str
    kind: str
    shows: str

    @property
    def name(self) -> str:
        """Its name."""
        return PurePath(self.file).stem

    @property
    def path(self) -> Path:
        """Its path: inside the installed package, or in the checkout beside it."""
        package = Path(__file__).parent.parent
        installed = package / "samples" / self.file
        return installed if installed.exists() else package.parent / "samples" / self.file


_PAPERS = {
    "cosine": "cosine attention (Swin V2)",
    "linear": "linear attention: elu + 1 in place of the softmax",
    "linear-causal": "linear attention with a causal mask",
    "linear-rnn": "the same, token by token",
    "sigmoid": "sigmoid in place of the softmax",
    "differential": "the difference of two softmax maps",
    "latent": "multi-head latent attention (DeepSeek-V2)",
    "talking-heads": "heads that mix before and after the softmax",
    "gaussian": "a Gaussian kernel of the distance",
    "off-by-one": "a softmax with 1 added to its sum",
    "top-k": "the two largest scores of each row",
    "lightconv": "a normalized kernel over three tokens",
    "gated-output": "outputs times a gate",
    "gated-delta": "the gated delta rule (Kimi Linear)",
    "gated-linear": "linear attention with gates",
    "retention": "RetNet: weights that decay",
    "retention-rnn": "the same, token by token",
    "mamba": "Mamba: a state with input-dependent steps",
    "lstm": "an LSTM: gates, cell and hidden state",
    "gru": "a GRU: two gates and a state",
    "min-gru": "a GRU whose gates read only the token",
    "mlstm": "the matrix memory of xLSTM",
    "slstm": "the scalar memory of xLSTM, with recurrent gates",
    "alignment": "a recurrent decoder with attention",
    "aft-simple": "a mean of values by their keys",
    "aft": "the same, with a bias of positions",
    "rwkv": "a mean of values that decays",
    "relative": "positions relative to the query, in keys and values",
    "forgetting": "a forget gate in the scores",
    "stick-breaking": "stick-breaking weights",
    "hopfield": "stored patterns, and their energy",
    "graph": "nodes that attend to their neighbors",
    "linformer": "keys and values projected to two",
    "performer": "random features of the softmax",
    "fnet": "the Fourier transform in place of attention",
}
"""What the equations of papers compute, by the name of the sample."""
GROUPS = {
    "Homework": (
        Sample("self.json", "self", "homework 1: three tokens, each step rounded (JSON)"),
        Sample("cross.json", "cross", "homework 2: two tokens attend to four, a tie (JSON)"),
    ),
    "Forms of a problem": (
        Sample("sentence.json", "self", "labels, fractions, scaled, three decimals (JSON)"),
        Sample(
            "translation.json", "cross", "labels of both sides, the homework's key names (JSON)"
        ),
        Sample("blocks.csv", "self", "one CSV file of named blocks, labels in a column"),
        Sample("decimal-comma.csv", "cross", "semicolons and decimal commas, as in a spreadsheet"),
        Sample("folder", "self", "a folder with a CSV file for each matrix"),
    ),
    "Kinds of attention": (
        Sample("causal.json", "self", "a causal mask"),
        Sample("masks.json", "cross", "ignored padding, and a bias with -inf"),
        Sample("heads.json", "self", "two heads, biases, an output projection"),
        Sample("grouped.json", "self", "four query heads, two key and value heads, averaged"),
        Sample("positions.json", "self", "sinusoidal positions"),
        Sample("rope.json", "self", "rotary positions, a softcap"),
        Sample("columns.json", "self", "tokens as columns, hardmax"),
        Sample("torch.json", "self", "weights stored (out, in), scores over their sum"),
        Sample("additive.json", "cross", "additive scores: v tanh(q W + k W), no values"),
        Sample("softmax.json", "cross", "the softmax of given scores"),
    ),
    "Layers": (
        Sample("encoder.json", "encoder", "a layer: residual sums, LayerNorm, ReLU"),
        Sample("decoder.json", "decoder", "a layer that reads the outputs of an encoder"),
        Sample("gpt.json", "decoder", "a decoder without an encoder: GELU, and the next token"),
        Sample("cache.json", "decoder", "one more token, after the keys and values of two"),
        Sample("vit.json", "vit", "an image in patches, and the attention of its class token"),
        Sample("ids.json", "decoder", "token ids, and a head tied to their table"),
    ),
    "Backpropagation": (
        Sample("gradients.json", "self", "homework 1 and all its gradients"),
        Sample(
            "gradients-target.json",
            "cross",
            "homework 2 with a target: L, its gradients, a gradient step",
        ),
        Sample("train-copy.json", "self", "two tokens that learn to be copied"),
        Sample("train-translation.json", "decoder", "three words and their translation"),
    ),
    "Questions of theory": (
        Sample("temperature.json", "cross", "effect of the scale on the weights"),
        Sample("copy.json", "cross", "a query that copies one value"),
        Sample("average.json", "cross", "a query that averages two values"),
        Sample("two-queries.json", "cross", "two heads, one for each value, averaged"),
        Sample("long-key.json", "cross", "effect of a longer key on the average"),
        Sample("noisy-key.json", "cross", "effect of noise along a key on the average"),
        Sample("identity.json", "self", "self-attention that changes nothing"),
        Sample("permutation.json", "self", "self-attention that reorders its tokens"),
        Sample("running-linear.json", "self", "self-attention that is a 1 × 1 convolution"),
        Sample("convolution.json", "self", "self-attention that is a convolution with kernel 3"),
        Sample(
            "convolution-2d.json", "self", "nine heads that are a 3 × 3 convolution of an image"
        ),
    ),
    "Equations of papers": tuple(
        Sample(f"equations/{name}.json", "self", shows) for name, shows in _PAPERS.items()
    ),
    "Counting": (
        Sample("counts.json", "self", "asks for parameters, multiply-adds and the cache"),
    ),
}
"""The problems, by purpose."""

_NOISE = '"K[a] ~ N(mu, 0.01 I + 1/2 mu muT)" --draws 1000 --seed 1'
COMMANDS = {
    "temperature": 'attncalc vary temperature.json "scale=0.1:10:log" --watch "A[1,:]"',
    "copy": 'attncalc aim copy.json "v_k2" --beta 30',
    "average": 'attncalc aim average.json "1/2 v_a + 1/2 v_b" --beta 20',
    "two-queries": f"attncalc simulate noisy-key.json two-queries.json {_NOISE}",
    "long-key": 'attncalc vary long-key.json "K[a] *= 0:3" --watch "A[1,:]"',
    "noisy-key": f"attncalc simulate noisy-key.json {_NOISE}",
    "identity": "attncalc explain identity.json",
    "permutation": "attncalc explain permutation.json",
    "running-linear": "attncalc explain running-linear.json",
    "convolution": "attncalc explain convolution.json",
    "convolution-2d": "attncalc explain convolution-2d.json",
}
"""The commands for questions of theory, each in the folder with the sample."""

SAMPLES = tuple(each for group in GROUPS.values() for each in group)

ANSWERS = (
    Sample("answers", "answer", "a folder of answers to homework 1, for attncalc check"),
    Sample("answers/hand.json", "answer", "solved by hand, all correct (JSON)"),
    Sample(
        "answers/full-precision.md", "answer", "correct, but rounded only at the end (Markdown)"
    ),
    Sample("answers/lost-sign.tex", "answer", "a sign error in Q, followed by later steps (LaTeX)"),
    Sample("answers/swapped-digits.csv", "answer", "swapped digits in S (CSV)"),
    Sample("answers/dropped-term.m", "answer", "half a dot product (MATLAB)"),
    Sample("answers/transposed-scores.txt", "answer", "K Qᵀ for Q Kᵀ (Python)"),
    Sample("answers/worksheet.txt", "answer", "a worksheet, filled in; its columns sum to 1"),
    Sample("answers/unfinished.json", "answer", "with fractions, blanks and ? (JSON)"),
)
"""Worked answers to the sample "self", correct and wrong."""

MODELS = (Sample("model", "model", "a GPT-2 with two layers and twelve words, for attncalc open"),)
"""Models in the format of hubs: folders to open."""


KERNELS = (
    Sample("kernels", "kernel", "attention in NumPy, right and with a bug, for attncalc conform"),
)
"""Attention kernels: folders of Python files."""
ALL = {each.name: each for each in (*SAMPLES, *ANSWERS, *MODELS, *KERNELS)}


def sample(name: str) -> Sample:
    """Return the sample of that name, a problem or a worked answer.

    >>> sample("cross").kind
    'cross'
    """
    if name in ALL:
        return ALL[name]
    from difflib import get_close_matches

    near = get_close_matches(name, ALL, 1)
    among = f"did you mean {near[0]}? (attncalc samples lists all)" if near else ", ".join(ALL)
    raise InputError(f'no sample is called "{name}": {among}')
