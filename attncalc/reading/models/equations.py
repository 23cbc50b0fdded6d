"""What some families compute by equations of their own, from the keys of a config."""

from collections.abc import Callable
from math import exp
from typing import Any, NamedTuple

from attncalc.reading.models.family import (
    Said,
    a_count,
    a_number_or_none,
    a_window,
    an_activation,
    if_given,
    if_so,
)
from attncalc.reading.models.folder import Config

_ACTIVATED = {
    "gelu": "gelu({0})",
    "gelu-tanh": "0.5 * {0} * (1 + tanh(sqrt(2 / pi) * ({0} + 0.044715 * {0} ** 3)))",
    "relu": "relu({0})",
    "silu": "silu({0})",
}
_OF_LENGTH_1 = "{0}[{1},{2}] / sqrt(sum({0}[{1},e] ** 2 for e in {3}) / {3} + {4!r})"
_NORMED = "({0}[{1},a] - mu_{2}[{1}]) / sqrt(var_{2}[{1}] + {3!r}) * gain_{2}[a] + bias_{2}[a]"


def _normed(read: str, row: str, name: str, eps: float) -> list[str]:
    """Return the equations of a normalization, without its title."""
    return [
        f"mu_{name}[{row}] = sum({read}[{row},a] for a in d) / d",
        f"var_{name}[{row}] = sum(({read}[{row},a] - mu_{name}[{row}]) ** 2 for a in d) / d",
        f"N_{name}[{row},a] = {_NORMED.format(read, row, name, eps)}",
    ]


def _is_biased(config: Config) -> bool:
    return config.is_so("attention_bias", False)


def _made(x: str, read: str, config: Config, *, has_heads: bool) -> str:
    """Return the projection of an input as queries, keys or values, of one head or of several."""
    own, row = ("h,", "h,0,") if has_heads else ("", "")
    bias = f" + b_{x}[{row}c]" * _is_biased(config)
    return f"sum({read}[i,a] * W_{x}[{own}a,c] for a in d){bias}"


def clipped(key: str, *normed: str, key_heads: str = "num_key_value_heads") -> Said:
    """Return a reader of the equations of clipped queries, keys and values, if a key says so.

    normed: those that are normalized before, by the mean square over all heads.
    key_heads: the key of the number of heads of keys.
    """

    def says(config: Config, layer: int) -> list[str]:
        most = float(a_number_or_none(key)(config, layer))
        eps, lines = float(config.number("rms_norm_eps", 0)), []
        for x, title in (("Q", "queries"), ("K", "keys"), ("V", "values")):
            has_heads = x == "Q" or config.count_or_none(key_heads) != 1
            step, right = x, _made(x, "N_1", config, has_heads=has_heads)
            h = "h," * has_heads
            if x in normed:
                step = f"{x}_norm"
                row = "h,0,c" if has_heads else "c"
                right = f"gamma_{x}[{row}] * {x}[{h}i,c] / sqrt(ms_{x}[{h}i,0] + {eps})"
            lines.append(f"{step}[{h}i,c] = min(max({right}, -{most}), {most})  # {title}, clipped")
        return lines

    return if_given(key, says)


def normed_after_rope(gain: str = "") -> Said:
    """Return a reader of scores whose queries and keys are normalized after rope.

    gain: the start of the names of their gains; "" for none.
    """

    def says(config: Config, layer: int) -> list[str]:
        heads, eps = config.count("num_attention_heads"), config.number("rms_norm_eps")
        keys = config.count_or_none("num_key_value_heads") or heads
        one = gain and f"{gain}{{0}}[c] * "
        one += _OF_LENGTH_1.format("{0}_rot", "{1}i", "c", "d_k", eps)
        of_key, at = ("h,", f"h // {heads // keys},") if keys > 1 else ("", "")
        return [
            f"Q_normed[h,i,c] = {one.format('Q', 'h,')}  # queries, normalized",
            f"K_normed[{of_key}i,c] = {one.format('K', of_key)}  # keys, normalized",
            f"S[h,i,j] = sum(Q_normed[h,i,c] * K_normed[{at}j,c] for c in d_k)",
        ]

    return says


def normed_over_heads(config: Config, layer: int) -> list[str] | None:
    """Return the queries and keys of ESM C, normalized by the mean and variance over all heads."""
    if (heads := config.count("num_attention_heads")) == 1:
        return None
    lines, width = [], config.count("hidden_size") // heads
    for x, title in (("Q", "queries"), ("K", "keys")):
        one = f"{x}[c // {width},i,c % {width}]"
        lines += [
            f"mean_{x}[i] = sum({one} for c in d) / d  # mean of {title} over all heads",
            f"spread_{x}[i] = sum(({one} - mean_{x}[i]) ** 2 for c in d) / d  # variance",
            f"{x}_norm[h,i,c] = ({x}[h,i,c] - mean_{x}[i]) / sqrt(spread_{x}[i] + 1e-05)"
            f" * gamma_{x}[h,0,c]  # {title}, normalized",
        ]
    return lines


