"""Names of files, keys and blocks: recognized as in texts, but only without other words."""

import re
from functools import lru_cache

from attncalc.reading.naming.at_hand import names_there
from attncalc.reading.naming.name import Name, head_in, name_in
from attncalc.reading.naming.vocabulary import says_only_a_step
from attncalc.reading.plain.tex import without_tex

LONGEST = 80
_ROOT = re.compile(
    r"[_ ](?:(?:over|by|div|divided_by|durch|par|por)_)?(?:sqrt|root)_?(?=\d|d_?k)", re.I
)
"""A quotient in a key: score_sqrt2, scores_over_sqrt_dk."""


def name_of_key(text: str) -> Name | None:
    r"""Return the name that a key is, if it contains nothing else.

    Examples
    --------
    >>> name_of_key("S^{\\mathrm{scaled}}").matrix, name_of_key("A head 2")[:2]
    ('S_scaled', ('A', 2))
    >>> name_of_key("attention weights").matrix, name_of_key("weights of my dog")
    ('A', None)
    """
    return _name_of_key.__wrapped__(text) if names_there() else _name_of_key(text)


@lru_cache(maxsize=16_384)
def _name_of_key(text: str) -> Name | None:
    if len(text) > LONGEST:
        return None
    clean = _ROOT.sub(" / √", without_tex(text).text.strip(" `*#:._-"))
    if clean.isdigit() or not clean:
        return None
    name = name_in(clean) or name_in(clean.replace("_", " "))
    if name is None or name.weak:
        return None
    if name.how == "words" and not says_only_a_step(clean):
        return None
    return name if name.head or not head_in(clean) else name._replace(head=head_in(clean))
