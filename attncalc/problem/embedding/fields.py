"""The fields of token ids and their table, of a class token, and of the types of tokens."""

from dataclasses import dataclass
from typing import Any

from attncalc.problem.field import LAYERS, MORE, matrix, setting, whole

EMBEDDING = "Layers: embedding"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class EmbeddingFields:
    """Ids, tables and a class token; `Problem` says what they mean."""

    ids: Any = matrix("ids", "Token ids, in place of X: rows of W_E.", MORE, "self")
    W_E: Any = matrix("table", "A table of embeddings, one in each row.", MORE, "self")
    first_id: int = setting(
        0, whole(0, 1), "0 or 1", "0 or 1: the id of the first row of W_E.", MORE, kind="self"
    )
    class_token: Any = matrix("bias", "A token put before the others.", EMBEDDING, LAYERS)
    type_ids: Any = matrix("ids", "The type of each token: rows of W_type.", EMBEDDING, LAYERS)
    W_type: Any = matrix("table", "A table of types, added to tokens.", EMBEDDING, LAYERS)
