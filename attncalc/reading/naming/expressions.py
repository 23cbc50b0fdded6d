r"""Names as expressions: `QK^T`, `X W_Q`, `softmax(QK^T/√d_k)`, `softmax(…) V`."""

import re

from attncalc.reading.plain.marks import GRID

LONGEST = 200
_NOISE = re.compile(r"[\s·*@×()\[\]{},;.$\\|_&%]|\bnp\b|\bdot\b|matmul|\bMMULT\b")
_CODE = re.compile(r"@|%\*%|\w \. \w|\bmatmul\b|\bdot\(|\bexp[\[(]|\bMMULT\(", re.I)
_PRODUCT = re.compile(r"\s[@.]\s\w|%\*%|\b(?:mat|m)mul[tl]?\(|\bdot\(|&\*|\bprod\w{0,9}\(", re.I)
"""Where a program multiplies matrices."""
_IN_CODE = {"A": "weights|attn|attention|alphas?|probs?|att|attention_weights|attn_weights|a|w|p",
            "S": "scores|logits|scaled_scores|attn_scores|s", "V": "values|value|v",
            "Q": "queries|query|q", "K": "keys|key|k", "C": "c", "W_O": "w_?o|W_?o"}  # fmt: skip
_VARIABLES = tuple((re.compile(rf"\b(?:{words})\b"), name) for name, words in _IN_CODE.items())
_EVALUATED = re.compile(r"^(?:evalf|N|simplify|expand)(?:\[\d{1,2}\])?[\[(]([^\[\]]{1,80})[\])]$")
_ROUNDED = re.compile(r"\b[Rr]ound[(\[]([A-Za-z]\w{0,20}), ?[\d.]{1,8}[)\]]")
_TRANSPOSED = re.compile(r"([A-Za-z]\w{0,20}), ?transpose_b ?= ?True\)")
_ROOT = re.compile(
    r"(?:√|sqrt)(?:d(?:k|im|model|v)?|n|\d+)?|(?<=/)(?:dk|d|\d+)$|(?<=/)dk?(?=[A-Z])"
)
_SCORES = r"(?:Q\d?K\d?(?:\^?T|'|t)?|K\^?TQ|KQ\^?T|S|M)"
_JOINED = r"(?:[Cc]oncat|(?:Join|cbind|hcat|horzcat)(?=[HhOZ]\d)|(?<!\d)(?:(?:[HhOZ]|head)\d){2})"
"""The heads side by side, in any order: concat(…), [H_1, H_2], or [O_2 | O_1]."""
_PATTERNS = (
    (re.compile(r"(?:Map)?[eE]xp[^/]{1,80}+/.{0,80}?(?:sum|rowSums|∑|Total)"), "A"),
    (re.compile(r"^soft(?:[aA]rg)?[mM]ax.*V\d?$"), "O"),
    (re.compile(r"[Aα]V\d?$|alphaV$|VA(?:\^T)?$|(?i:attention|attn)QKV$"), "O"),
    (re.compile(r"(?:row)?softmax.*$|softargmax.*$"), "A"),
    (re.compile(rf"^{_JOINED}.*W\^?O.*$|CW\^?O(?:\+?b\^?O)?$|HW\^?O(?:\+?b\^?O)?$"), "O"),
    (re.compile(rf"{_JOINED}(?:(?:[HhOZ]|head)\d)*\d?$|[Cc]oncat.*$"), "C"),
    (re.compile(rf"{_SCORES}(?:/√)?\+(?:M|mask|bias|B)$|mask{_SCORES}.*$"), "S_masked"),
    (re.compile(rf"{_SCORES}/√?$|1/√{_SCORES}$|√\^-1{_SCORES}$"), "S_scaled"),
    (re.compile(r"Q\d?K\d?(?:\^?T|'|t)$|K\^?TQ$|KQ\^?T$|Q\d?K\d?$"), "S"),
)
_PROJECTED = re.compile(
    r"X\d?P?W\^?(?P<a>[QKVqkv])\^?T?(?:\+b\^?[QKVqkv])?$|W\^?(?P<b>[QKVqkv])\^?T?X\d?(?:\+b\^?[QKVqkv])?$"
)


def step_of_expression(text: str) -> str | None:
    r"""Return the step that an expression computes, or None.

    Examples
    --------
    >>> step_of_expression("Q @ K.T"), step_of_expression("softmax(QK^T/√d_k) V")
    ('S', 'O')
    >>> step_of_expression("X W_Q"), step_of_expression("nothing of this kind")
    ('Q', None)
    """
    if len(text) > LONGEST:
        return None
    skeleton = _skeleton(text.strip())
    if projected := _PROJECTED.match(skeleton):
        return (projected["a"] or projected["b"]).upper()
    return next((step for pattern, step in _PATTERNS if pattern.match(skeleton)), None)


def is_product(text: str) -> bool:
    """Return whether a line of a program multiplies matrices: single letters in it are no names.

    >>> is_product("u @ V"), is_product("MMULT(B2:C4;E2:F3)"), is_product("Q (3 x 2)")
    (True, True, False)
    """
    return len(text) < LONGEST and _PRODUCT.search(text) is not None


def _skeleton(text: str) -> str:
    """Return an expression without signs of products, brackets and blanks."""
    text = _TRANSPOSED.sub(r"\1^T)", _ROUNDED.sub(r"\1", _EVALUATED.sub(r"\1", text)))
    clean = GRID.sub("M", text).replace("ᵀ", "^T").replace("K.T", "K^T").replace("K.t()", "K^T")
    clean = re.sub(r"\b(?:[Tt]ranspose|t)[(\[](\w)[)\]]", r"\1^T", clean)
    if _CODE.search(clean):
        for variable, name in _VARIABLES:
            clean = variable.sub(name, clean)
    clean = _NOISE.sub(
        "", re.sub(r"\b(?:np|torch|F|nn|jnp|tf|jax|sp)\.", "", clean).replace("^{T}", "^T")
    )
    clean = re.sub(r"^(?:SOFTMAX|Softmax|softMax|SoftMax|σ(?!\^))", "softmax", clean)
    clean = clean.replace("÷", "/").replace("dim=-1", "").replace("axis=-1", "")
    return _ROOT.sub("√", clean) if "√" in clean or "/" in clean or "sqrt" in clean else clean
