"""The table [network] of the settings: what a company's network asks of every client."""

from pydantic import BaseModel, ConfigDict, Field

from flows.config.types import Text


class NetworkSettings(BaseModel):
    """How other machines are reached; proxies are named by the environment alone, as they may hold a password.

    `ca_bundle`: file with the certificates of a company that inspects TLS, trusted in addition to the system's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ca_bundle: Text = Field(
        default="", description="PEM file of a company's certificates, trusted in addition to the system's"
    )
