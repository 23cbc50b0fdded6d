"""Answers in saved mails whose text is encoded, or that have several parts."""

from email.message import EmailMessage
from email.policy import SMTP

import pytest
from answer_corpus import expected

from attncalc.base.errors import InputError
from attncalc.reading.answers import read_answer_bytes

TEXT = "Grüße,\n\nq1 = (1 ; 3)\nq2 = (-1 ; 1)\nq3 = (0 ; 2)\n"


def _mail(text: str, **how: str) -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["Subject"] = "Ada <ada@example.org>", "Übung 3"
    mail.set_content(text, **how)
    return mail


def _queries(mail: EmailMessage | bytes) -> object:
    data = mail if isinstance(mail, bytes) else mail.as_bytes()
    return read_answer_bytes(data, "answer.eml", expected("self")).matrices["Q"].values.tolist()


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
def test_the_text_of_a_mail_is_decoded(encoding: str) -> None:
    assert _queries(_mail(TEXT, cte=encoding)) == [[1, 3], [-1, 1], [0, 2]]


def test_the_charset_of_a_mail_is_used() -> None:
    assert _queries(_mail(TEXT, charset="iso-8859-1", cte="quoted-printable")) == [
        [1, 3],
        [-1, 1],
        [0, 2],
    ]


def test_attachments_are_named_as_not_read() -> None:
    mail = _mail(TEXT)
    mail.add_attachment(b"1,2", maintype="text", subtype="csv", filename="a.csv")
    answer = read_answer_bytes(mail.as_bytes(), "answer.eml", expected("self"))
    assert _queries(mail) == [[1, 3], [-1, 1], [0, 2]]
    assert 'the attachment "a.csv" is not read' in answer.remarks


def test_the_page_of_a_mail_without_text_is_read() -> None:
    page = "<html><body><p>q1 = (1 ; 3)</p><p>q2 = (-1 ; 1)</p><p>q3 = (0 ; 2)</p></body></html>"
    assert _queries(_mail(page, subtype="html", cte="base64")) == [[1, 3], [-1, 1], [0, 2]]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (
            b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b--\n",
            "answer.eml: a mail without text: save what is attached, and mark that",
        ),
        (
            b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"multipart/\n" * 21,
            "answer.eml: a mail with more than 20 parts in parts",
        ),
        (
            b"From: a\nContent-Type: text/plain; charset=klingon\n"
            b"Content-Transfer-Encoding: base64\n\nMQ==\n",
            "answer.eml: the body of this mail cannot be decoded: unknown encoding: klingon",
        ),
    ],
)
def test_a_mail_that_cannot_be_read_says_why(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match="^" + says.replace(".", r"\.")):
        _queries(data)
