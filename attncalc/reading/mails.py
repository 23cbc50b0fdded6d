"""The text of a saved mail (.eml) that is encoded, or has several parts."""

import re

from attncalc.base.errors import InputError

_ENCODED = re.compile(
    rb"^(?:Content-Transfer-Encoding:\s*(?:quoted-printable|base64)|Content-Type:\s*multipart/)",
    re.IGNORECASE | re.MULTILINE,
)
MOST_HEADERS = 65_536
"""The largest number of bytes in which the headers are looked for."""
MOST_PARTS = 20
"""The largest number of parts with parts of their own: reading takes time for each level."""


def is_encoded(data: bytes) -> bool:
    """Return whether bytes are a mail whose body is not its plain text."""
    head = data[:MOST_HEADERS].replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return re.match(rb"[A-Z][\w-]{1,40}:", head) is not None and _ENCODED.search(head) is not None


def text_of_mail(data: bytes, place: str) -> tuple[str, tuple[str, ...]]:
    """Return the text or page of HTML in a mail, and the names of its attachments.

    Raises InputError if it has neither.
    """
    from email import message_from_bytes, policy
    from email.message import EmailMessage

    if data.count(b"multipart/") > MOST_PARTS:
        raise InputError(f"{place}: a mail with more than {MOST_PARTS} parts in parts")
    try:
        message = message_from_bytes(data, policy=policy.default)
        assert isinstance(message, EmailMessage)
        body = message.get_body(("plain", "html"))
        text = "" if body is None else str(body.get_content())
        names = tuple(each.get_filename("without a name") for each in message.iter_attachments())
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{place}: the body of this mail cannot be decoded: {error}") from None
    if not text.strip():
        raise InputError(f"{place}: a mail without text: save what is attached, and mark that")
    return text.replace("\r\n", "\n"), names
