"""The table [mail]: what it may hold, what it is where nothing is said, and what is wrong by name."""

import pytest

from flows.config import settings
from flows.config.settings import PASSWORD, MailSettings
from warehouse.errors import SettingsError

A, B = "a@example.com", "b@example.com"

GOOD = {"from": "prices@example.com", "to": [A, B], "reply_to": "me@example.com", "host": "smtp.example.com"}


def sent_with(table: dict[str, object], password: str | None = None) -> MailSettings:
    """Return what messages are sent with, as a run reads it."""
    layers = settings.Layers(path=None, file={"mail": table}, variables={}, command_line={})
    return layers.model().replace(mail_password=password).mail_to_send()


def test_settings_have_defaults() -> None:
    read = sent_with(GOOD)

    assert (read.port, read.tls, read.transport, read.send_quiet) == (587, "starttls", "smtp", True)
    assert sent_with(GOOD | {"tls": "implicit"}).port == 465
    assert sent_with(GOOD | {"to": [A, "A@example.com"]}).to == ("A@example.com",)
    with_password = sent_with(GOOD | {"user": "me"}, "secret")
    assert with_password.password.get_secret_value() == "secret"
    assert "secret" not in f"{with_password!r} {with_password.model_dump()}"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"to": []}, "mail.to"),
        ({"to": A}, "mail.to"),
        ({"to": ["a@example.com\nBcc: b@example.com"]}, "mail.to"),
        ({"to": ["a@example.com, b@example.com"]}, "mail.to"),
        ({"to": ["A person <a@example.com>"]}, "mail.to"),
        ({"to": ["\N{LATIN SMALL LETTER A WITH DIAERESIS}@example.com"]}, "mail.to"),
        ({"from": "prices"}, "mail.from"),
        ({"from": None}, "mail.from"),
        ({"reply_to": ""}, "mail.reply_to"),
        ({"reply_to": None}, "mail.reply_to"),
        ({"host": ""}, "mail.host"),
        ({"tls": "maybe"}, "mail.tls"),
        ({"transport": "pigeon"}, "mail.transport"),
        ({"port": 0}, "mail.port"),
        ({"port": True}, "mail.port"),
        ({"user": "me"}, PASSWORD),
        ({"password": "secret"}, "mail.password"),
        ({"site_url": "javascript:alert(1)"}, "mail.site_url"),
        ({"min_change_percent": -1}, "mail.min_change_percent"),
        ({"send_quiet": "no"}, "mail.send_quiet"),
        ({"subject": "x"}, "mail.subject"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, object], named: str) -> None:
    with pytest.raises(SettingsError, match=named) as error:
        sent_with(GOOD | wrong)

    assert "secret" not in str(error.value)


def test_a_password_never_travels_unprotected() -> None:
    plain = GOOD | {"user": "me", "tls": "none"}
    with pytest.raises(SettingsError, match="unprotected"):
        sent_with(plain, "secret")

    assert sent_with(plain | {"host": "localhost"}, "secret").tls == "none"
