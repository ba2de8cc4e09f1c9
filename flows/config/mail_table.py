"""The table [mail] of the settings as a model: what each of its names may hold."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from flows.config import mail_settings
from flows.config.types import Number, Switch, Text, WebAddress, Whole
from reports.weekly import pages
from warehouse.errors import SettingsError


class MailTable(BaseModel):
    """What the table may hold; what a mail needs beside, `mail_settings.read` asks for where one is sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sender: str | None = Field(default=None, alias="from", description="sender", examples=["prices@example.com"])
    to: tuple[str, ...] = Field(default=(), description="who gets the weekly mail; each has a message of its own")
    reply_to: str | None = Field(default=None, description="where answers go", examples=["you@example.com"])
    through: Literal["smtp", "ses"] = Field(default="smtp", description="smtp, or ses (Amazon SES, by boto3)")
    host: Text = Field(default="", description="the server that takes mail")
    tls: Literal["starttls", "implicit", "none"] = Field(default="starttls", description="starttls, implicit or none")
    port: Whole | None = Field(
        default=None, ge=1, le=65535, description="by default 587, with implicit 465, with none 25", examples=[587]
    )
    user: Text = Field(default="", description=f"its password stands in {mail_settings.PASSWORD}")
    region: Text = Field(default="", description="AWS region of SES; by default as boto3 finds it")
    site_url: WebAddress = Field(default="", description="where the reports folder can be read, for links")
    chips: tuple[Text, ...] = Field(
        default=pages.CHIPS, min_length=1, description="your chips, of which the mail has moves and prices, in order"
    )
    least_change_percent: Number = Field(
        default=1.0, ge=0, le=100, description="moves smaller than this are counted, not shown"
    )
    send_quiet: Switch = Field(default=True, description="whether a week in which nothing happened is mailed")
    timeout_seconds: Number = Field(default=30.0, ge=1, le=600, description="for each step of a sending")

    @field_validator("sender", "reply_to")
    @classmethod
    def _plain(cls, value: str | None) -> str | None:
        return None if value is None else _address(value)

    @field_validator("to")
    @classmethod
    def _all_plain(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what is no plain address; one that is given twice counts once."""
        return tuple({each.lower(): _address(each) for each in value}.values())

    @model_validator(mode="after")
    def _protected(self) -> Self:
        if self.through == "smtp" and self.user and self.tls == "none" and self.host not in mail_settings.LOOPBACK:
            raise ValueError("tls = starttls or implicit, as a password would travel unprotected")
        return self


def _address(value: str) -> str:
    try:
        return mail_settings.address("to", value)
    except SettingsError as error:
        raise ValueError(f"a plain address, such as prices@example.com, not {value!r}") from error