def _projected(read: str, config: Config) -> str:
    """Return the outputs of an attention, from what its heads give after some change."""
    bias = " + b_O[a]" * _is_biased(config)
    return f"O[i,a] = sum({read}[i,c] * W_O[c,a] for c in columns({read})){bias}"


def gated(
    function: str = "sigmoid({0})", of_heads: tuple[Any, ...] = (), weights: str = "W_gate"
) -> Said:
    """Return a reader of the outputs of heads that are gated by their inputs, as in AFMoE.

    function: that of a gate.
    of_heads: the values of the key gating for which each head has one gate, and not each column.
    weights: the name of the weights of gates.
    """

    def says(config: Config, layer: int) -> list[str]:
        place = "c // d_v" if config.get("gating", None) in of_heads else "c"
        bias = " + b_gate[c]" * (config.says("linear_num_key_heads") and _is_biased(config))
        gate = function.format(f"sum(N_1[i,a] * {weights}[{place},a] for a in d){bias}")
        return [f"C_gated[i,c] = C[i,c] * {gate}  # heads, gated", _projected("C_gated", config)]

    return says


gated_by_head = if_so(
    "use_attention_gate", gated(of_heads=(None,), weights="W_hgate"), default=True
)
"""The outputs of LFM3, whose heads have one gate each."""


def differential(config: Config, layer: int) -> list[str]:
    """Return the outputs of DiffLlama: differences of pairs of heads, normalized.

    Ye et al., *Differential Transformer* (2024). Each head weighs two halves of the values.
    """
    heads, width = config.count("num_attention_heads"), "2 * d_k"
    keys, start = config.count("num_key_value_heads"), 0.8 - 0.6 * exp(-0.3 * layer)
    half, group = keys // 2, heads // keys
    value = f"V[h // {group} % {half} + c // d_k * {half},j,c % d_k]"
    learned = "exp(sum(lambda_q{0}[e] * lambda_k{0}[e] for e in d_k))"
    share = f"({learned.format(1)} - {learned.format(2)} + {start!r})"
    entry = "H_diff[c // ({0}),i,{1}]".format
    norm = f"sqrt(sum({entry(width, 'e')} ** 2 for e in {width}) / ({width}) + "
    norm += f"{config.number('rms_norm_eps')!r})"
    return [
        f"H_both[h in {heads},i in n,c in {width}] = sum(A[h,i,j] * {value} for j in m)"
        "  # weighed values, both halves",
        f"H_diff[h in {heads // 2},i in n,c in {width}] = H_both[h,i,c] - {share} * "
        f"H_both[h + {heads // 2},i,c]  # differences of heads",
        f"C[i in n,c in {heads} * d_k] = {1 - start!r} * {entry(width, f'c % ({width})')} / {norm}"
        "  # normalized, side by side",
    ]


def with_dynamic_mask(config: Config, layer: int) -> list[str]:
    """Return the scores of Doge, with a bias of keys by their values, and its scaled residuals.

    Its mask drops keys beyond so many of the largest biases.
    """
    heads, keys = config.count("num_attention_heads"), config.count("num_key_value_heads")
    value, bias = "V[f,j,c]" if keys > 1 else "V[j,c]", " + b_mask[g]" * _is_biased(config)
    row = f"sum({value} * W_mask[g,f * d_v + c] for c in d_v)"
    return [
        f"step[g in {keys},j in m] = sum({row} for f in {keys}){bias}  # steps of the mask",
        "mask[g,j] = exp(strength[g] * (max(step[g,j], 0) + log(1 + exp(-abs(step[g,j])))))",
        f"S_scaled[h,i,j] = S[h,i,j] / sqrt(d_k) + mask[h // {heads // keys},j]  # with the mask",
        "R_1[i,a] = scale_1[a] * X[i,a] + O[i,a]  # sum with scaled inputs",
        "Y[i,a] = scale_2[a] * R_1[i,a] + F_2[i,a]  # sum with scaled inputs",
    ]


def normed_before_places(side: str) -> Said:
    """Return a reader of the inputs of the decoder of Blenderbot small: normalized, and positions.

    side: the end of the names of its tokens and positions: 1 beside an encoder.
    """

    def says(config: Config, layer: int) -> list[str] | None:
        *moments, normed = _normed(f"X{side}", "i", "E", 1e-5)
        normed = normed.replace("gain_E", "gamma_E").replace("bias_E", "beta_E")
        lines = [*moments, f"{normed} + P{side}[i,a]  # normalized tokens, with positions"]
        return None if layer else lines

    return says


