"""A tokenizer in a separate process, with limits: `tokens` starts it, and nothing imports it.

The first line of standard input is JSON: the search path of modules, the limits, and a text or
token ids. The rest is a tokenizer.json. JSON goes to standard output: ids, words and text, or an
error.
"""

import json
import sys
from typing import Any


def main() -> None:
    """Process the request on standard input."""
    asked = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = asked["path"]
    _limit(asked["seconds"], asked["bytes"])
    try:
        answer = json.dumps(_answer(asked, sys.stdin.buffer.read()))
        if len(answer) > asked["most"]:
            answer = json.dumps({"error": "it makes too many tokens, or too long ones"})
    except MemoryError:
        answer = json.dumps({"error": "it needs too much memory"})
    except BaseException as why:  # a panic in Rust is not an Exception
        answer = json.dumps({"error": str(why).partition("\n")[0][:200]})
    sys.stdout.write(answer)


def _limit(seconds: int, size: int) -> None:
    """Limit CPU time and memory; Windows has no such limits."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in (("RLIMIT_CPU", seconds), ("RLIMIT_AS", size), ("RLIMIT_CORE", 0)):
        try:
            _, hard = resource.getrlimit(getattr(resource, kind))
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(getattr(resource, kind), (most, most))
        except (AttributeError, ValueError, OSError):  # not every system has each
            continue


def _answer(asked: dict[str, Any], content: bytes) -> dict[str, Any]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(content)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = asked["ids"]
    if ids is None:
        ids = tokenizer.encode(asked["text"]).ids
    words = [_word(tokenizer, each) for each in ids]
    return {"ids": ids, "words": words, "text": tokenizer.decode(ids)}


def _word(tokenizer: Any, token: int) -> str:
    """Return the text of a token, or its name if it is not text: half a letter, a mark."""
    text: str = tokenizer.decode([token], skip_special_tokens=False)
    if not text.strip() or "\ufffd" in text:
        text = tokenizer.id_to_token(token) or str(token)
    return text


if __name__ == "__main__":
    main()
