"""Which certificate authorities are trusted: the system's, and a company's from one file, by every client.

A company that inspects TLS signs all traffic with an authority of its own. Its file is named once, as `ca_bundle` in
[network] or in one of `VARIABLES`. httpx and smtplib use `tls_context`; `share` sets the variables from which requests
(alerts), botocore (Amazon SES), git and Prefect's client read it.
"""

import atexit
import functools
import os
import shutil
import ssl
import tempfile
from pathlib import Path

from warehouse.errors import SettingsError

VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO")
SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/ca-bundle.pem",
)
"""Where Debian, Alpine and macOS, Fedora, older Fedora, and SUSE keep the authorities of the system."""
HINT = "Expected is a file of certificates in PEM form, each from BEGIN CERTIFICATE to END CERTIFICATE"


def share(ca_bundle: str = "") -> None:
    """Set the variables of all clients of this process and its children.

    `ca_bundle` is trusted in addition to the system's authorities and to files that the environment names. Without it
    the first of these counts for all; else requests and botocore get the system's file in place of lists of their own.
    Raises SettingsError for a file that cannot be read.
    """
    if ca_bundle:
        os.environ |= dict.fromkeys(VARIABLES, _joined(ca_bundle))
        return
    named = _named()[:1]
    for name in VARIABLES if named else ("REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
        for file in named or _system():
            os.environ.setdefault(name, file)


def tls_context() -> ssl.SSLContext:
    """Return the context of a client: the system's authorities, and those in the files that the environment names.

    Raises SettingsError for a file that cannot be read.
    """
    return _context(_named())


def _named() -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for name in VARIABLES if (path := os.environ.get(name))))


def _system() -> tuple[str, ...]:
    return tuple(file for file in SYSTEM_FILES if Path(file).is_file())[:1]


@functools.cache
def _context(files: tuple[str, ...]) -> ssl.SSLContext:
    import certifi
    import truststore

    context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for file in files or (() if _system() else (certifi.where(),)):
        _load(context, file)
    return context


@functools.cache
def _joined(ca_bundle: str) -> str:
    """Return a file, removed at the end of this process, with the authorities trusted so far and those of a bundle."""
    import certifi

    _load(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ca_bundle)
    folder = tempfile.mkdtemp(prefix="chipledger-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder, "authorities.pem")
    named = (path for path in _named() if Path(path).is_file())
    parts = (*(_system() or (certifi.where(),)), *named, ca_bundle)
    file.write_bytes(b"\n".join(Path(part).read_bytes() for part in parts))
    return str(file)


def _load(context: ssl.SSLContext, file: str) -> None:
    try:
        if Path(file).is_dir():
            context.load_verify_locations(capath=file)
        else:
            context.load_verify_locations(cafile=file)
    except OSError as error:  # of the file, or of what is in it
        message = f"certificates cannot be read: {error.strerror or error}"
        raise SettingsError(message, field="ca_bundle", value=file, hint=HINT) from error
