"""The table [mail]: what it may hold, what it is where nothing is said, and what is wrong by name."""

import pytest

from flows.config import mail_settings
from warehouse.errors import SettingsError

A, B = "a@example.com", "b@example.com"

GOOD = {"from": "prices@example.com", "to": [A, B], "reply_to": "me@example.com", "host": "smtp.example.com"}


def test_settings_have_defaults() -> None:
    read = mail_settings.read(GOOD, {})

    assert (read.port, read.tls, read.through, read.send_quiet) == (587, "starttls", "smtp", True)
    assert mail_settings.read(GOOD | {"tls": "implicit"}, {}).port == 465
    assert mail_settings.read(GOOD | {"to": [A, "A@example.com"]}, {}).to == ("A@example.com",)
    assert mail_settings.read(GOOD | {"user": "me"}, {mail_settings.PASSWORD: "secret"}).password == "secret"


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
        ({"through": "pigeon"}, "mail.through"),
        ({"port": 0}, "mail.port"),
        ({"port": True}, "mail.port"),
        ({"user": "me"}, mail_settings.PASSWORD),
        ({"password": "secret"}, "mail.password"),
        ({"site_url": "javascript:alert(1)"}, "mail.site_url"),
        ({"least_change_percent": -1}, "mail.least_change_percent"),
        ({"send_quiet": "no"}, "mail.send_quiet"),
        ({"subject": "x"}, "mail.subject"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, object], named: str) -> None:
    with pytest.raises(SettingsError, match=named) as error:
        mail_settings.read(GOOD | wrong, {})

    assert "secret" not in str(error.value)


def test_a_password_never_travels_unprotected() -> None:
    plain = GOOD | {"user": "me", "tls": "none"}
    with pytest.raises(SettingsError, match="unprotected"):
        mail_settings.read(plain, {mail_settings.PASSWORD: "secret"})

    assert mail_settings.read(plain | {"host": "localhost"}, {mail_settings.PASSWORD: "secret"}).tls == "none"
