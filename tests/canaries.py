"""Secrets that are none, and a search for them in whatever a run leaves, however they are written."""

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

PASSWORD = "canary-Pa55/word+1"
TOKEN = "canaryTokenOfHeartbeat77"
ENVIRONMENT = {
    "CHIPLEDGER_MAIL_PASSWORD": PASSWORD,
    "CHIPLEDGER_HEARTBEAT_URL": f"http://127.0.0.1:9/ping/{TOKEN}",
    "CHIPLEDGER_ALERT_URLS": "json://canaryUser:canaryAlertPw@127.0.0.1:9/canaryAlertPath99",
    "AWS_SECRET_ACCESS_KEY": "canaryAwsSecretAccessKey0123456789abcdef",
    "AWS_SESSION_TOKEN": "canaryAwsSessionToken/0123+456",
    "DIGITALOCEAN_TOKEN": "canaryDigitalOceanToken",
    "JL_API_KEY": "canaryJarvisKey0123",
    "SHADEFORM_API_KEY": "canaryShadeformKey0123",
    "VAST_API_KEY": "canaryVastKey0123",
    "PREFECT_API_KEY": "canaryPrefectKey0123",
    "PGPASSWORD": "canaryCatalogue0123",
    "PREFECT_SERVER_DATABASE_CONNECTION_URL": "postgresql+asyncpg://prefect:canaryDbPassword@127.0.0.1:9/prefect",
}
SECRETS = (
    PASSWORD, TOKEN, "canaryAlertPw", "canaryAlertPath99", "canaryAwsSecretAccessKey0123456789abcdef",
    "canaryAwsSessionToken/0123+456", "canaryDigitalOceanToken", "canaryJarvisKey0123", "canaryShadeformKey0123",
    "canaryVastKey0123", "canaryPrefectKey0123", "canaryDbPassword", "canaryCatalogue0123",
)  # fmt: skip


def forms(secret: str) -> set[bytes]:
    """Return how a secret may be written: as it is, as in an address, and in Base64 at each of its three offsets."""
    found = {secret, quote(secret, safe=""), quote(secret), quote_plus(secret)}
    written = {form.encode() for form in found}
    for before in ("", "x", "xx"):
        code = base64.b64encode((before + secret).encode())
        # What depends on the neighbours alone is left off at both ends.
        written |= {code[4:-4], code[4:-4].replace(b"+", b"-").replace(b"/", b"_")}
    return written


def found_in(texts: Iterable[bytes], secrets: Iterable[str] = SECRETS) -> list[tuple[str, bytes]]:
    """Return which secrets stand in texts, each with the words around it."""
    hits = []
    for text in texts:
        for secret in secrets:
            for form in forms(secret):
                at = text.find(form)
                if at >= 0:
                    hits.append((secret, text[max(0, at - 40) : at + 60]))
    return hits


def written_below(folder: Path) -> Iterator[bytes]:
    """Yield the name and the bytes of each file below a folder, unpacked where it is packed."""
    import gzip

    for file in sorted(folder.rglob("*")):
        yield str(file).encode()
        if file.is_file():
            body = file.read_bytes()
            yield gzip.decompress(body) if file.suffix == ".gz" else body