def sparsely_mixed(config: Config, layer: int) -> list[str]:
    """Return the shares of two experts of PhiMoE, each of those that are not much worse.

    Liu et al., *GRIN* (2024).
    """
    most = 2 * config.number("router_jitter_noise")

    def share(best: str, among: str) -> str:
        of_each = f"abs(max(abs(E_logits[i,f]), {best}))"
        near = f"({best} - E_logits[i,f]) / {of_each} <= {most!r}"
        return f"1 / sum(exp(E_logits[i,f] - {best}) for f in columns(E_logits) if {near}{among})"

    other = "E_logits[i,f] < E_first[i]"
    return [
        "E_first[i] = max(E_logits[i,f] for f in columns(E_logits))  # best expert",
        f"E_second[i] = max(E_logits[i,f] for f in columns(E_logits) if {other})  # second expert",
        f"E_top[i,e] = {share('E_first[i]', '')} if E_logits[i,e] == E_first[i] else "
        f"({share('E_second[i]', f' and {other}')} if E_logits[i,e] == E_second[i] else 0)"
        "  # shares",
    ]


def by_xielu(config: Config, layer: int) -> list[str]:
    """Return the activation of Apertus, with learned curvature on both sides of 0.

    Huang and Schlag, *Deriving Activation Functions Using Integration* (2024).
    """
    x, beta = "F_1[i,u]", "xielu_beta"
    right, left = (f"log(1 + exp(xielu_alpha_{side}))" for side in "pn")
    below = f"(exp(min({x}, xielu_eps)) - 1 - {x}) * ({beta} + {left}) + {beta} * {x}"
    return [f"G[i,u] = {right} * {x} ** 2 + {beta} * {x} if {x} > 0 else {below}  # xIELU"]


def normed_within(config: Config, layer: int) -> list[str]:
    """Return what BitNet normalizes within its parts: heads side by side, and hidden features."""
    one = "gain_{0}[c] * "
    one += _OF_LENGTH_1.format("{0}", "i", "c", "columns({0})", config.number("rms_norm_eps"))
    return [
        f"C_norm[i,c] = {one.format('C')}  # heads side by side, normalized",
        _projected("C_norm", config),
        f"G_norm[i,c] = {one.format('G')}  # hidden features, normalized",
        "F_2[i,a] = sum(G_norm[i,c] * W_2[c,a] for c in columns(G_norm))",
    ]


def tuned_or_chunked(is_turned: Said) -> Said:
    """Return a reader of the scores of Llama 4: in chunks, or larger for later queries.

    is_turned: reads whether a layer has rope; without kinds of layers, these have chunks.
    """

    def says(config: Config, layer: int) -> list[str] | None:
        size = config.count_or_none("attention_chunk_size")
        is_chunked = is_turned(config, layer) and size is not None
        if config.says("layer_types"):
            kinds = "full_attention", "chunked_attention"
            is_chunked = config.of_layer("layer_types", layer, kinds) == kinds[1]
        if is_chunked and size is None:
            raise config.wrong("attention_chunk_size", size, "the length of chunks")
        within = f" if i // {size} == j // {size} else -inf" if is_chunked else ""
        if not is_turned(config, layer) and config.is_so("attn_temperature_tuning", True):
            floor, scale = config.count("floor_scale", 8192), config.number("attn_scale", 0.1)
            return _tuned(f"(i + 1) // {floor}", scale, within=within)
        one = f"S[h,i,j] / sqrt(d_k){within}"
        return [f"S_scaled[h,i,j] = {one}  # within a chunk"] if within else None

    return says


def _tuned(far: str, grows: float, scale: str = "/ sqrt(d_k)", *, within: str = "") -> list[str]:
    tuned = f"log(1 + {far}) * {grows!r} + 1"
    return [f"S_scaled[h,i,j] = S[h,i,j] {scale} * ({tuned}){within}  # tuned by position"]


def tuned_if_long(config: Config, layer: int, scale: Any = None) -> list[str] | None:
    """Return the scores of Ministral 3, larger for queries beyond the original length.

    scale: their factor, if it is another than usual.
    """
    grows = config.number("rope_parameters.llama_4_scaling_beta", 0)
    if not grows:
        return None
    far = f"i // {config.count('rope_parameters.original_max_position_embeddings')}"
    return _tuned(far, grows, *([] if scale is None else [f"* {float(scale)!r}"]))


