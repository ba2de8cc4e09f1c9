"""Secrets redacted in errors, logs and records, however they are written.

A message should have no secret to begin with; but servers repeat what they were sent, in their refusals too. So each
text that may hold words of others passes here: a secret is found as it is, as addresses write it (%2F), and in Base64.
"""

import base64
import binascii
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from warehouse.errors import HIDDEN, without_words

VALUES = re.compile(r"PGPASSWORD|\w+_(PASSWORD|TOKEN|API_KEY|SECRET_ACCESS_KEY|AUTH_STRING)", re.ASCII)
"""Variables that are secrets, by their names: the keys of all providers are."""
ADDRESSES = re.compile(
    r"CHIPLEDGER_HEARTBEAT_URL|"
    r"CHIPLEDGER_ALERT_URLS|PREFECT_API_URL|PREFECT_(API|SERVER)_DATABASE_CONNECTION_URL|"
    r"(HTTPS?|ALL)_PROXY|(https?|all)_proxy"
)
"""Variables with addresses that may hold one: as password, in the query, or as a part of the path."""
MIN_LENGTH = 6
"""Shorter values are words, and would be found in texts that have nothing to do with them."""
MIN_PART = 12
"""Of a part of a path: shorter ones are words such as api or services."""
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")


def hide(text: str, *, secrets: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> str:
    """Return a text without the secrets of the environment, and those given: values, or addresses that hold some."""
    environ = os.environ if environ is None else environ
    plain = {value for value in map(str, secrets) if "://" not in value}
    addresses = [value for value in map(str, secrets) if "://" in value]
    plain |= {value for name, value in environ.items() if VALUES.fullmatch(name)}
    addresses += [each for name, value in environ.items() if ADDRESSES.fullmatch(name) for each in value.split()]
    words = {word for word in plain if len(word) >= MIN_LENGTH}
    words |= {word for address in addresses for word in _parts(address)}
    if not words:
        return text
    written = {form for word in words for form in (word, quote(word, safe=""), quote(word), quote_plus(word))}
    encoded = [word.encode() for word in words]
    shown = BASE64.sub(lambda part: HIDDEN if _holds(part[0], encoded) else part[0], text)
    return without_words(shown, written)


def _parts(address: str) -> Iterator[str]:
    """Yield the parts of an address by which somebody else could use it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        yield address
        return
    user, _, host = parts.netloc.rpartition("@")
    found = [user.partition(":")[2] or user, *(each.partition("=")[2] for each in parts.query.split("&"))]
    if not parts.scheme.startswith(("http", "json", "postgresql", "sqlite")):
        found.append(host.partition(":")[0] if parts.path.strip("/") else "")  # of a chat service: its first token
    found = [each for each in found if len(each) >= MIN_LENGTH and each not in ("127.0.0.1", "localhost")]
    found += [each for each in parts.path.split("/") if len(each) >= MIN_PART]
    yield from (form for each in found for form in (each, unquote(each), unquote_plus(each)))


def _holds(text: str, words: Iterable[bytes]) -> bool:
    """Return whether a text that looks like Base64 is that of something with one of the words in it."""
    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = base64.b64decode(body + "=" * (-len(body) % 4))
    except binascii.Error:
        return False
    return any(word in decoded for word in words)