def with_normed_experts(config: Config, layer: int) -> list[str] | None:
    """Return the outputs of a layer of A.X K1, whose experts are normalized after their sum."""
    if config.of_layer("mlp_layer_types", layer) != "sparse":
        return None
    one = _OF_LENGTH_1.format("F_2", "i", "a", "d", config.number("rms_norm_eps"))
    return [f"Y[i,a] = R_1[i,a] + gain_moe[a] * {one}  # with experts, normalized"]


CHOSEN_BY_LOGITS = (
    "E_choice[i,e] = E_logits[i,e] + b_choice[e]  # logits, with the bias of choice",
)
"""What Kolibri chooses experts by: logits with the bias of choice, not their shares."""


def with_mean_of_experts(config: Config, layer: int) -> list[str] | None:
    """Return the outputs of a layer of Cohere 2 MoE, the mean of its routed and shared experts."""
    means = config.get("shared_expert_combination_strategy", "average") == "average"
    is_routed = config.of_layer("mlp_layer_types", layer) == "sparse"
    if not (means and is_routed and config.whole("num_shared_experts", 0)):
        return None
    return ["F_2[i,a] = (F_mix[i,a] + F_s2[i,a]) / 2  # mean of routed and shared experts"]


def _plane(config: Config) -> tuple[int, int]:
    """Return the numbers of rows and columns of the patches of an image."""
    pairs = zip(config.sides("image_size"), config.sides("patch_size"), strict=True)
    down, across = (size // patch for size, patch in pairs)
    return down, across


def turned_in_plane(config: Config, layer: int) -> list[str]:
    """Return scores whose queries and keys are turned by rows and columns of patches.

    One half of the pairs of columns turns by rows, the other by columns of an image. In DINOv3,
    places are from -1 to 1, and tokens before the patches are not turned; in MLCD, the class token
    turns by learned angles.
    """
    down, across = _plane(config)
    half = config.count("hidden_size") // config.count("num_attention_heads") // 2
    is_learned = config.says("rope_parameters")
    base = config.number("rope_parameters.rope_theta" if is_learned else "rope_theta")
    before = 1 + config.whole("num_register_tokens", 0)
    first = "class_angle[0,c]" if is_learned else "0"

    def placed(row: str, count: int) -> str:
        return row if is_learned else f"2 * pi * (({row}) * 2 + 1 - {count}) / {count}"

    rows = placed(f"(i - {before}) // {across}", down)
    columns = placed(f"(i - {before}) % {across}", across)
    slower = f"{base!r} ** (c % {half // 2} / {half // 2})"
    place = f"({rows} if c < {half // 2} else {columns})"
    return [
        f"angle[i in n,c in {half}] = {first} if i < {before} else {place} / {slower}  # angles",
        *(
            f"{x}_turned[h,i,c] = {x}[h,i,c] * cos(angle[i,c % {half}]) + ({x}[h,i,c - {half}] "
            f"if c >= {half} else -{x}[h,i,c + {half}]) * sin(angle[i,c % {half}])  # {x}, turned"
            for x in "QK"
        ),
        "S[h,i,j] = sum(Q_turned[h,i,c] * K_turned[h,j,c] for c in d_k)",
    ]


def biased_in_plane(config: Config, layer: int) -> list[str] | None:
    """Return the scores of BEiT, with a bias for the distance of patches in rows and columns.

    The last three rows of the table are those of the class token. Bao et al., *BEiT* (2021).
    """
    keys = "use_relative_position_bias", "use_shared_relative_position_bias"
    pairs = zip(keys, ("plane", "plane_of_all"), strict=True)
    if not (tables := [table for key, table in pairs if config.is_so(key, False)]):
        return None
    down, across = _plane(config)
    wide = 2 * across - 1
    rows = f"(i - 1) // {across} - (j - 1) // {across} + {down - 1}"
    columns = f"(i - 1) % {across} - (j - 1) % {across} + {across - 1}"
    last = (2 * down - 1) * wide
    of_class = f"({last + 2} if i + j == 0 else ({last} if i == 0 else {last + 1}))"
    slot = f"{of_class} if min(i, j) == 0 else ({rows}) * {wide} + {columns}"
    bias = " + ".join(f"{table}[{slot},h]" for table in tables)
    return [f"S_scaled[h,i,j] = S[h,i,j] / sqrt(d_k) + {bias}  # with biases of distances"]


def normed_mean(which: str, count: str) -> Said:
    """Return a reader of what the head of BEiT or AST reads: the mean of some tokens, normalized.

    which, count: a condition for the place i of a token, and the number of these tokens.
    """

    def says(config: Config, layer: int) -> list[str]:
        *moments, normed = _normed("Y_some", "z", "pool", float(config.number("layer_norm_eps")))
        return [
            f"Y_some[z in 1,a in d] = sum(Y[i,a] for i in n if {which}) / ({count})  # mean",
            *moments,
            f"Y_mean{normed.removeprefix('N_pool')}  # normalized",
        ]

    return says


def by_mean_before_norm(config: Config, layer: int) -> list[str]:
    """Return the classes of CLIP, which read the mean of the patches before the last norm."""
    logit = "sum(Y_mean[z,a] * W_cls[c,a] for a in d) + b_cls[c]"
    mean = "sum(R_2[i,a] for i in n if i > 0) / (n - 1)"
    return [f"Y_mean[z in 1,a in d] = {mean}  # mean of the patches", *_classes(logit, "W_cls")]


def by_first_and_mean(config: Config, layer: int) -> list[str]:
    """Return the classes of DINOv2, which read the class token beside the mean of the patches."""
    d, before = config.count("hidden_size"), 1 + config.whole("num_register_tokens", 0)
    logit = f"sum(Y_both[z,a] * W_cls[c,a] for a in {2 * d}) + b_cls[c]"
    mean = f"sum(Y[i,a] for i in n if i >= {before}) / (n - {before})"
    return [
        f"Y_mean[z in 1,a in d] = {mean}  # mean of the patches",
        f"Y_both[z in 1,a in {2 * d}] = Y[0,a] if a < {d} else Y_mean[z,a - {d}]  # side by side",
        *_classes(logit, "W_cls"),
    ]


def _classes(logit: str, weights: str) -> list[str]:
    return [
        f"logits[z in 1,c in rows({weights})] = {logit}  # logits",
        f"prob[z,c] = softmax(logits[z,k] for k in rows({weights}))[c]  # probabilities",
    ]


def by_first_two(config: Config, layer: int) -> list[str]:
    """Return the classes of DeiT with a teacher: the mean of those of its two learned tokens."""
    one = "sum(Y[{0},a] * W_{1}[c,a] for a in d) + b_{1}[c]".format
    return _classes(f"({one(0, 'first')} + {one(1, 'second')}) / 2", "W_first")


def biased_by_gates(config: Config, layer: int) -> list[str]:
    """Return the scores of WavLM, with biases for distances that gates of queries scale.

    Chen et al., *WavLM* (2022). Far distances share buckets, by logarithms.
    """
    heads, width = config.count("num_attention_heads"), config.count("hidden_size")
    half = config.count("num_buckets", 320) // 2
    most, near = config.count("max_bucket_distance", 800), half // 2
    read = "N_1" if config.is_so("do_stable_layer_norm", False) else "X" if layer else "N_E"
    token = f"{read}[i,h * {width // heads} + c]"

    def gate(first: int) -> str:
        row = f"sum({token} * W_gru[e + {first},c] for c in {width // heads})"
        return f"sigmoid(sum({row} + b_gru[e + {first}] for e in 4))"

    log = f"log(abs(i - j) / {near}) / log({most / near!r}) * {half - near}"
    far = f"{near} + sum(1 for k in {half - near - 1} if k + 1 <= {log})"
    of_distance = f"distances[far[i,j] + ({half} if j > i else 0),h]"
    return [
        f"far[i in n,j in n] = abs(i - j) if abs(i - j) < {near} else {far}  # in buckets",
        f"gate[h in {heads},i in n,z in 1] = 2 + {gate(0)} * ({gate(4)} * gamma_gate[h] - 1)"
        "  # gates of biases",
        f"S_scaled[h,i,j] = S[h,i,j] / sqrt(d_k) + gate[h,i,0] * {of_distance}"
        "  # with gated biases of distances",
    ]


def with_embedding_of_layer(config: Config, layer: int) -> list[str]:
    """Return the values of Gemma 4, normalized, and its outputs, scaled by a learned number.

    A layer that shares keys and values reads the input of the layer whose they are (X_kv). Small
    models also embed each token for each layer.
    """
    eps, lines, read, more = config.number("rms_norm_eps"), [], "N_1", ""
    has_heads = keys_of_gemma_4(config, layer) > 1
    h = "h," * has_heads
    if sharing_layer(config, layer) is not None:
        read, one = "N_kv", _OF_LENGTH_1.format("X_kv", "i", "a", "d", eps)
        lines += [
            f"N_kv[i,a] = gain_kv[a] * {one}  # input of an earlier layer, normalized",
            f"K[{h}i,c] = {_made('K', read, config, has_heads=has_heads)}  # keys",
        ]
    one = _OF_LENGTH_1.format("V_all", f"{h}i", "c", "columns(V_all)", eps)
    lines += [
        f"V_all[{h}i,c] = {_made('V', read, config, has_heads=has_heads)}  # values",
        f"V[{h}i,c] = {one}  # values, normalized",
    ]
    if config.is_so("enable_moe_block", False):
        lines += _beside_experts(config, eps)
    if config.get("hidden_size_per_layer_input", None):
        activated = _ACTIVATED[an_activation("hidden_activation")(config, 0)].format("F_ple[i,u]")
        one = _OF_LENGTH_1.format("X_ple", "i", "u", "columns(X_ple)", eps)
        out = _OF_LENGTH_1.format("O_ple", "i", "a", "d", eps)
        more = " + N_ple[i,a]"
        made = f"gain_begin[u] * {one}"
        if not config.says("embedding_dim"):  # of EmbeddingGemma 2, which embeds tokens once
            made = f"({made} + E_ple[i,u] * sqrt(columns(X_ple))) / sqrt(2)"
        lines += [
            "X_ple[i,u] = sum(X_begin[i,a] * W_begin[u,a] for a in d) / sqrt(d)  # embedded tokens",
            f"P_ple[i,u] = {made}  # embedding of the layer",
            "F_ple[i,u] = sum((R_1[i,a] + N_4[i,a]) * W_ple[u,a] for a in d)",
            f"G_ple[i,u] = {activated} * P_ple[i,u]  # gated",
            "O_ple[i,a] = sum(G_ple[i,u] * W_ple2[a,u] for u in columns(G_ple))  # projected",
            f"N_ple[i,a] = gain_ple[a] * {out}  # normalized",
        ]
    whole = f"R_all[i,a] = R_1[i,a] + N_4[i,a]{more}  # sum of all parts"
    return [*lines, whole, "Y[i,a] = R_all[i,a] * layer_scalar  # scaled"]


def _beside_experts(config: Config, eps: float) -> list[str]:
    """Return the experts of Gemma 4, which read what its feed-forward part does not change."""
    activated = _ACTIVATED[an_activation("hidden_activation")(config, 0)].format("F_gate[e,i,u]")
    count, inner = config.count("num_experts"), config.count("moe_intermediate_size")
    shares = "sum(E_top[i,f] for f in columns(E_top))"
    made = "sum(G_moe[e,i,u] * W_down[e,a,u] for u in columns(G_moe))"

    def normed(name: str) -> str:
        return _OF_LENGTH_1.format(name, "i", "a", "d", eps)

    def projected(first: int) -> str:
        return f"sum(N_moe[i,a] * W_both[e,u + {first},a] for a in d)"

    return [
        f"N_route[i,a] = {normed('R_1')}  # input of the router, normalized",
        "E_logits[i,e] = sum(N_route[i,a] * scale_route[a] * W_route[e,a] for a in d) / sqrt(d)",
        "E_prob[i,e] = softmax(E_logits[i,f] for f in columns(E_logits))[e]",
        "E_better[i,e] = sum(1 for f in columns(E_prob) if E_prob[i,f] > E_prob[i,e])",
        f"E_top[i,e] = E_prob[i,e] if E_better[i,e] < {config.count('top_k_experts')} else 0",
        f"E_share[i,e] = E_top[i,e] / {shares} * scale_experts[e]  # shares of experts",
        "N_moe[i,a] = gain_moe[a] * N_route[i,a]  # input of the experts",
        f"F_gate[e in {count},i in n,u in {inner}] = {projected(0)}  # gates of experts",
        f"F_up[e in {count},i in n,u in {inner}] = {projected(inner)}",
        f"G_moe[e,i,u] = {activated} * F_up[e,i,u]  # hidden features of experts",
        f"F_moe[i,a in d] = sum(E_share[i,e] * {made} for e in {count})  # experts, weighed",
        f"F_all[i,a] = gain_mlp[a] * {normed('F_2')} + gain_moe2[a] * {normed('F_moe')}",
        f"N_4[i,a] = gamma_4[a] * {normed('F_all')}  # both, normalized",
    ]


def keys_of_gemma_4(config: Config, layer: int) -> int:
    """Return the number of key heads of a layer, which layers without windows may have fewer of."""
    own = [f"per_layer_config.{layer}.num_key_value_heads"]
    if a_window(config, layer) is None and config.is_so("attention_k_eq_v", False):
        own.append("num_global_key_value_heads")
    return int(a_count(*own, "num_key_value_heads")(config, layer))


def sharing_layer(config: Config, layer: int) -> int | None:
    """Return the last layer of its kind with keys of its own, for one of Gemma 4 without."""
    kinds = config.get("layer_types")
    first = config.count("num_hidden_layers") - config.whole("num_kv_shared_layers", 0)
    if layer < first:
        return None
    return max((n for n in range(first) if kinds[n] == kinds[layer]), default=None)


def with_relative_keys(config: Config, layer: int) -> list[str]:
    """Return the scores of XLNet, which add products with projected sinusoids of distances.

    Dai et al., *Transformer-XL* (2019). Each product has its own bias of queries.
    """
    heads, d = config.count("n_head"), config.count("d_model")
    angle = "(n - p) / 10000 ** (a % (d // 2) / (d // 2))"
    return [
        f"P_rel[p in 2 * n,a in d] = sin({angle}) if a < {d // 2} else cos({angle})  # distances",
        f"K_rel[h in {heads},p in 2 * n,c in d_k] = sum(P_rel[p,a] * W_rel[a,h,c] for a in d)"
        "  # keys of distances",
        "S_scaled[h,i,j] = sum((Q[h,i,c] + bias_near[h,c]) * K[h,j,c] + (Q[h,i,c] + bias_far[h,c])"
        " * K_rel[h,n + j - i,c] for c in d_k) / sqrt(d_k)  # with distances",
    ]


class Distances(NamedTuple):
    """How DeBERTa scores distances.

    kinds: "K" if queries score keys of distances (c2p), "Q" if keys score their queries (p2c).
    span, most: half of the rows of the table of distances, and the largest distance.
    has_buckets, is_normed, is_shared: whether far distances share rows, by logarithms; whether the
        table is normalized; and whether its projections are those of tokens.
    is_first: whether it is the first version, whose keys of distances have no bias.
    """

    kinds: str
    span: int
    most: int
    has_buckets: bool
    is_normed: bool
    is_shared: bool
    is_first: bool


def distances(config: Config) -> Distances | None:
    """Return how a DeBERTa of any version scores distances; None if it does not."""
    kinds = config.get("pos_att_type", None) or []
    kinds = [each.strip() for each in kinds.lower().split("|")] if isinstance(kinds, str) else kinds
    is_relative = config.is_so("relative_attention", False)
    if not is_relative and not kinds:
        return None
    if not is_relative or sorted(kinds) not in (["c2p"], ["p2c"], ["c2p", "p2c"]):
        raise config.wrong("pos_att_type", kinds, "c2p, p2c or both, with relative_attention true,")
    most = config.get("max_relative_positions", -1)
    most = most if type(most) is int and most > 0 else config.count("max_position_embeddings")
    is_first = config.get("model_type") == "deberta"
    buckets = -1 if is_first else config.number("position_buckets", -1)
    return Distances(
        "".join(x for x, kind in (("K", "c2p"), ("Q", "p2c")) if kind in kinds),
        int(buckets) if buckets > 0 else most,
        most,
        buckets > 0,
        not is_first and "layer_norm" in str(config.get("norm_rel_ebd", "none")),
        not is_first and config.is_so("share_att_key", False),
        is_first,
    )


def disentangled(config: Config, layer: int) -> list[str] | None:
    """Return the scores of DeBERTa: of tokens, and of tokens with distances.

    He et al., *DeBERTa* (2021). Distances beyond half of the buckets are counted by logarithms.
    """
    if (found := distances(config)) is None:
        return None
    span, half = found.span, found.span // 2
    gap = "far[i,j]" if found.has_buckets else "abs(i - j)"
    slot = f"min(max(({gap} if i > j else -{gap}) + {span}, 0), {2 * span - 1})"
    log = f"log(abs(i - j) / {half}) / log({found.most - 1} / {half}) * {half - 1}"
    far = f"abs(i - j) if abs(i - j) <= {half} else {half} + sum(1 for k in {half} if k < {log})"
    made = _normed("E_rel", "p", "rel", float(config.number("layer_norm_eps")))
    tokens = {"K": "Q[h,i,c]", "Q": "K[h,j,c]"}
    products = [f"{tokens[x]} * {x}_rel[h,{slot},c]" for x in found.kinds]
    return [
        *((*made[:2], f"{made[2]}  # distances, normalized") if found.is_normed else ()),
        *([f"far[i in n,j in n] = {far}  # distances in buckets"] if found.has_buckets else ()),
        *map(_projected_distances(config, found), found.kinds),
        f"S_scaled[h,i,j] = (S[h,i,j] + sum({' + '.join(products)} for c in d_k)) "
        f"/ sqrt({1 + len(found.kinds)} * d_k)  # disentangled",
    ]


def _projected_distances(config: Config, found: Distances) -> Callable[[str], str]:
    """Return what makes the equation of the queries or the keys of distances."""
    heads = config.count("num_attention_heads")
    width = config.count("hidden_size") // heads
    table, place = "N_rel" if found.is_normed else "E_rel", f"h * {width} + c"

    def projected(x: str) -> str:
        if found.is_shared:
            return f"{x}_rel[h,p,c] = sum({table}[p,a] * W_{x}[h,a,c] for a in d) + b_{x}[h,0,c]"
        bias = "" if found.is_first and x == "K" else f" + b_pos{x}[{place}]"
        row = f"sum({table}[p,a] * W_pos{x}[{place},a] for a in d)"
        return f"{x}_rel[h in {heads},p,c in {width}] = {row}{bias}"

    return projected


def normed_patches(config: Config, layer: int) -> list[str] | None:
    """Return the first inputs of AIMv2: normalized patches, and positions."""
    one = _OF_LENGTH_1.format("X", "i", "a", "d", config.number("rms_norm_eps"))
    line = f"N_E[i,a] = gamma_E[a] * {one} + P[i,a]  # normalized patches, with positions"
    return None if layer else [line]


def with_three_normed(config: Config, layer: int) -> list[str]:
    """Return the sums of a decoder of T5Gemma, each of whose three parts is normalized."""
    parts = ("R_1", "X1", "self.O"), ("R_2", "R_1", "cross.O"), ("Y", "R_2", "F_2")
    eps = config.number("rms_norm_eps")
    return [
        f"{made}[i,a] = {read}[i,a] + (1 + gain_{at}[a]) * "
        f"{_OF_LENGTH_1.format(part, 'i', 'a', 'd', eps)}  # sum with a normalized part"
        for at, (made, read, part) in enumerate(parts, 1)
    ]


_POOLING = (
    "S_pool[h,z,i] = sum(Q_pool[h,z,c] * K_pool[h,i,c] for c in {width}) / sqrt({width})"
    "  # scaled scores of the pooling",
    "A_pool[h,z,i] = softmax(S_pool[h,z,j] for j in n)[i]  # weights of the pooling",
    "V_all[z in 1,c in d] = sum(A_pool[c // {width},z,i] * V_pool[c // {width},i,c % {width}] "
    "for i in n)  # outputs of its heads",
    "O_pool[z,c] = sum(V_all[z,a] * W_poolO[c,a] for a in d) + b_poolO[c]  # projected",
)
_AFTER_POOLING = (
    "F_pool[z,u] = sum(N_pool[z,a] * W_pool1[u,a] for a in d) + b_pool1[u]  # first projection",
    "G_pool[z,u] = {activated}",
    "F_pre[z,c] = O_pool[z,c] + sum(G_pool[z,u] * W_pool2[c,u] for u in columns(G_pool)) "
    "+ b_pool2[c]  # pooled output",
)


def attention_pooled(config: Config, layer: int) -> list[str]:
    """Return the pooling of SigLIP: a learned query attends to all outputs of the layers.

    Zhai et al., *Scaling Vision Transformers* (2022). One array holds Q, K and V.
    """
    d, heads = config.count("hidden_size"), config.count("num_attention_heads")
    width = d // heads
    activation = an_activation("hidden_act")(config, 0)
    if activation not in _ACTIVATED:
        raise config.wrong("hidden_act", config.get("hidden_act"), " or ".join(_ACTIVATED))
    query, token = ("z in 1", "W_probe[0,a]"), ("i", "Y[i,a]")
    parts = ("Q", *query, "learned query"), ("K", *token, "keys"), ("V", *token, "values")
    projected = []
    for number, (name, rows, read, title) in enumerate(parts):
        place = f"h * {width} + c" + f" + {number * d}" * (number > 0)
        right = f"sum({read} * W_pool[{place},a] for a in d) + b_pool[{place}]"
        left = f"{name}_pool[h in {heads},{rows},c in {width}]"
        projected.append(f"{left} = {right}  # {title} of the pooling")
    *moments, normed = _normed("O_pool", "z", "pool", float(config.number("layer_norm_eps")))
    lines = (*projected, *_POOLING, *moments, f"{normed}  # normalized", *_AFTER_POOLING)
    activated = _ACTIVATED[activation].format("F_pool[z,u]")
    return [each.format(width=width, activated=activated) for each in lines]


def class_pooled(config: Config, layer: int) -> list[str]:
    """Return the pooling of AIMv2: a learned query attends to all outputs of the layers."""
    heads = config.count("num_attention_heads")
    width = config.count("hidden_size") // heads
    place, is_biased = f"h * {width} + c", config.is_so("qkv_bias", False)
    made = (
        f"{x}_pool[h in {heads},i,c in {width}] = sum(Y[i,a] * W_pool{x}[{place},a] for a in d)"
        f"{f' + b_pool{x}[{place}]' * is_biased}  # {title} of the pooling"
        for x, title in (("K", "keys"), ("V", "values"))
    )
    return [
        f"Q_pool[h in {heads},z in 1,c in {width}] = W_probe[z,{place}]  # learned query",
        *made,
        *(each.format(width=width) for each in _POOLING),
        "F_pre[z,c] = O_pool[z,c]  # pooled output",
    ]
